package postgres

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"idem/ledgerd/store"
)

// Lookup implements store.Store.
func (s *Store) Lookup(ctx context.Context, index store.Index, id string) (store.Entry, error) {
	list, err := s.entries(ctx, "looking up an entry", index,
		"SELECT at, key, id FROM entries WHERE kind = $1 AND id = $2", string(index), []byte(id))
	if err != nil {
		return store.Entry{}, err
	}
	if len(list) == 0 {
		return store.Entry{}, store.ErrNotFound
	}
	return list[0], nil
}

// Scan implements store.Store.
func (s *Store) Scan(ctx context.Context, index store.Index, until time.Time, after *store.Entry, limit int) ([]store.Entry, error) {
	const doing = "scanning an index"
	end, n := int64(math.MaxInt64), int64(max(limit, 0))
	if !until.After(time.UnixMicro(math.MaxInt64)) {
		end = micro(until)
	}
	switch {
	case index == store.Due && after == nil:
		return s.entries(ctx, doing, index, "SELECT due, key, ''::bytea FROM records WHERE due <= $1 ORDER BY due, key LIMIT $2", end, n)
	case index == store.Due:
		return s.entries(ctx, doing, index, "SELECT due, key, ''::bytea FROM records WHERE due <= $1 AND (due, key) > ($2, $3) ORDER BY due, key LIMIT $4",
			end, micro(after.At), pack(after.Key), n)
	case after == nil:
		return s.entries(ctx, doing, index, "SELECT at, key, id FROM entries WHERE kind = $1 AND at <= $2 ORDER BY at, key, id LIMIT $3", string(index), end, n)
	}
	return s.entries(ctx, doing, index, "SELECT at, key, id FROM entries WHERE kind = $1 AND at <= $2 AND (at, key, id) > ($3, $4, $5) ORDER BY at, key, id LIMIT $6",
		string(index), end, micro(after.At), pack(after.Key), []byte(after.ID), n)
}

// entries gives the entries of an index that a query finds: at, key, id.
func (s *Store) entries(ctx context.Context, doing string, index store.Index, sql string, args ...any) ([]store.Entry, error) {
	return query(ctx, s, doing, func(row pgx.Rows) (store.Entry, error) {
		var at int64
		var key, id []byte
		if err := row.Scan(&at, &key, &id); err != nil {
			return store.Entry{}, err
		}
		name, err := unpack(key)
		return store.Entry{Index: index, ID: string(id), Key: name, At: moment(at)}, err
	}, sql, args...)
}

// Newest implements store.Store.
func (s *Store) Newest(ctx context.Context, limit int) ([]store.Record, error) {
	return query(ctx, s, "reading the newest records", func(row pgx.Rows) (store.Record, error) {
		_, r, err := scanRecord(s, row)
		return r, err
	}, "SELECT key, version, decided, data FROM records ORDER BY created DESC LIMIT $1", int64(max(limit, 0)))
}

// query gives all that a query finds.
func query[T any](ctx context.Context, s *Store, doing string, scan func(pgx.Rows) (T, error), sql string, args ...any) (list []T, err error) {
	err = s.seldom(ctx, doing, func(ctx context.Context) error {
		return s.with(ctx, func(c *pgx.Conn) error {
			batch := s.behindGuard()
			batch.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
				list, err = pgx.CollectRows(rows, func(pgx.CollectableRow) (T, error) { return scan(rows) })
				return err
			})
			return c.SendBatch(ctx, batch).Close()
		})
	})
	return list, err
}
