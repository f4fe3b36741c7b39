package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"idem/ledgerd/store"
)

// Every request looks whether its shard is still the one that was opened, and has not gone back: writes by guard.lua, in
// the script that writes; reads by [Store.guard], behind them in the same round trip. So a node that runs on while
// somebody empties the server, or puts another one or an older copy in its place, does not take what it finds there for
// a ledger in which nothing was executed.

// guard adds to a round trip of reads the question whether their shards are still those that were opened. What it gives
// says afterwards why what was read of a shard does not count: the question stands behind the reads, and who was emptied
// does not get the id back.
func (s *Store) guard(ctx context.Context, pipe redis.Pipeliner, calls []call) func(shard int) error {
	if s.id == "" { // it is being opened
		return func(int) error { return nil }
	}
	var asked [shards]*redis.SliceCmd
	var known [shards]uint64
	for _, c := range calls {
		if asked[c.shard] == nil {
			known[c.shard] = s.durable[c.shard].Load()
			asked[c.shard] = redis.NewSliceCmd(ctx, "hmget", s.parts[c.shard].meta, "id", "version")
			_ = pipe.Process(ctx, asked[c.shard]) // only queues it
		}
	}
	return func(shard int) error {
		values, err := asked[shard].Result()
		if err != nil {
			return err
		}
		if len(values) != 2 {
			return fmt.Errorf("asked which store it is, the server gave %d values, want 2", len(values))
		}
		if id, _ := values[0].(string); id != s.id {
			return s.lose(shard)
		}
		text, _ := values[1].(string)
		if version, _ := strconv.ParseUint(text, 10, 64); version < known[shard] {
			return s.wentBack(shard, version)
		}
		return nil
	}
}

// judged tells what a script of ours said by its own errors; others stay as they are.
func (s *Store) judged(shard int, err error) error {
	var version uint64
	switch {
	case said(err, "IDEMLOST"):
		return s.lose(shard)
	case said(err, "IDEMBACK"):
		_, _ = fmt.Sscanf(err.Error(), "IDEMBACK %d", &version) // else 0, which is as far back as can be
		return s.wentBack(shard, version)
	}
	return err
}

// lose ends the service for good: the keys are not there, or are another store's.
func (s *Store) lose(shard int) error {
	return s.end(fmt.Errorf("%w: redis: %s is not of the store %s any more: the server lost the store's keys while ledgerd ran "+
		"(emptied, or started without its data), or the address leads to another server", store.ErrUnfit, s.parts[shard].meta, s.id))
}

// wentBack ends the service where a shard lacks what was safe. Where a loss is accepted it is only told.
func (s *Store) wentBack(shard int, version uint64) error {
	known := s.durable[shard].Load()
	what := fmt.Errorf("the store %s went back: in %s writes up to %d (Unix µs) were acknowledged, the server has them up to %d. "+
		"A replica that lacked the newest ones was promoted, or an older copy was loaded", s.id, s.parts[shard].meta, known, version)
	if !s.place.acceptLoss {
		return s.end(fmt.Errorf("%w: redis: %w", store.ErrUnfit, what))
	}
	if s.durable[shard].CompareAndSwap(known, version) {
		s.options.Log.Warn("accept_loss: calls that were executed since may execute again", "what", what)
	}
	return unavailable("looking whether the store is the same", what)
}

// end says once for all why nothing is answered any more.
func (s *Store) end(what error) error {
	what = fmt.Errorf("%w. Nothing is answered any more: see which data are the right ones, take what is missing there for "+
		"possibly executed, and start all ledgerds again", what)
	if s.lost.CompareAndSwap(nil, &what) {
		s.options.Log.Error("store redis refuses everything until ledgerd is started again", "error", what)
	}
	return *s.lost.Load()
}

// none says that there is no store where one was expected.
func (s *Store) none(why string) error {
	return fmt.Errorf("%w with the prefix %s at %s (%s): for a first start make one with `ledgerd migrate --store …`. If there "+
		"was one, the server lost it, or the address leads to another server: a new one knows nothing of what was executed, "+
		"and lets it execute again", ErrNone, s.place.prefix, s.place.addresses[0], why)
}

// ID gives the random name that the store got when it was made.
func (s *Store) ID() string { return s.id }

// Made says whether Open made the store: it was not there before.
func (s *Store) Made() bool { return s.made }

// nothing says that an error only tells that there is nothing.
func nothing(err error) bool { return errors.Is(err, redis.Nil) }
