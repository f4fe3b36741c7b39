package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"idem/ledgerd/store"
)

const (
	sampleEvery  = time.Second            // how old the last sample may get before the server is asked again
	freshFor     = 5 * time.Second        // for how long a sample serves when the server does not answer
	ceilingAhead = 250 * time.Millisecond // see the package comment
	driftParts   = 1000                   // two machines' clocks gain less than a thousandth on each other
)

const clockSQL = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// estimate reckons the server's clock from samples of it. What it gives is a lower bound: a sample was taken no later
// than its answer was heard, and from then on it is carried forward a little slower than time passes.
type estimate struct {
	mu     sync.Mutex
	server int64     // Unix µs, as of heard
	heard  time.Time // of this process's monotonic clock
}

// hear takes in a sample: the server was asked at sent, and said us by heard. It says how far the server's clock was put
// back, if so.
func (e *estimate) hear(sent, heard time.Time, us int64) (back time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.at(heard)
	latest := us + heard.Sub(sent).Microseconds() // the server's clock is no later than that
	switch {
	case us >= before:
	case before <= latest+heard.Sub(sent).Microseconds()/driftParts:
		us = before // the former sample still is the better bound
	default:
		back = time.Duration(before-latest) * time.Microsecond
	}
	e.server, e.heard = us, heard
	return back
}

// at gives the bound at a moment of this process's clock. The caller holds mu.
func (e *estimate) at(now time.Time) int64 {
	since := now.Sub(e.heard).Microseconds()
	return e.server + since - since/driftParts
}

// now gives the bound, and how old the last sample is.
func (e *estimate) now() (server time.Time, age time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	return moment(e.at(now)), now.Sub(e.heard)
}

// Now implements store.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := s.ready(ctx); err != nil {
		return time.Time{}, err
	}
	if s.options.Clock == nil {
		if _, age := s.estimate.now(); age > freshFor {
			if err := s.sample(ctx); err != nil {
				return time.Time{}, failed(ctx, fmt.Sprintf("asking for the time, last heard %v ago", age.Round(time.Second)), err)
			}
		}
	}
	return s.clock.Now(), nil
}

// readClock is what the clock reads: the bound, or what a test says.
func (s *Store) readClock() time.Time {
	if s.options.Clock != nil {
		return s.options.Clock()
	}
	now, _ := s.estimate.now()
	return now
}

// sample asks the server for the time. Whoever wants that at once waits for the same answer.
func (s *Store) sample(ctx context.Context) error {
	answer := s.sampling.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(s.life, s.options.Timeout)
		defer cancel()
		return nil, s.with(ctx, func(c *pgx.Conn) error { return s.ask(ctx, c) })
	})
	select {
	case a := <-answer:
		return a.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keepTime samples the server's clock until the store closes.
func (s *Store) keepTime() {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.life.Done():
			return
		case <-tick.C:
			if err := s.sample(s.life); err != nil && s.life.Err() == nil {
				s.options.Log.Warn("the PostgreSQL server does not say the time", "error", err)
			}
		}
	}
}

// raiseCeiling notes that the ceiling in the database is at least us.
func (s *Store) raiseCeiling(us int64) {
	for old := s.ceiling.Load(); old < us; old = s.ceiling.Load() {
		if s.ceiling.CompareAndSwap(old, us) {
			return
		}
	}
}

// newClock gives the clock of a store whose nodes have decided by no moment after ceiling.
func (s *Store) newClock(ceiling int64) *store.Clock {
	return store.NewClock(s.readClock, moment(ceiling))
}
