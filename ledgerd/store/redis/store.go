package redis

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"idem/ledgerd/store"
)

// Store is a store.Store in Redis or Valkey.
type Store struct {
	options  Options
	place    *place
	parts    [shards]part
	settings string // hash: name → value; in the first shard's slot
	id       string // a random name, given when the store was made; every shard knows it
	channel  string // where it is published what was written
	topology topology
	promise  promise

	lanes    lanes
	clock    *store.Clock
	server   serverClock
	watchers store.Watchers // of this process
	herald   *herald        // to others
	ear      ear            // from others
	durable  [shards]atomic.Uint64
	refusal  atomic.Pointer[error] // why nothing may be done for now; nil: it may
	lost     atomic.Pointer[error] // why nothing may be done until ledgerd is started again; nil: it may
	made     bool                  // the store, by Open
	recheck  atomic.Bool           // the configuration was found wrong: look at all of it

	closing    chan struct{} // closed once no write is under way any more
	closeOnce  sync.Once
	closeErr   error
	stop       context.CancelFunc // ends what runs in the background
	background sync.WaitGroup

	stats struct{ groups, writes, conflicts, failures, untold atomic.Uint64 }
}

var _ store.Store = (*Store)(nil)

// Stats is how the store is doing.
type Stats struct {
	Groups    uint64 // script calls that wrote
	Writes    uint64 // writes in them
	Conflicts uint64 // writes that found another version
	Failures  uint64 // script calls that failed, or whose answer was lost
	Untold    uint64 // messages to other processes that could not be published
	Waiting   int    // writes in the queues now
}

// Stats gives the counts since the store was opened.
func (s *Store) Stats() Stats {
	return Stats{
		Groups: s.stats.groups.Load(), Writes: s.stats.writes.Load(), Conflicts: s.stats.conflicts.Load(),
		Failures: s.stats.failures.Load(), Untold: s.stats.untold.Load(), Waiting: s.lanes.waiting(),
	}
}

// Promise says in words what an acknowledged write may be relied on for.
func (s *Store) Promise() string { return s.promise.words }

// start begins what runs in the background.
func (s *Store) start() {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.background.Go(s.tell)
	s.background.Go(func() { s.listen(ctx) })
	s.background.Go(func() { s.pulse(ctx) })
}

// checkEach is how often pulse looks at the configuration: every tenth time.
const checkEach = 10

// pulse keeps the clock fresh, and looks whether the server is still one that a ledger can be kept on. While it is not,
// nothing is read or written.
func (s *Store) pulse(ctx context.Context) {
	ticker := time.NewTicker(s.options.CheckEvery)
	defer ticker.Stop()
	var judged error
	reported := ""
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		_ = s.bounded(ctx, s.look) // where it does not answer, those who want something of it find out by themselves
		if n%checkEach == 0 || judged != nil || s.recheck.Swap(false) {
			if e := s.bounded(ctx, func(ctx context.Context) (err error) { judged, err = s.judgeAgain(ctx); return err }); e != nil {
				continue
			}
		}
		s.refuse(judged)
		report := ""
		if judged != nil {
			report = judged.Error()
		}
		if report != reported {
			if reported = report; report != "" {
				s.options.Log.Error("store redis refuses everything until this is put right", "error", report)
			} else {
				s.options.Log.Info("store redis works again")
			}
		}
	}
}

// judgeAgain looks at the servers' configuration while the store runs. An error means that it could not look.
func (s *Store) judgeAgain(ctx context.Context) (judged, err error) {
	servers, err := s.inspect(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range servers {
		if e := f.judge(s.place); e != nil {
			s.topology.moved() // it may be a former master
			judged = errors.Join(judged, e)
		}
		if e := f.judgeFailover(s.place); e != nil {
			s.options.Log.Warn("store redis promises less than when it was opened", "error", e)
		}
	}
	if judged != nil {
		judged = unavailable("the server's configuration was changed", judged)
	}
	return judged, nil
}

// bounded calls f with a context that ends in time for the next pulse but one.
func (s *Store) bounded(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	return f(ctx)
}

// refuse says why nothing may be done from now on; nil: it may.
func (s *Store) refuse(err error) {
	if err == nil {
		s.refusal.Store(nil)
		return
	}
	s.refusal.Store(&err)
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.lanes.close()
		close(s.closing)
		s.stop()
		s.background.Wait()
		if err := s.topology.close(); err != nil {
			s.closeErr = unavailable("closing the connections", err)
		}
	})
	return s.closeErr
}
