//go:build unix

package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// lockExclusively takes the lock of a data directory. The system drops it when the process ends, however it ends. The
// file is never removed: removing it would let two processes lock two files of one name.
func lockExclusively(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store/sqlite: opening the lock file: %w", err)
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		text, _ := os.ReadFile(path)
		owner, _, _ := strings.Cut(string(text), " ")
		return nil, errors.Join(fmt.Errorf("store/sqlite: %w: another ledgerd (process %s) holds %s", ErrInUse,
			cmp.Or(strings.TrimSpace(owner), "unknown, it is just starting"), path), f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("store/sqlite: locking %s: %w", path, err), f.Close())
	}
	if there, err := sameFile(f, path); err != nil || !there {
		// Between opening and locking it the file was removed, and somebody else may have locked the next one.
		return nil, errors.Join(fmt.Errorf("store/sqlite: %w: %s was replaced while it was being locked", ErrInUse, path), err, f.Close())
	}
	return f, nil
}

// signed says whether a ledgerd that had a database here has written who it is into the lock file.
func signed(f *os.File) (bool, error) {
	info, err := f.Stat()
	return err == nil && info.Size() > 0, err
}

// sign writes a note into the lock file: who has it, for the message to whoever else wants it, and for good that there is
// a database. It is never empty in between.
func sign(f *os.File, note []byte) error {
	_, err := f.WriteAt(note, 0)
	if err := errors.Join(err, f.Truncate(int64(len(note))), f.Sync()); err != nil {
		return fmt.Errorf("writing %s: %w", f.Name(), err)
	}
	return nil
}

// writeNote writes a note of the same length as the one before, without syncing it.
func writeNote(f *os.File, note []byte) error {
	_, err := f.WriteAt(note, 0)
	return err
}

// unlock gives the data directory free.
func unlock(f *os.File) error { return f.Close() }
