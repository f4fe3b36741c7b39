package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"idem/ledgerd/store"
	"idem/ledgerd/store/group"
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
	queue *group.Queue[[]byte, fetched[T]]
}

type fetched[T any] struct {
	row T
	err error
}

func newFetcher[T any](s *Store, doing, sql string, scan func(*Store, pgx.Rows) ([]byte, T, error)) *fetcher[T] {
	return &fetcher[T]{store: s, doing: doing, sql: sql, scan: scan, queue: group.New[[]byte, fetched[T]](group.Config{
		Requests: s.options.QueueWrites, Group: mostFetched,
		Name: "store/postgres: " + doing, Asked: "reads", Reads: true, Closed: closed(),
	})}
}

// get gives the row of an identifier, or store.ErrNotFound.
func (f *fetcher[T]) get(ctx context.Context, id string) (row T, err error) {
	a, err := f.queue.Do(ctx, pack(id), 0)
	if err != nil {
		return row, err
	}
	return a.row, a.err
}

// run answers whatever waits, again and again, until the fetcher is closed and nobody waits.
func (f *fetcher[T]) run() { f.queue.Serve(f.answer) }

func (f *fetcher[T]) close() { f.queue.Close() }

func (f *fetcher[T]) answer(some []*group.Request[[]byte, fetched[T]]) {
	ids := make([][]byte, len(some))
	for i, q := range some {
		ids[i] = q.Ask
	}
	rows, err := f.query(ids)
	for _, q := range some {
		q.Answer.err = err
		if err == nil {
			row, there := rows[string(q.Ask)]
			if q.Answer.row = row; !there {
				q.Answer.err = store.ErrNotFound
			}
		}
		q.Done()
	}
}

func (f *fetcher[T]) query(ids [][]byte) (map[string]T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), f.store.options.Timeout)
	defer cancel()
	found := make(map[string]T, len(ids))
	err := f.store.with(ctx, func(c *pgx.Conn) error {
		batch := f.store.behindGuard()
		batch.Queue(f.sql, ids).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				id, row, err := f.scan(f.store, rows)
				if err != nil {
					return err
				}
				found[string(id)] = row
			}
			return rows.Err()
		})
		return c.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, unavailable(f.doing, err)
	}
	return found, nil
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
