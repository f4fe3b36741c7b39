package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

const (
	setOpenFileLock = 37      // F_OFD_SETLK, see fcntl(2): the lock is the open file's, not the process's
	holdAt          = 1 << 62 // a byte that no database has: far from those that SQLite locks
)

// holdDatabase takes a lock that goes with the database file itself, wherever it is moved and whatever becomes of the
// lock file. A file system that has no such locks is no reason not to start: the lock file and the owner in the
// database remain.
//
// The file must stay open until SQLite has closed it: closing any descriptor of a file drops SQLite's own locks on it.
func holdDatabase(f *os.File) error {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: holdAt, Len: 1}
	switch err := syscall.FcntlFlock(f.Fd(), setOpenFileLock, &lock); {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%w: another ledgerd has this very database open, though not this directory's %s: was that removed?", ErrInUse, lockFile)
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOLCK):
		return nil
	default:
		return err
	}
}
