package ledger

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// briefly makes a call's retention a second, and its reserve late after one.
func (b *book) briefly(op *wire.Op) {
	op.Rule.RetentionMS, op.NotAfter = 1000, unixMS(b.clock.now().Add(time.Second))
}

// gone makes n committed calls whose retention is over.
func (b *book) gone(n int) {
	b.t.Helper()
	for i := range n {
		id := fmt.Sprint("gone-", i)
		b.must(wire.AnswerExecute, reserve(id, id, id, "r", b.briefly))
		b.must(wire.AnswerOK, commit(id, id, "done"))
	}
	b.clock.advance(5 * time.Second)
}

func TestHundredsOfDueRecordsAreWrittenTogether(t *testing.T) {
	b := open(t)
	b.gone(1500)
	before := b.kept.swaps.Load()
	release := b.kept.stalled()
	swept := make(chan struct{})
	go func() { b.sweep(t.Context()); close(swept) }()
	soon(t, "as many are under way as may be", func() bool { return b.kept.swaps.Load()-before == sweepAtOnce })
	release()
	<-swept
	if left, err := b.kept.Scan(t.Context(), store.Due, b.clock.now(), nil, 10); err != nil || len(left) != 0 {
		t.Errorf("%d are still due, %v", len(left), err)
	}
}

// The store takes nothing that the sweep writes, and the sweep has all under way that it may have.
func TestACallIsAnsweredWhileASweepIsStuck(t *testing.T) {
	for _, room := range []int{10_000, 100} {
		t.Run(fmt.Sprint("with room for ", room), func(t *testing.T) {
			b := open(t, func(o *Options) { o.QueuedOps = room })
			b.gone(1500)
			gate, held := make(chan struct{}), atomic.Int64{}
			b.kept.setSwap(func(w store.Write, swap func() (uint64, error)) (uint64, error) {
				if w.Data == nil {
					held.Add(1)
					<-gate
				}
				return swap()
			})
			swept := make(chan struct{})
			go func() { b.sweep(t.Context()); close(swept) }()
			soon(t, "the sweep has as many under way as it may", func() bool { return held.Load() == int64(b.roomFor(sweepAtOnce)) })
			b.must(wire.AnswerExecute, reserve("new", "new", "new", "r"))
			b.must(wire.AnswerOK, commit("new", "new", "done"))
			close(gate)
			<-swept
		})
	}
}

// What is swept goes into the same group commits as the calls: it must not fill them.
func TestASweepHasFewUnderWayBesideCalls(t *testing.T) {
	for calls, want := range map[int]int64{1: sweepBeside, 100: 50, 1000: sweepAtOnce} {
		t.Run(fmt.Sprint(calls, " calls"), func(t *testing.T) {
			b := open(t)
			b.gone(1500)
			called, held := atomic.Int64{}, atomic.Int64{}
			gate := make(chan struct{})
			b.kept.setSwap(func(w store.Write, swap func() (uint64, error)) (uint64, error) {
				if w.Data == nil {
					held.Add(1)
				} else {
					called.Add(1)
				}
				<-gate
				return swap()
			})
			var all sync.WaitGroup
			for n := range calls {
				all.Go(func() { b.do(reserve(fmt.Sprint("a", n), fmt.Sprint("i", n), fmt.Sprint("f", n), "r")) })
			}
			soon(t, "the calls are under way", func() bool { return called.Load() == int64(calls) })
			all.Go(func() { b.sweep(t.Context()) })
			soon(t, "so is what is swept", func() bool { return held.Load() >= want })
			for range 1000 { // it does not grow further
				runtime.Gosched()
			}
			b.same("writes of the sweep that are under way", held.Load(), want)
			close(gate)
			all.Wait()
		})
	}
}

func TestACallThatFellSilentIsShownBeforeWhatIsOnlyToGo(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("silent", "silent", "silent", "r"))
	b.pass(12 * time.Second)
	b.gone(2000) // all of them are due before it
	gate := make(chan struct{})
	b.kept.setSwap(func(w store.Write, swap func() (uint64, error)) (uint64, error) {
		if w.Key != hash("silent") {
			<-gate
		}
		return swap()
	})
	swept := make(chan struct{})
	go func() { b.sweep(t.Context()); close(swept) }()
	soon(t, "the sweep is at what is to go", func() bool { return b.queued.Load() == sweepAtOnce })
	if e, err := b.kept.Lookup(t.Context(), store.Doubts, "silent"); err != nil || e.Key != hash("silent") {
		t.Errorf("the doubt is not in the index: %+v, %v", e, err)
	}
	if list, err := b.Doubts(t.Context(), 10); err != nil || len(list) != 1 || list[0].Attempt != "silent" {
		t.Errorf("got %+v, %v", list, err)
	}
	close(gate)
	<-swept
}

// Nothing has been swept: only the record says that the call is in doubt.
func TestACallInDoubtIsFoundBeforeAnyIndexHasIt(t *testing.T) {
	for name, over := range map[string]func(b *book) *book{
		"by the node that granted it":  func(b *book) *book { return b },
		"by one that has just started": func(b *book) *book { return openOver(b.t, b.clock, b.kept, shared) },
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, shared)
			b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
			if _, err := b.Doubt(t.Context(), "a1"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "is reserved") {
				t.Errorf("while it executes: %v", err)
			}
			b.clock.advance(5 * time.Second)
			b.sweep(t.Context()) // no outage
			b.clock.advance(5 * time.Second)
			b.sweep(t.Context())
			b.clock.advance(5 * time.Second)
			b = over(b)
			if d, err := b.Doubt(t.Context(), "a1"); err != nil || d.State != "in_doubt" {
				t.Fatalf("got %+v, %v", d, err)
			}
			if row, err := b.Row(t.Context(), "a1", ""); err != nil || row.State != "in_doubt" {
				t.Errorf("the row is %+v, %v", row, err)
			}
			if d, err := b.Resolve(t.Context(), "a1", Resolution{As: intent.Committed, By: "ada"}); err != nil || d.State != "committed" {
				t.Errorf("resolving it: %+v, %v", d, err)
			}
		})
	}
}

func TestDoubtsAreListedTheMomentALeaseEnds(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	b.pass(12 * time.Second)
	b.clock.advance(3 * time.Second)
	if list, err := b.Doubts(t.Context(), 10); err != nil || len(list) != 1 {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestAnUnknownAttemptIsSaidToBeUnknown(t *testing.T) {
	b := open(t)
	_, err := b.Doubt(t.Context(), "a9")
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), `no attempt "a9" in doubt is known`) {
		t.Errorf("got %v", err)
	}
	if _, err := b.Resolve(t.Context(), "a9", Resolution{As: intent.Released}); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestEndedExecutionsAreNotKeptInMind(t *testing.T) {
	b := open(t, shared)
	for _, id := range []string{"committed", "failed", "elsewhere", "silent", "extended"} {
		b.must(wire.AnswerExecute, reserve(id, id, id, "r"))
	}
	b.must(wire.AnswerOK, commit("committed", "committed", "done"))
	b.must(wire.AnswerOK, fail("failed", "failed", wire.ClassNotSent, nil))
	other := openOver(t, b.clock, b.kept, shared)
	other.must(wire.AnswerOK, commit("elsewhere", "elsewhere", "done"))
	b.pass(12 * time.Second)
	b.must(wire.AnswerOK, extend("extended", "extended"))
	b.pass(4 * time.Second)
	if n := len(b.leases.byAttempt); n != 1 {
		t.Errorf("%d are kept in mind, want the extended one: %v", n, b.leases.byAttempt)
	}
}
