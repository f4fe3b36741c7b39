package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"idem/ledgerd/store"
)

// What Open refuses.
var (
	// ErrInUse says that another process has the data directory.
	ErrInUse = errors.New("the data directory is in use")
	// ErrDamaged says that the database is damaged or is no database at all.
	ErrDamaged = errors.New("the database is damaged")
	// ErrGone says that the directory had a database, and has none.
	ErrGone = errors.New("the database is gone")
	// ErrForeign says that the database is another program's, or a newer ledgerd's.
	ErrForeign = errors.New("the database was not written by this ledgerd or an older one")
)

// unavailable wraps an error of SQLite for the callers of the store. What an operator can act on is said in words.
func unavailable(doing string, err error) error {
	kind, hint := store.ErrUnavailable, ""
	switch code(err) {
	case lib.SQLITE_FULL:
		kind, hint = store.ErrUnfit, " (the disk is full)"
	case lib.SQLITE_IOERR:
		hint = " (the disk fails)"
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		kind, hint = store.ErrUnfit, " (the database is damaged: stop ledgerd and see the README of the sqlite store)"
	case lib.SQLITE_READONLY:
		kind, hint = store.ErrUnfit, " (the database cannot be written)"
	case lib.SQLITE_BUSY:
		hint = " (another program holds the database's write lock)"
	}
	return fmt.Errorf("%w: sqlite: %s: %w%s", kind, doing, err, hint)
}

func closed() error {
	return fmt.Errorf("%w: sqlite: the store is closed", store.ErrUnavailable)
}

// asDamaged adds ErrDamaged to an error by which SQLite says that it cannot make sense of the file.
func asDamaged(err error) error {
	if c := code(err); (c == lib.SQLITE_CORRUPT || c == lib.SQLITE_NOTADB) && !errors.Is(err, ErrDamaged) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// code gives the primary result code of an error of SQLite; 0 where it is none.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
