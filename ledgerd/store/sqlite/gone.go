package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// leftovers gives the files that only a ledgerd which had a database here has left. A start that was broken off before
// there was one leaves an empty lock file, and no log.
func (s *Store) leftovers() (left []string, err error) {
	for _, path := range []string{s.path + "-wal", s.path + "-shm"} {
		if _, err := os.Stat(path); err == nil {
			left = append(left, filepath.Base(path))
		}
	}
	had, err := signed(s.lock)
	if had {
		left = append(left, lockFile)
	}
	return left, err
}

// refuseAnew refuses to make a new database beside what a former one has left: it would know nothing of what was
// executed. An empty file is none: SQLite would begin anew in it, and throw away the log beside it.
func (s *Store) refuseAnew() error {
	what := "not there"
	switch info, err := os.Stat(s.path); {
	case err == nil && info.Size() == 0:
		what = "empty"
	case !errors.Is(err, fs.ErrNotExist):
		return nil // whoever opens it says what else is wrong
	}
	left, err := s.leftovers()
	if err != nil || len(left) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s is %s, and %s beside it tell that there was one. Bring it back; or, to begin anew "+
		"with a ledger that knows nothing of what was executed, remove these too", ErrGone, s.path, what, strings.Join(left, ", "))
}
