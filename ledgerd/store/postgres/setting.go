package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"idem/ledgerd/store"
)

// seldom runs f, which may use one connection, at most seldomAtOnce at a time.
func (s *Store) seldom(ctx context.Context, doing string, f func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store/postgres: %w", err)
	}
	s.gate.RLock()
	if s.closed {
		s.gate.RUnlock()
		return closed()
	}
	s.calls.Add(1)
	s.gate.RUnlock()
	defer s.calls.Done()
	bounded, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	select {
	case s.others <- struct{}{}:
		defer func() { <-s.others }()
	case <-bounded.Done():
		return failed(ctx, doing, bounded.Err())
	}
	if err := f(bounded); err != nil {
		return failed(ctx, doing, err)
	}
	return nil
}

// Setting implements store.Store.
func (s *Store) Setting(ctx context.Context, name string) (string, error) {
	list, err := query(ctx, s, "reading a setting", func(row pgx.Rows) (value string, err error) {
		var raw []byte
		err = row.Scan(&raw)
		return string(raw), err
	}, "SELECT value FROM settings WHERE name = $1", []byte(name))
	switch {
	case err != nil:
		return "", err
	case len(list) == 0:
		return "", store.ErrNotFound
	}
	return list[0], nil
}

// SetSetting implements store.Store.
func (s *Store) SetSetting(ctx context.Context, name, value string) error {
	return s.seldom(ctx, "writing a setting", func(ctx context.Context) error {
		return s.exec(ctx, "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
			[]byte(name), []byte(value))
	})
}

// resetSQL empties the tables at once, whatever they hold. Writes of all nodes wait for it, and then find their records
// gone. The sequence goes on.
const resetSQL = "TRUNCATE records, entries, results"

// Reset implements store.Store.
func (s *Store) Reset(ctx context.Context) error {
	return s.seldom(ctx, "resetting", func(ctx context.Context) error { return s.exec(ctx, resetSQL) })
}

// exec runs a statement that changes something, in a transaction of its own, and again where another node was in its
// way.
func (s *Store) exec(ctx context.Context, sql string, args ...any) error {
	for try := 1; ; try++ {
		err := s.with(ctx, func(c *pgx.Conn) error {
			_ = warning(c.PgConn()) // what came before is not about this
			batch := s.behindGuard()
			batch.Queue(sql, args...)
			if err := c.SendBatch(ctx, batch).Close(); err != nil {
				return err
			}
			return warning(c.PgConn())
		})
		if err == nil || !undone(err) || !passing(err) || try == mostTries {
			return err
		}
		s.retries.Add(1)
	}
}
