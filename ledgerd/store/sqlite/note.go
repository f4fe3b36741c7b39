package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// A log that is not there looks to SQLite like one that had nothing. After a clean end that is so; after a kill the
// newest commits are in the log and nowhere else, and whoever starts without it executes their calls again. So the lock
// file says besides who has the directory: whether the store was closed, and the last version that was committed. It is
// written after each commit and before its answers. That is not synced: a kill of the process leaves it whole, and
// after a power cut it says too little, never too much.
type note struct {
	state   string // running, closing, closed; empty: an earlier ledgerd wrote the file, or none did
	version uint64 // the last that was committed, at least
	boot    string // of the machine, while it ran; empty: unknown
}

const (
	running   = "running" // the log has a commit at least: that of whoever opened the store
	closing   = "closing" // the version is synced; the log is being copied into the database
	wasClosed = "closed"  // the database has everything
)

// text is the note as the lock file has it: of one length for one process.
func (n note) text() []byte {
	return fmt.Appendf(nil, "%d %-7s %020d %s\n", os.Getpid(), n.state, n.version, n.boot)
}

// readNote gives what the lock file says.
func readNote(f *os.File) (n note, err error) {
	text := make([]byte, 256)
	size, err := f.ReadAt(text, 0)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return n, err
	case size == 0:
		return n, nil
	}
	fields := strings.Fields(string(text[:size]))
	if len(fields) < 3 {
		return n, nil
	}
	n.state = fields[1]
	if n.version, err = strconv.ParseUint(fields[2], 10, 64); err != nil {
		return n, fmt.Errorf("%s says %q where the last version should stand: %w", f.Name(), fields[2], err)
	}
	if len(fields) > 3 {
		n.boot = fields[3]
	}
	return n, nil
}

// bootID names the time since the machine was started; empty where it does not say.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// lacks refuses a database with its log that has not all that the ledgerd before had committed: its last version, and how
// long the log is.
func (n note) lacks(version uint64, log int64) error {
	const way = "Bring back the log (%s-wal) and the database that belong together. If they are lost, or if an older copy was put " +
		"here on purpose, remove %s: ledgerd then starts with what is there, and what was executed since executes again"
	switch {
	case n.state == "" || n.state == wasClosed:
		return nil
	case version < n.version:
		return fmt.Errorf("%w: the ledgerd before was killed, and had committed up to version %d, the database and its log have them up "+
			"to %d: was the log removed, emptied or cut? "+way, ErrGone, n.version, version, databaseFile, lockFile)
	case n.state == running && (n.boot == "" || n.boot != bootID()) && log <= logHeader:
		return fmt.Errorf("%w: the ledgerd before was not stopped, and its log, which then has the newest commits, is not there or "+
			"has nothing. "+way, ErrGone, databaseFile, lockFile)
	}
	return nil
}

// logHeader is how many bytes of a log tell of no commit (https://sqlite.org/fileformat2.html#walformat). SQLite never makes
// one that has more as short as that again before it is closed.
const logHeader = 32

// logSize is how long a database's log is; 0 where there is none.
func logSize(database string) (int64, error) {
	info, err := os.Stat(database + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// compare is note.lacks for files that nobody has open yet, and leaves them as they are: what belongs together can still be
// brought back. Where the version cannot be read, whoever opens the database says why.
func (n note) compare(ctx context.Context, database string, log int64) error {
	if n.state == "" || n.state == wasClosed {
		return nil
	}
	c, err := connectToRead(ctx, database)
	if err != nil {
		return nil
	}
	version, err := c.number("SELECT version FROM ledger")
	if err = errors.Join(err, c.close()); err != nil {
		return nil
	}
	return n.lacks(uint64(version), log)
}

// mark writes the note of a store into its lock file, durably.
func (s *Store) mark(state string) error {
	s.note.state = state
	return sign(s.lock, s.note.text())
}

// noted writes down that a version was committed.
func (s *Store) noted(version uint64) error {
	s.note.version = version
	return writeNote(s.lock, s.note.text())
}
