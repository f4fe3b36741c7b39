//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// lockExclusively takes the lock of a data directory. The system drops it when the process ends, however it ends. The
// file says who has the lock, for the message to whoever else wants it, and is never removed: removing it would let
// two processes lock two files of one name.
func lockExclusively(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store/sqlite: opening the lock file: %w", err)
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		owner, _ := os.ReadFile(path)
		return nil, errors.Join(fmt.Errorf("store/sqlite: %w: another ledgerd (process %s) holds %s", ErrInUse,
			strings.TrimSpace(string(owner)), path), f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("store/sqlite: locking %s: %w", path, err), f.Close())
	}
	if there, err := sameFile(f, path); err != nil || !there {
		// Between opening and locking it the file was removed, and somebody else may have locked the next one.
		return nil, errors.Join(fmt.Errorf("store/sqlite: %w: %s was replaced while it was being locked", ErrInUse, path), err, f.Close())
	}
	if err := errors.Join(f.Truncate(0), writeOwner(f)); err != nil {
		return nil, errors.Join(fmt.Errorf("store/sqlite: writing %s: %w", path, err), f.Close())
	}
	return f, nil
}

func writeOwner(f *os.File) error {
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

// unlock gives the data directory free.
func unlock(f *os.File) error { return f.Close() }
