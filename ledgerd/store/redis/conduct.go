package redis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"idem/ledgerd/store"
)

// call is one command for the server that has a shard.
type call struct {
	shard int
	cmd   redis.Cmder
	done  func(error) // called once, by whoever conducts it; the error is the command's, or why it got no answer
}

// conduct sends calls to the masters that have their shards, one round trip for each master, and tells each of them how
// it went. What the server surely did not execute is sent again, for as long as the store is patient: a shard that is
// moving, or a server that is still reading its data, is worth a short wait. Everything else is told as it is.
//
// Where confirm is set, a call is done only once all that the connection wrote is as safe as the store promises.
func (s *Store) conduct(calls []call, confirm bool) {
	deadline := time.Now().Add(s.options.Timeout)
	pause := 5 * time.Millisecond
	for {
		again, moving := s.once(calls, confirm)
		if len(again) == 0 {
			return
		}
		if moving {
			s.topology.moved()
			wait := time.NewTimer(pause)
			select {
			case <-wait.C:
			case <-s.closing:
				wait.Stop()
				deadline = time.Time{}
			}
			pause *= 2
		}
		if time.Now().After(deadline) {
			for _, c := range again {
				err := c.cmd.Err()
				if err == nil || nothing(err) {
					err = fmt.Errorf("it is not known after %v whether the store is the one that was opened", s.options.Timeout)
				}
				c.done(err)
			}
			return
		}
		calls = again
	}
}

// once sends calls once. It gives those that the server did not execute, and whether it was for want of a script
// (which it now has) or because it could not.
func (s *Store) once(calls []call, confirm bool) (again []call, moving bool) {
	if a, ok := s.topology.(alone); ok {
		return s.exchange(a.client, calls, confirm)
	}
	first, err := s.topology.master(context.Background(), calls[0].shard)
	if err != nil {
		s.fail(calls, fmt.Errorf("finding the master of a slot: %w", err))
		return nil, false
	}
	apart := map[*redis.Client][]call{}
	same := calls[:0:0]
	for i, c := range calls {
		master, err := s.topology.master(context.Background(), c.shard)
		switch {
		case err != nil:
			s.fail(calls[i:i+1], fmt.Errorf("finding the master of a slot: %w", err))
		case master == first:
			same = append(same, c)
		default:
			apart[master] = append(apart[master], c)
		}
	}
	if len(apart) == 0 {
		return s.exchange(first, same, confirm)
	}
	apart[first] = same
	var mu sync.Mutex
	var all sync.WaitGroup
	for master, calls := range apart {
		if len(calls) == 0 {
			continue
		}
		all.Go(func() {
			more, moved := s.exchange(master, calls, confirm)
			mu.Lock()
			defer mu.Unlock()
			again, moving = append(again, more...), moving || moved
		})
	}
	all.Wait()
	return again, moving
}

func (s *Store) fail(calls []call, err error) {
	s.topology.moved()
	for _, c := range calls {
		c.done(err)
	}
}

// exchange is one round trip to one master. Should it panic, nothing is known of any of the calls.
func (s *Store) exchange(master *redis.Client, calls []call, confirm bool) (again []call, moving bool) {
	defer func() {
		if what := recover(); what != nil {
			again, moving = nil, false
			for _, c := range calls { // those that were told are not told again
				c.done(store.Panicked("store/redis: a round trip", what))
			}
		}
	}()
	ctx := context.Background() // a caller who leaves does not take the others' answers along
	pipe := master.Pipeline()
	for _, c := range calls {
		_ = pipe.Process(ctx, c.cmd) // only queues it
	}
	confirmed, belongs := func() error { return nil }, func(int) error { return nil }
	if confirm {
		confirmed = s.promise.confirm(ctx, pipe, s.options.ConfirmTimeout)
	} else {
		belongs = s.guard(ctx, pipe, calls)
	}
	roundTrip(ctx, pipe)
	unsafe := confirmed()
	if errors.Is(unsafe, ErrUnsafe) {
		s.recheck.Store(true)
	}

	missing, silent := false, false
	for _, c := range calls {
		err := s.judged(c.shard, c.cmd.Err())
		if err == nil || nothing(err) {
			if other := belongs(c.shard); other != nil {
				err = other
			}
		}
		silent = silent || c.cmd.Err() != nil && !answered(c.cmd.Err())
		switch {
		case forgotten(err):
			missing = true
			again = append(again, c)
		case elsewhere(err):
			moving = true
			again = append(again, c)
		case err == nil && unsafe != nil:
			c.done(unsafe)
		default:
			c.done(err)
		}
	}
	if silent {
		s.topology.moved() // the master may be gone
	}
	if missing && !moving {
		if err := loadScripts(ctx, master); err != nil {
			moving = true // try again a bit later
		}
	}
	return again, moving
}
