package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"idem/ledgerd/store"
)

// placeEvery is how often a store that nobody writes to looks whether its files are still in their place.
const placeEvery = time.Second

// place knows whether the files that this store has open are still those that its paths lead to. A file that was moved,
// replaced or removed stays open and goes on taking writes, while whoever starts next by the path finds another one, or
// none, and knows nothing of them. So nothing is acknowledged before all paths have been looked at after the commit,
// and once one leads elsewhere the store refuses everything for good: a ledger that forgets executes twice.
type place struct {
	files []placed
	lost  atomic.Pointer[error] // why the store refuses everything
}

type placed struct {
	path string
	file identity
}

// newPlace notes the files at these paths, which the caller knows to be open.
func newPlace(paths ...string) (*place, error) {
	p := &place{}
	for _, path := range paths {
		file, err := identify(path)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, placed{path, file})
	}
	return p, nil
}

// check looks at every path: a few microseconds, which a commit's sync dwarfs.
func (p *place) check() error {
	if err := p.gone(); err != nil {
		return err
	}
	for i := range p.files {
		f := &p.files[i]
		file, err := identify(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return p.lose("%s is no longer there: it was moved or removed while this ledgerd had it open", f.path)
		case err != nil:
			return unavailable("looking for its files", err)
		case !file.same(f.file):
			return p.lose("%s is another file than the one that this ledgerd has open: it was replaced", f.path)
		}
	}
	return nil
}

// lose ends the store's service, with a sentence that says what happened.
func (p *place) lose(what string, args ...any) error {
	err := fmt.Errorf("%w: sqlite: "+what+". Nothing is answered any more; stop this ledgerd, see which database is the "+
		"right one, and start again", append([]any{store.ErrUnfit}, args...)...)
	p.lost.CompareAndSwap(nil, &err)
	return p.gone()
}

// gone says why nothing is answered any more, if so.
func (p *place) gone() error {
	if err := p.lost.Load(); err != nil {
		return *err
	}
	return nil
}

// settle notes where the store's files are, now that SQLite has opened all of them, and looks after them from now on.
func (s *Store) settle() (err error) {
	lock := filepath.Join(filepath.Dir(s.path), lockFile)
	if s.place, err = newPlace(s.path, s.path+"-wal", s.path+"-shm", lock); err != nil {
		return err
	}
	for _, open := range []*os.File{s.database, s.lock} {
		if there, err := sameFile(open, open.Name()); err != nil || !there {
			return errors.Join(fmt.Errorf("%w: %s was replaced while it was being opened", ErrInUse, open.Name()), err)
		}
	}
	return nil
}

// keepWatch looks after the files while nobody writes.
func (s *Store) keepWatch() {
	tick := time.NewTicker(placeEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-tick.C:
			_ = s.place.check() // what it finds is told to everyone who asks for something
		}
	}
}

// sameFile says whether a path leads to an open file.
func sameFile(f *os.File, path string) (bool, error) {
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(opened, named), err
}
