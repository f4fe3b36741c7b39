package sqlite

import (
	"crypto/rand"
	"errors"
	"sync/atomic"

	"idem/ledgerd/store"
)

// writer is the one goroutine that writes. It takes whatever waits, puts it into one transaction, and answers
// everyone after the commit.
type writer struct {
	store   *Store
	conn    *conn
	version uint64 // the last one given, be it durable or not: none is given twice
	now     int64  // the greatest moment that is durable, Unix µs
	owner   string // this store's name in the database

	begin, commit, rollback                        *statement
	find, insert, update, touch, remove            *statement
	put, drop, name, unname, setSetting, setLedger *statement
	resetRecords, resetEntries, resetResults       *statement
	transaction

	commits, writes, conflicts, failures atomic.Uint64 // see Stats
}

// transaction is what one group has done so far.
type transaction struct {
	staged map[string]state // records that it changed; version 0: removed
	reset  bool             // everything from before it is gone: the memory of recent records does not count
	count  int              // writes that it does
	latest int64            // the greatest moment that its writes were decided by
}

// prepare makes the database this store's, reads where it stands, and prepares the statements. Whoever had it before
// and still runs (it can, where its lock was removed) commits nothing from here on.
func (w *writer) prepare() error {
	w.owner = rand.Text()
	if err := w.conn.exec("UPDATE ledger SET owner = '" + w.owner + "'"); err != nil {
		return err
	}
	err := w.conn.first("SELECT version, now FROM ledger", func(r *row) {
		w.version, w.now = uint64(r.number(0)), r.number(1)
	})
	if err != nil {
		return err
	}

	for _, p := range []struct {
		into **statement
		sql  string
	}{
		{&w.begin, "BEGIN IMMEDIATE"},
		{&w.commit, "COMMIT"},
		{&w.rollback, "ROLLBACK"},
		{&w.find, "SELECT id, version, due, named FROM records WHERE key = ?"},
		{&w.insert, "INSERT INTO records (id, key, version, due, named, data) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING"},
		{&w.update, "UPDATE records SET version = ?, named = ?, data = ?, due = ? WHERE id = ?"},
		{&w.touch, "UPDATE records SET version = ?, named = ?, data = ? WHERE id = ?"},
		{&w.remove, "DELETE FROM records WHERE id = ?"},
		{&w.put, "INSERT INTO results (attempt, data) VALUES (?, ?) ON CONFLICT (attempt) DO UPDATE SET data = excluded.data"},
		{&w.drop, "DELETE FROM results WHERE attempt = ?"},
		{&w.name, "INSERT OR REPLACE INTO entries (kind, id, key, at) VALUES (?, ?, ?, ?)"},
		{&w.unname, "DELETE FROM entries WHERE key = ?"},
		{&w.setSetting, "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)"},
		{&w.setLedger, "UPDATE ledger SET version = ?, now = ? WHERE owner = ?"},
		{&w.resetRecords, "DELETE FROM records"},
		{&w.resetEntries, "DELETE FROM entries"},
		{&w.resetResults, "DELETE FROM results"},
	} {
		if *p.into, err = w.conn.prepare(p.sql); err != nil {
			return err
		}
	}
	return nil
}

// run serves the queue until it is closed and empty: each group is one transaction, and is answered after the commit.
func (w *writer) run() {
	defer close(w.store.wrote)
	w.store.queue.Serve(func(group []*asked) {
		err := w.write(group)
		for _, r := range group {
			if err != nil {
				r.Answer = outcome{err: err}
			}
			r.Done()
		}
	})
}

// write does a group in one transaction. An error is the whole group's: whether it happened is not known, except to
// the next reader.
func (w *writer) write(group []*asked) (err error) {
	if err := w.store.place.gone(); err != nil {
		return err
	}
	clear(w.staged)
	w.transaction = transaction{staged: w.staged}
	if _, err := w.begin.exec(); err != nil {
		return unavailable("beginning a transaction", err)
	}
	finished := false // else it panicked, if not for an error
	defer func() {
		if err != nil || !finished {
			// Where SQLite has rolled back by itself there is nothing left to roll back: then this fails, rightly.
			_, _ = w.rollback.exec()
			w.failures.Add(1)
		}
	}()

	for _, r := range group {
		if r.Answer, err = w.apply(&r.Ask); err != nil {
			return unavailable("writing", err)
		}
	}
	if w.count == 0 {
		if _, err := w.rollback.exec(); err != nil {
			return unavailable("ending a transaction in which nothing was written", err)
		}
		finished = true
		return nil
	}
	latest := max(w.now, w.latest)
	switch n, err := w.setLedger.exec(int64(w.version), latest, w.owner); {
	case err != nil:
		return unavailable("writing", err)
	case n == 0:
		return w.store.place.lose("another process has opened %s and owns it now", w.store.path)
	}

	// From here until the commit nobody may find in memory what is about to change, nor what is not durable yet.
	if w.reset {
		w.store.recent.clear()
	} else {
		w.store.recent.forget(w.staged)
	}
	if _, err := w.commit.exec(); err != nil {
		return unavailable("committing", err)
	}
	w.now, finished = latest, true
	if err := w.store.noted(w.version); err != nil {
		return unavailable("noting what was committed", err)
	}
	// It is durable, but only what the paths lead to is there for whoever starts next.
	if err := w.store.place.check(); err != nil {
		return err
	}
	w.commits.Add(1)
	w.writes.Add(uint64(w.count))
	w.store.clock.Raise(moment(latest))
	w.store.recent.keep(w.staged)
	for _, r := range group {
		if r.Ask.kind == swap && r.Answer.err == nil {
			w.store.watchers.Tell(r.Ask.swap.Key)
		}
	}
	return nil
}

// apply does one request within the transaction. An error is the transaction's; the request's own is in its outcome.
func (w *writer) apply(r *request) (outcome, error) {
	switch r.kind {
	case swap:
		version, err := w.swap(&r.swap)
		if errors.Is(err, store.ErrConflict) {
			w.conflicts.Add(1)
			return outcome{err: err}, nil
		}
		return outcome{version: version}, err
	case setSetting:
		w.count++
		_, err := w.setSetting.exec(r.setting[0], r.setting[1])
		return outcome{}, err
	default:
		w.count, w.reset = w.count+1, true
		clear(w.staged)
		for _, st := range []*statement{w.resetEntries, w.resetResults, w.resetRecords} {
			if _, err := st.exec(); err != nil {
				return outcome{}, err
			}
		}
		return outcome{}, nil
	}
}
