package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/group"
)

// The files in the data directory. SQLite adds ledger.db-wal and ledger.db-shm beside the database.
const (
	databaseFile = "ledger.db"
	lockFile     = "ledger.lock"
)

// Store is a store.Store in one SQLite database.
type Store struct {
	options  Options
	path     string
	lock     *os.File
	database *os.File // only held: SQLite reads and writes by descriptors of its own
	place    *place
	clock    *store.Clock
	watchers store.Watchers
	recent   *recent
	queue    *group.Queue[request, outcome]
	writer   *writer
	readers  chan *reader
	wrote    chan struct{} // closed when the writer has ended
	closing  chan struct{}
	made     bool // by Open: there was no database
	note     note // what the lock file says
	close    sync.Once
	closeErr error
}

// Open opens the store in the data directory dir, which it creates (0700) where it is missing, and brings its schema to
// the newest version. It gives ErrInUse, ErrGone, ErrDamaged or ErrForeign, wrapped with what an operator needs to
// know.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("store/sqlite: data directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("store/sqlite: creating the data directory: %w", err)
	}
	s := &Store{
		options: o, path: filepath.Join(dir, databaseFile),
		recent: newRecent(o.RecentBytes), queue: newQueue(o),
		readers: make(chan *reader, o.Readers), wrote: make(chan struct{}), closing: make(chan struct{}),
	}
	if s.lock, err = lockExclusively(filepath.Join(dir, lockFile)); err != nil {
		return nil, err
	}
	if err := s.refuseAnew(); err != nil {
		return nil, errors.Join(fmt.Errorf("store/sqlite: %w", err), unlock(s.lock))
	}
	if err := asDamaged(s.open(ctx)); err != nil {
		if errors.Is(err, ErrDamaged) {
			err = fmt.Errorf("%w; move it away or put back a backup, see the README of the sqlite store", err)
		}
		return nil, errors.Join(fmt.Errorf("store/sqlite: %s: %w", s.path, err), s.release())
	}
	go s.writer.run()
	go s.keepWatch()
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := s.create(); err != nil {
		return err
	}
	if err := holdDatabase(s.database); err != nil {
		return err
	}
	before, err := readNote(s.lock)
	if err != nil {
		return err
	}
	log, err := logSize(s.path)
	if err != nil {
		return err
	}
	if err := before.compare(ctx, s.path, log); err != nil {
		return err
	}
	c, err := connect(ctx, s.path,
		busyTimeout,
		"trusted_schema = OFF",
		"temp_store = MEMORY",
		fmt.Sprintf("cache_size = -%d", s.options.PageBytes>>10),
		fmt.Sprintf("journal_size_limit = %d", 2*s.options.LogPages*4096),
		"synchronous = FULL",
	)
	if err != nil {
		return err
	}
	s.writer = &writer{store: s, conn: c, transaction: transaction{staged: map[string]state{}}}
	mode, err := c.text("PRAGMA journal_mode = WAL")
	if err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("journal_mode is %q, want wal: the file system of the data directory cannot map shared memory (is it a network file system?)", mode)
	}
	if err := c.exec(fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", s.options.LogPages)); err != nil {
		return err
	}
	had, err := signed(s.lock)
	if err != nil {
		return err
	}
	if s.made, err = migrate(c, had); err != nil {
		return err
	}
	if info, err := os.Stat(s.path); err != nil {
		return err
	} else if info.Size() <= s.options.CheckBytes {
		if err := c.check("quick_check(1)"); err != nil {
			return err
		}
	}
	if err := s.writer.prepare(); err != nil {
		return err
	}
	if err := before.lacks(s.writer.version, log); err != nil {
		return err
	}
	s.clock = store.NewClock(s.options.Clock, time.UnixMicro(s.writer.now))
	for range s.options.Readers {
		r, err := s.newReader(ctx)
		if err != nil {
			return err
		}
		s.readers <- r
	}
	if err := s.settle(); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(s.path)); err != nil {
		return err
	}
	s.note = note{version: s.writer.version, boot: bootID()}
	return s.mark(running)
}

// create makes the database file, empty and for its owner only; SQLite gives its other files the same permissions.
func (s *Store) create() (err error) {
	s.database, err = os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	return err
}

// Made says whether Open made the database: there was none.
func (s *Store) Made() bool { return s.made }

// check runs one of SQLite's checks of the whole database.
func (c *conn) check(pragma string) error {
	verdict, err := c.text("PRAGMA " + pragma)
	if err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, strings.Join(strings.Fields(verdict), " "))
	}
	return nil
}

// Check reads the whole database and gives an error that wraps ErrDamaged where it contradicts itself. It takes as
// long as reading the file takes; the store goes on meanwhile.
func (s *Store) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := connect(ctx, s.path, "query_only = ON")
	if err != nil {
		return unavailable("opening a connection for the check", err)
	}
	return errors.Join(asDamaged(c.check("integrity_check(1)")), c.close())
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.close.Do(func() {
		s.queue.Close()
		<-s.wrote
		close(s.closing)
		for range s.options.Readers { // each is back once whoever reads has finished
			r := <-s.readers
			s.closeErr = errors.Join(s.closeErr, r.conn.close())
		}
		s.closeErr = errors.Join(s.closeErr, s.mark(closing))
		busy, err := s.writer.conn.number("PRAGMA wal_checkpoint(TRUNCATE)")
		if err == nil && busy == 0 && s.place.check() == nil { // else the newest commits are in the log still, or elsewhere
			err = s.mark(wasClosed)
		}
		s.closeErr = errors.Join(s.closeErr, err, s.release())
	})
	return s.closeErr
}

// release lets go of the writer's connection and the locks, as far as they were had.
func (s *Store) release() error {
	var errs []error
	for len(s.readers) > 0 {
		errs = append(errs, (<-s.readers).conn.close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.conn.close())
	}
	if s.database != nil {
		errs = append(errs, s.database.Close())
	}
	return errors.Join(append(errs, unlock(s.lock))...)
}

// syncDir makes the names of new files in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(ignoreUnsupported(d.Sync()), d.Close())
}

// ignoreUnsupported drops the error of systems on which a directory cannot be synced.
func ignoreUnsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrInvalid) {
		return nil
	}
	return err
}
