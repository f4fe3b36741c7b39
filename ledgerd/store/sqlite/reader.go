package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"idem/ledgerd/store"
)

// reader is a connection that only reads, with its statements. Each sees the last commit; none waits for the writer,
// nor the writer for it.
type reader struct {
	conn *conn

	load, result, lookup, newest, setting *statement
	due, dueAfter, scan, scanAfter        *statement
}

func (s *Store) newReader(ctx context.Context) (*reader, error) {
	c, err := connect(ctx, s.path,
		busyTimeout,
		"trusted_schema = OFF",
		"query_only = ON",
		fmt.Sprintf("cache_size = -%d", s.options.PageBytes>>13),
	)
	if err != nil {
		return nil, err
	}
	r := &reader{conn: c}
	for _, p := range []struct {
		into **statement
		sql  string
	}{
		{&r.load, "SELECT version, data FROM records WHERE key = ?"},
		{&r.result, "SELECT data FROM results WHERE attempt = ?"},
		{&r.lookup, "SELECT key, at FROM entries WHERE kind = ? AND id = ?"},
		{&r.newest, "SELECT key, version, data FROM records ORDER BY id DESC LIMIT ?"},
		{&r.setting, "SELECT value FROM settings WHERE name = ?"},
		{&r.due, "SELECT due, key, '' FROM records WHERE due <= ? ORDER BY due, key LIMIT ?"},
		{&r.dueAfter, "SELECT due, key, '' FROM records WHERE due <= ? AND (due, key) > (?, ?) ORDER BY due, key LIMIT ?"},
		{&r.scan, "SELECT at, key, id FROM entries WHERE kind = ? AND at <= ? ORDER BY at, key, id LIMIT ?"},
		{&r.scanAfter, "SELECT at, key, id FROM entries WHERE kind = ? AND at <= ? AND (at, key, id) > (?, ?, ?) ORDER BY at, key, id LIMIT ?"},
	} {
		if *p.into, err = c.prepare(p.sql); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return r, nil
}

// ready says why nothing can be done, if so.
func (s *Store) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store/sqlite: %w", err)
	}
	select {
	case <-s.closing:
		return closed()
	default:
		return s.place.gone()
	}
}

// read lends a reader to f. Errors of SQLite come back as ErrUnavailable.
func (s *Store) read(ctx context.Context, doing string, f func(*reader) error) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	var r *reader
	select {
	case r = <-s.readers:
	case <-ctx.Done():
		return fmt.Errorf("store/sqlite: %s: %w", doing, ctx.Err())
	case <-s.closing:
		return closed()
	}
	defer func() { s.readers <- r }()
	err := f(r)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return unavailable(doing, err)
	}
	return err
}

// Load implements store.Store.
func (s *Store) Load(ctx context.Context, key string) (store.Record, error) {
	if err := s.ready(ctx); err != nil {
		return store.Record{}, err
	}
	if st, ok := s.recent.get(key); ok {
		return store.Record{Key: key, Version: st.version, Data: st.data}, nil
	}
	rec := store.Record{Key: key}
	err := s.read(ctx, "reading a record", func(r *reader) error {
		return r.load.first(func(r *row) {
			rec.Version, rec.Data = uint64(r.number(0)), r.blob(1)
		}, pack(key))
	})
	if err != nil {
		return store.Record{}, err
	}
	return rec, nil
}

// Result implements store.Store.
func (s *Store) Result(ctx context.Context, attempt string) ([]byte, error) {
	var data []byte
	err := s.read(ctx, "reading a result", func(r *reader) error {
		return r.result.first(func(r *row) { data = r.blob(0) }, pack(attempt))
	})
	return data, err
}

// Lookup implements store.Store.
func (s *Store) Lookup(ctx context.Context, index store.Index, id string) (store.Entry, error) {
	e := store.Entry{Index: index, ID: id}
	err := s.read(ctx, "looking up an entry", func(r *reader) error {
		return r.lookup.first(func(r *row) {
			e.Key, e.At = r.identifier(0), moment(r.number(1))
		}, string(index), id)
	})
	if err != nil {
		return store.Entry{}, err
	}
	return e, nil
}

// Scan implements store.Store.
func (s *Store) Scan(ctx context.Context, index store.Index, until time.Time, after *store.Entry, limit int) ([]store.Entry, error) {
	var list []store.Entry
	take := func(r *row) {
		list = append(list, store.Entry{Index: index, ID: r.text(2), Key: r.identifier(1), At: moment(r.number(0))})
	}
	end, n := scanEnd(until), int64(max(limit, 0))
	err := s.read(ctx, "scanning an index", func(r *reader) error {
		switch {
		case index == store.Due && after == nil:
			return r.due.query(take, end, n)
		case index == store.Due:
			return r.dueAfter.query(take, end, micro(after.At), pack(after.Key), n)
		case after == nil:
			return r.scan.query(take, string(index), end, n)
		default:
			return r.scanAfter.query(take, string(index), end, micro(after.At), pack(after.Key), after.ID, n)
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// scanEnd is until as the database keeps it. Moments beyond what Unix microseconds can say are the last one.
func scanEnd(until time.Time) int64 {
	if until.After(time.UnixMicro(math.MaxInt64)) {
		return math.MaxInt64
	}
	return micro(until)
}

// Newest implements store.Store.
func (s *Store) Newest(ctx context.Context, limit int) ([]store.Record, error) {
	var list []store.Record
	err := s.read(ctx, "reading the newest records", func(r *reader) error {
		return r.newest.query(func(r *row) {
			list = append(list, store.Record{Key: r.identifier(0), Version: uint64(r.number(1)), Data: r.blob(2)})
		}, int64(max(limit, 0)))
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Now implements store.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := s.ready(ctx); err != nil {
		return time.Time{}, err
	}
	return s.clock.Now(), nil
}

// Setting implements store.Store.
func (s *Store) Setting(ctx context.Context, name string) (string, error) {
	var value string
	err := s.read(ctx, "reading a setting", func(r *reader) error {
		return r.setting.first(func(r *row) { value = r.text(0) }, name)
	})
	return value, err
}
