package postgres

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"idem/ledgerd/store"
)

const (
	recordsSQL = "SELECT key, version, decided, data FROM records WHERE key = ANY ($1::bytea[])"
	resultsSQL = "SELECT attempt, data FROM results WHERE attempt = ANY ($1::bytea[])"
)

// mostFetched bounds how many rows one query asks for: a few large ones must not fill the memory.
const mostFetched = 64

// fetcher gives rows by an identifier. Those who ask at the same time share a query; who asks alone waits for nobody.
type fetcher[T any] struct {
	store *Store
	doing string
	sql   string
	scan  func(s *Store, rows pgx.Rows) (id []byte, row T, err error)

	mu      sync.Mutex
	filled  sync.Cond
	waiting []*fetch[T]
	closed  bool
}

// fetch is what one caller asks for.
type fetch[T any] struct {
	id   []byte
	done chan fetched[T] // has room for one
}

type fetched[T any] struct {
	row T
	err error
}

func newFetcher[T any](s *Store, doing, sql string, scan func(*Store, pgx.Rows) ([]byte, T, error)) *fetcher[T] {
	f := &fetcher[T]{store: s, doing: doing, sql: sql, scan: scan}
	f.filled.L = &f.mu
	return f
}

// get gives the row of an identifier, or store.ErrNotFound.
func (f *fetcher[T]) get(ctx context.Context, id string) (row T, err error) {
	if err := ctx.Err(); err != nil {
		return row, fmt.Errorf("store/postgres: %w", err)
	}
	q := &fetch[T]{id: pack(id), done: make(chan fetched[T], 1)}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return row, closed()
	}
	if len(f.waiting) >= f.store.options.QueueWrites {
		f.mu.Unlock()
		return row, fmt.Errorf("%w: as many reads wait for the server as may", store.ErrOverloaded)
	}
	f.waiting = append(f.waiting, q)
	f.filled.Signal()
	f.mu.Unlock()
	select {
	case a := <-q.done:
		return a.row, a.err
	case <-ctx.Done():
		return row, fmt.Errorf("store/postgres: %s: %w", f.doing, ctx.Err())
	}
}

// run answers whatever waits, again and again, until the fetcher is closed and nobody waits.
func (f *fetcher[T]) run() {
	for {
		f.mu.Lock()
		for len(f.waiting) == 0 && !f.closed {
			f.filled.Wait()
		}
		n := min(len(f.waiting), mostFetched)
		some := append([]*fetch[T](nil), f.waiting[:n]...)
		rest := copy(f.waiting, f.waiting[n:])
		clear(f.waiting[rest:])
		f.waiting = f.waiting[:rest]
		if rest > 0 {
			f.filled.Signal() // for another reader
		}
		f.mu.Unlock()
		if n == 0 {
			return
		}
		f.answer(some)
	}
}

func (f *fetcher[T]) answer(some []*fetch[T]) {
	ids := make([][]byte, len(some))
	for i, q := range some {
		ids[i] = q.id
	}
	rows, err := f.query(ids)
	for _, q := range some {
		a := fetched[T]{err: err}
		if err == nil {
			row, there := rows[string(q.id)]
			if a.row = row; !there {
				a.err = store.ErrNotFound
			}
		}
		q.done <- a
	}
}

func (f *fetcher[T]) query(ids [][]byte) (map[string]T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), f.store.options.Timeout)
	defer cancel()
	found := make(map[string]T, len(ids))
	err := f.store.with(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, f.sql, ids)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			id, row, err := f.scan(f.store, rows)
			if err != nil {
				return err
			}
			found[string(id)] = row
		}
		return rows.Err()
	})
	if err != nil {
		return nil, unavailable(f.doing, err)
	}
	return found, nil
}

func (f *fetcher[T]) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.filled.Broadcast()
}

func scanRecord(s *Store, rows pgx.Rows) (id []byte, r store.Record, err error) {
	var version, decided int64
	if err = rows.Scan(&id, &version, &decided, &r.Data); err != nil {
		return nil, r, err
	}
	if r.Key, err = unpack(id); err != nil {
		return nil, r, err
	}
	r.Version = uint64(version)
	if decided != 0 { // by whichever node: whoever reads it decides no earlier
		s.clock.Raise(moment(decided))
	}
	return id, r, nil
}

func scanResult(_ *Store, rows pgx.Rows) (id, data []byte, err error) {
	err = rows.Scan(&id, &data)
	return id, data, err
}

// Load implements store.Store.
func (s *Store) Load(ctx context.Context, key string) (store.Record, error) {
	return s.records.get(ctx, key)
}

// Result implements store.Store.
func (s *Store) Result(ctx context.Context, attempt string) ([]byte, error) {
	return s.results.get(ctx, attempt)
}
