//go:build !unix

package sqlite

import (
	"errors"
	"fmt"
	"os"
)

// lockExclusively takes the lock of a data directory: the lock file, which exists as long as its process lives. Where
// the system has no flock, a process that was killed leaves it behind, and an operator has to remove it.
func lockExclusively(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, os.ErrExist):
		return nil, fmt.Errorf("store/sqlite: %w: %s exists; remove it only if no ledgerd runs on this directory", ErrInUse, path)
	case err != nil:
		return nil, fmt.Errorf("store/sqlite: making the lock file: %w", err)
	}
	return f, nil
}

// signed says whether a ledgerd that had a database here has left that in the lock file: it goes with its process.
func signed(*os.File) (bool, error) { return false, nil }

// sign has nothing to write: the file goes with its process.
func sign(*os.File, []byte) error { return nil }

// writeNote has nothing to write.
func writeNote(*os.File, []byte) error { return nil }

// unlock gives the data directory free, unless another file has come into the lock file's place.
func unlock(f *os.File) error {
	opened, err := f.Stat()
	named, gone := os.Stat(f.Name())
	err = errors.Join(err, f.Close())
	if err != nil || gone != nil || !os.SameFile(opened, named) {
		return err
	}
	return os.Remove(f.Name())
}
