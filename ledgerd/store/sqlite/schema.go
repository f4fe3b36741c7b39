package sqlite

import (
	"errors"
	"fmt"
)

// application is the database's application_id: "Idem" in ASCII.
const application = 0x4964656d

// steps are the schema's versions: step i takes a database of user_version i to i+1. A released step never changes.
var steps = []string{
	// records   id is the version that a record was created with: the table grows at its end, newest are last.
	//           due is the entry of the index due (Unix µs); named is how many entries it has in the table entries.
	// entries   the indexes holds and doubts. Few records have any, so that the usual write never touches this table.
	// results   by attempt; id is only there so that the table, too, grows at its end.
	// ledger    one row: the last version given, the greatest moment decided by (Unix µs).
	`
	CREATE TABLE records (
		id INTEGER PRIMARY KEY, key ANY NOT NULL UNIQUE, version INTEGER NOT NULL, due INTEGER, named INTEGER NOT NULL,
		data BLOB NOT NULL
	) STRICT;
	CREATE INDEX records_due ON records (due, key) WHERE due IS NOT NULL;
	CREATE TABLE entries (
		kind TEXT NOT NULL, id TEXT NOT NULL, key ANY NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (kind, id)
	) WITHOUT ROWID, STRICT;
	CREATE INDEX entries_at ON entries (kind, at, key, id);
	CREATE INDEX entries_key ON entries (key);
	CREATE TABLE results (id INTEGER PRIMARY KEY, attempt ANY NOT NULL UNIQUE, data BLOB NOT NULL) STRICT;
	CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;
	CREATE TABLE ledger (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, now INTEGER NOT NULL) STRICT;
	INSERT INTO ledger VALUES (1, 0, 0);
	`,
	// ledger.owner names the store that opened the database last. Only its commits count.
	`
	ALTER TABLE ledger ADD COLUMN owner TEXT NOT NULL DEFAULT '';
	`,
}

// migrate brings the database to the newest schema, or refuses one that is not ours to touch. It says whether it made it;
// one that has nothing in it although there was one (had) has lost its log, which had all of it.
func migrate(c *conn, had bool) (made bool, err error) {
	app, err := c.number("PRAGMA application_id")
	if err != nil {
		return false, err
	}
	version, err := c.number("PRAGMA user_version")
	if err != nil {
		return false, err
	}
	tables, err := c.number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return false, err
	}
	made = app == 0 && version == 0 && tables == 0
	switch {
	case made && had:
		return false, fmt.Errorf("%w: there is nothing in the database, and %s beside it tells that there was: was its log (%s-wal) "+
			"removed? Bring it back; or, to begin anew with a ledger that knows nothing of what was executed, remove all of these",
			ErrGone, lockFile, databaseFile)
	case !made && app != application:
		return false, fmt.Errorf("%w: its application_id is %d, want %d", ErrForeign, app, application)
	case version > int64(len(steps)):
		return false, fmt.Errorf("%w: its schema has version %d, this ledgerd knows up to %d: use the newer ledgerd", ErrForeign, version, len(steps))
	}
	for ; version < int64(len(steps)); version++ {
		err := c.exec(fmt.Sprintf("BEGIN IMMEDIATE; PRAGMA application_id = %d; %s; PRAGMA user_version = %d; COMMIT",
			application, steps[version], version+1))
		if err != nil {
			return false, errors.Join(fmt.Errorf("migrating the schema from version %d: %w", version, err), c.exec("ROLLBACK"))
		}
	}
	return made, nil
}
