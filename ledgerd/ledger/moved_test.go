package ledger

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/wire"
)

// also says what former configurations would have called the call: intent and fingerprint, one pair after the other.
func also(names ...string) func(*wire.Op) {
	return func(op *wire.Op) {
		for i := 0; i < len(names); i += 2 {
			op.Also = append(op.Also, wire.Identity{Intent: hash(names[i]), Fingerprint: hash(names[i+1])})
		}
	}
}

func TestAFormerConfigurationsRowDecides(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "old", "old-f", "r"))
	a := b.must(wire.AnswerInFlight, reserve("a2", "new", "new-f", "r", also("old", "old-f")))
	if a.Attempt != "a1" || a.Intent != hash("old") {
		t.Errorf("got %s", show(a))
	}
	b.must(wire.AnswerOK, commit("a1", "old", "done"))
	a = b.must(wire.AnswerReplay, reserve("a3", "new", "new-f", "r", also("old", "old-f")))
	b.same("replayed", a.Result, reply(201, "done"))
	b.pass(6 * time.Second)
	a = b.must(wire.AnswerHeld, reserve("a4", "new", "new-f", "run-b", also("old", "old-f")))
	if a.Hold.Of != "a1" || a.Intent != hash("old") {
		t.Errorf("got %s", show(a))
	}
	if _, err := b.AnswerHold(t.Context(), a.Hold.ID, HoldAnswer{Decision: intent.Release}); err != nil {
		t.Fatal(err)
	}
	a = b.must(wire.AnswerExecute, reserve("a5", "new", "new-f", "run-b", also("old", "old-f")))
	b.same("the record that the grant lives in", a.Intent, hash("old"))
	b.must(wire.AnswerOK, commit("a5", "old", "again"))
}

func TestOldAndNewWorkersSideBySideExecuteOnce(t *testing.T) {
	t.Run("the new one first", func(t *testing.T) {
		b := open(t)
		if a := b.must(wire.AnswerExecute, reserve("a1", "new", "new-f", "r", also("old", "old-f"))); a.Intent != "" {
			t.Errorf("got %s", show(a))
		}
		a := b.must(wire.AnswerInFlight, reserve("a2", "old", "old-f", "r"))
		if a.Attempt != "a1" || a.Intent != hash("new") {
			t.Errorf("got %s", show(a))
		}
	})
	t.Run("at once", func(t *testing.T) {
		for range 20 {
			b := open(t, shared)
			var all sync.WaitGroup
			var mu sync.Mutex
			granted := 0
			for n := range 20 {
				op := reserve(fmt.Sprint("a", n), "old", "old-f", fmt.Sprint("run", n))
				if n%2 == 0 {
					op = reserve(fmt.Sprint("a", n), "new", "new-f", fmt.Sprint("run", n), also("old", "old-f"))
				}
				all.Go(func() {
					if a := b.do(op); a.Kind == wire.AnswerExecute {
						mu.Lock()
						granted++
						mu.Unlock()
					} else if a.Kind != wire.AnswerInFlight {
						t.Errorf("got %s", show(a))
					}
				})
			}
			all.Wait()
			b.same("grants", granted, 1)
		}
	})
	t.Run("where a configuration is taken back", func(t *testing.T) {
		b := open(t)
		b.must(wire.AnswerExecute, reserve("a1", "two", "f2", "r", also("one", "f1")))
		b.must(wire.AnswerOK, fail("a1", "two", wire.ClassNotSent, nil))
		first := b.must(wire.AnswerExecute, reserve("a2", "one", "f1", "r", also("two", "f2")))
		second := b.must(wire.AnswerInFlight, reserve("a3", "two", "f2", "r", also("one", "f1")))
		third := b.must(wire.AnswerInFlight, reserve("a4", "one", "f1", "r"))
		if second.Attempt != "a2" || third.Attempt != "a2" {
			t.Errorf("got %s%s%s", show(first), show(second), show(third))
		}
	})
	t.Run("over several changes", func(t *testing.T) {
		b := open(t)
		b.must(wire.AnswerExecute, reserve("a1", "v3", "f3", "r", also("v1", "f1", "v2", "f2")))
		b.same("by the first", b.must(wire.AnswerInFlight, reserve("a2", "v1", "f1", "r")).Attempt, "a1")
		b.same("by the second", b.must(wire.AnswerInFlight, reserve("a3", "v2", "f2", "r", also("v1", "f1"))).Attempt, "a1")
	})
}

// A configuration that was tried in between, on another fleet or for an hour, and that the next one does not name.
func TestAConfigurationThatTheNextOneDoesNotNameCounts(t *testing.T) {
	tried := func(attempt, run string) wire.Op {
		return reserve(attempt, "tried", "tried-f", run, also("old", "old-f"))
	}
	next := func(attempt, run string) wire.Op {
		return reserve(attempt, "next", "next-f", run, also("old", "old-f"))
	}
	t.Run("one after the other", func(t *testing.T) {
		b := open(t)
		b.must(wire.AnswerExecute, tried("a1", "r"))
		b.must(wire.AnswerOK, commit("a1", "tried", "done"))
		b.same("replayed", b.must(wire.AnswerReplay, next("a2", "r")).Result, reply(201, "done"))
		b.same("by the first", b.must(wire.AnswerReplay, reserve("a3", "old", "old-f", "r")).Result, reply(201, "done"))
	})
	t.Run("at once", func(t *testing.T) {
		for range 20 {
			one, other := two(t)
			var all sync.WaitGroup
			var granted atomic.Int64
			for n := range 30 {
				op := []func(string, string) wire.Op{tried, next, func(attempt, run string) wire.Op {
					return reserve(attempt, "old", "old-f", run)
				}}[n%3](fmt.Sprint("a", n), fmt.Sprint("run", n))
				b := []*book{one, other}[n/3%2]
				all.Go(func() {
					if a := b.do(op); a.Kind == wire.AnswerExecute {
						granted.Add(1)
					} else if a.Kind != wire.AnswerInFlight {
						t.Errorf("got %s", show(a))
					}
				})
			}
			all.Wait()
			one.same("grants", granted.Load(), int64(1))
		}
	})
}

func TestAnIdentityThatDidNotChangeIsNoFormerOne(t *testing.T) {
	b := open(t)
	if a := b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r", also("i", "f"))); a.Intent != "" {
		t.Errorf("got %s", show(a))
	}
	b.same("writes", b.kept.swaps.Load(), int64(1))
}

func TestAWaitInAFormerRecordFindsItsAttempt(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "old", "old-f", "r"))
	a := b.must(wire.AnswerInFlight, reserve("a2", "new", "new-f", "r", also("old", "old-f")))
	got := make(chan wire.Answer, 1)
	go func() {
		got <- b.do(wire.Op{Kind: wire.OpAwait, Attempt: a.Attempt, Intent: a.Intent, WaitMS: 3_600_000})
	}()
	b.waiting("old", 1)
	b.must(wire.AnswerOK, commit("a1", "old", "done"))
	if a := <-got; a.Kind != wire.AnswerResult {
		t.Errorf("got %s", show(a))
	}
}
