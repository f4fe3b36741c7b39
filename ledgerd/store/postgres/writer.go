package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"idem/ledgerd/store"
)

// mostTries bounds how often a group is tried again after a failure that left nothing behind.
const mostTries = 5

// raiseSQL keeps the ceiling ahead of what is decided.
const raiseSQL = "UPDATE clock SET ceiling = $1::bigint WHERE ceiling < $1::bigint"

// runWriter serves the queue until it is closed and empty: it puts whatever waits into one transaction, and answers
// everyone after the commit.
func (s *Store) runWriter() {
	s.queue.Serve(func(group []*asked) {
		s.writeGroup(group)
		for _, r := range group {
			r.Done()
		}
	})
}

// writeGroup does a group, and tries again what may be tried again because nothing of it was written.
func (s *Store) writeGroup(group []*asked) {
	// All nodes lock records in the same order, so that they wait for each other and not in a circle. Writes of one
	// record keep their order.
	slices.SortStableFunc(group, func(a, b *asked) int { return strings.Compare(a.Ask.Key, b.Ask.Key) })
	for try := 1; ; try++ {
		err := s.writeOnce(group)
		switch {
		case err == nil:
			return
		case undone(err) && passing(err) && try < mostTries:
			s.retries.Add(1)
			continue
		case undone(err) && ofOne(err) && len(group) > 1:
			for i := range group { // the one that it is about spoils nobody else
				s.writeGroup(group[i : i+1])
			}
			return
		}
		s.failures.Add(1)
		for _, r := range group {
			r.Answer = outcome{err: unavailable("writing", err)}
		}
		return
	}
}

// writeOnce does a group in one transaction, which is one round trip: what is sent up to the end of a batch is a
// transaction of its own, and is committed when the server meets that end. An error is the whole group's.
func (s *Store) writeOnce(group []*asked) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Timeout)
	defer cancel()
	batch := s.behindGuard()
	decided := int64(0)
	for _, r := range group {
		shape := shapeOf(&r.Ask)
		batch.Queue(statements[shape], shape.args(&r.Ask)...)
		decided = max(decided, store.CeilMicro(r.Ask.Now))
	}
	// The last one, so that the row that all nodes share is locked for the commit alone.
	ceiling := decided + ceilingAhead.Microseconds()
	raises := decided > s.ceiling.Load()
	if raises {
		batch.Queue(raiseSQL, ceiling)
	}

	err := s.with(ctx, func(c *pgx.Conn) error { return send(ctx, c, batch, group) })
	if err != nil {
		return err
	}
	if raises {
		s.raiseCeiling(ceiling)
	}
	s.committed(group)
	return nil
}

// send sends the batch of a group and hears each write's outcome. Only where it gives no error they have come true.
func send(ctx context.Context, c *pgx.Conn, batch *pgx.Batch, group []*asked) error {
	_ = warning(c.PgConn()) // what came before is not about this
	sent := c.SendBatch(ctx, batch)
	_, first := sent.Exec() // whether it is the store that was opened
	for _, r := range group {
		if first != nil {
			break
		}
		var version int64
		err := sent.QueryRow().Scan(&version)
		if errors.Is(err, pgx.ErrNoRows) {
			r.Answer = outcome{err: store.ErrConflict}
		} else if r.Answer = (outcome{version: uint64(version)}); err != nil {
			first = err
			break
		}
	}
	// Only now the server has committed, or says why not.
	if err := sent.Close(); first != nil || err != nil {
		return cmp.Or(first, err)
	}
	return warning(c.PgConn())
}

// committed lets the writes of a group have their effects in this process, and tells other nodes.
func (s *Store) committed(group []*asked) {
	s.commits.Add(1)
	now := time.Time{}
	for _, r := range group {
		if r.Answer.err != nil {
			s.conflicts.Add(1)
			continue
		}
		s.writes.Add(1)
		if now.Before(r.Ask.Now) {
			now = r.Ask.Now
		}
	}
	s.clock.Raise(now)
	for _, r := range group {
		if r.Answer.err == nil {
			s.watchers.Tell(r.Ask.Key)
			s.notifier.add(r.Ask.Key)
		}
	}
}
