// Package faulty wraps any store with the faults that real ones have, at a test's command. Every write can fail in
// each way that a caller cannot tell apart: it was lost; it was done, but reported as failed; or it was reported as
// failed and is done only later, just before the next write. All three give store.ErrUnavailable, so whoever stays
// right on top of this store does not guess.
//
// Besides, the store can be slow, stand still, or be cut off for a while. Nothing here is random and nothing sleeps
// unless it is told to: a [Plan] decides by the number and the kind of the write, so a failing test fails again.
package faulty

import (
	"context"
	"fmt"
	"sync"
	"time"

	"idem/ledgerd/store"
)

// Fault is what befalls one write.
type Fault int

// The faults.
const (
	None    Fault = iota
	Lost          // not done; store.ErrUnavailable
	Unheard       // done; store.ErrUnavailable
	Late          // done just before the next write (or at Close), if its version still fits; store.ErrUnavailable at once
)

// String gives the fault's name, for the names of tests.
func (f Fault) String() string {
	switch f {
	case None:
		return "none"
	case Lost:
		return "lost"
	case Unheard:
		return "unheard"
	case Late:
		return "late"
	}
	return fmt.Sprintf("Fault(%d)", int(f))
}

// Op is a write that is about to happen.
type Op struct {
	N    int    // how many writes were asked for before it
	Kind string // swap, setting, reset
	Key  string // of a swap: the record; of a setting: its name
}

// Plan decides what befalls a write. It is called for one write at a time.
type Plan func(Op) Fault

// At makes the n-th write (from 0) fail so. Trying a story with every n and every fault, a test meets each write's
// failure twice over:
//
//	for n := range writes {
//		for _, fault := range []faulty.Fault{faulty.Lost, faulty.Unheard} {
//			s.Follow(faulty.At(n, fault)) …
func At(n int, fault Fault) Plan {
	return func(op Op) Fault {
		if op.N == n {
			return fault
		}
		return None
	}
}

// Script gives the next writes these faults, one each, and none to those after them.
func Script(faults ...Fault) Plan {
	return func(Op) (f Fault) {
		if len(faults) > 0 {
			f, faults = faults[0], faults[1:]
		}
		return f
	}
}

// EachTwice makes each key's first write lost and its second one unheard before its third is told the truth, and so
// on: whoever retries gets through, having met both.
func EachTwice() Plan {
	tries := map[string]int{}
	return func(op Op) Fault {
		name := op.Kind + " " + op.Key
		tries[name]++
		return [...]Fault{None, Lost, Unheard}[tries[name]%3]
	}
}

// Store is a store.Store with faults. It has none until it is told.
type Store struct {
	inner store.Store

	mu     sync.Mutex
	plan   Plan
	writes int
	late   []func()
	cut    bool
	slow   time.Duration
	stand  chan struct{} // while the store stands still: closed when it goes on
}

// New wraps a store. Close closes it too.
func New(inner store.Store) *Store { return &Store{inner: inner} }

// Follow makes further writes follow a plan; nil: no faults. It counts writes from 0 again.
func (s *Store) Follow(p Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan, s.writes = p, 0
}

// Writes is how many writes were asked for since Follow.
func (s *Store) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// Cut makes every operation fail with store.ErrUnavailable, undone, until Mend. Notifications are lost meanwhile.
func (s *Store) Cut() { s.set(func() { s.cut = true }) }

// Mend ends Cut.
func (s *Store) Mend() { s.set(func() { s.cut = false }) }

// Slow makes every operation take so much longer; 0: no longer.
func (s *Store) Slow(d time.Duration) { s.set(func() { s.slow = d }) }

// Stand makes every operation wait, before it does anything, until GoOn is called or its context ends.
func (s *Store) Stand() {
	s.set(func() {
		if s.stand == nil {
			s.stand = make(chan struct{})
		}
	})
}

// GoOn ends Stand.
func (s *Store) GoOn() {
	s.set(func() {
		if s.stand != nil {
			close(s.stand)
			s.stand = nil
		}
	})
}

func (s *Store) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// reach is the way to the store that is wrapped: it takes as long as it takes, and may be cut.
func (s *Store) reach(ctx context.Context) error {
	s.mu.Lock()
	slow, stand := s.slow, s.stand
	s.mu.Unlock()
	if stand != nil {
		select {
		case <-stand:
		case <-ctx.Done():
			return fmt.Errorf("store/faulty: while the store stood still: %w", ctx.Err())
		}
	}
	if slow > 0 {
		timer := time.NewTimer(slow)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return fmt.Errorf("store/faulty: while the store was slow: %w", ctx.Err())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut {
		return fmt.Errorf("%w: cut off", store.ErrUnavailable)
	}
	return nil
}

// write does a write with what the plan has for it.
func (s *Store) write(ctx context.Context, op Op, do func(context.Context) error) error {
	if err := s.reach(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	op.N = s.writes
	s.writes++
	fault := None
	if s.plan != nil {
		fault = s.plan(op)
	}
	late := s.late
	s.late = nil
	if fault == Late {
		s.late = []func(){func() { _ = do(context.WithoutCancel(ctx)) }} // its answer is nobody's any more
	}
	s.mu.Unlock()

	for _, land := range late {
		land()
	}
	switch fault {
	case Lost, Late:
		return fmt.Errorf("%w: the %s of %s was %s", store.ErrUnavailable, op.Kind, op.Key, fault)
	case Unheard:
		if err := do(ctx); err != nil {
			return err // it was not done after all: that is true, and there is nothing to leave unheard
		}
		return fmt.Errorf("%w: the %s of %s went %s", store.ErrUnavailable, op.Kind, op.Key, fault)
	}
	return do(ctx)
}
