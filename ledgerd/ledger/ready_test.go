package ledger

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// A store of which one kind of write fails cannot be called ready because others work: not by its settings, nor by the
// writes of calls that were let in before.
func TestNotReadyUntilAWriteOfTheKindThatFailedHasWorked(t *testing.T) {
	broken := fmt.Errorf("%w: broken", store.ErrUnavailable)
	for name, fails := range map[string]func(w store.Write) bool{
		"no record can be made":     func(w store.Write) bool { return w.Expect == 0 },
		"no record can be changed":  func(w store.Write) bool { return w.Expect != 0 && w.Data != nil },
		"no record can be removed":  func(w store.Write) bool { return w.Data == nil },
		"no result can be stored":   func(w store.Write) bool { return len(w.Put) > 0 },
		"no question can be stored": func(w store.Write) bool { return len(w.Entries) > 1 },
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t)
			b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
			b.kept.setSwap(func(w store.Write, swap func() (uint64, error)) (uint64, error) {
				if fails(w) {
					return 0, broken
				}
				return swap()
			})
			b.proof.worked.Store(0) // the reserve was a while ago
			for range 3 {
				if err := b.Ready(t.Context()); !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("got %v, want ErrUnavailable", err)
				}
				b.do(reserve("b1", "j", "g", "r"))
				b.do(extend("a1", "i"))
			}
			b.kept.setSwap(nil)
			if err := b.Ready(t.Context()); err != nil {
				t.Errorf("once all of it works: %v", err)
			}
			swaps := b.kept.swaps.Load()
			b.must(wire.AnswerExecute, reserve("c1", "k", "h", "r"))
			if err := b.Ready(t.Context()); err != nil || b.kept.swaps.Load() != swaps+1 {
				t.Errorf("right after a call: got %v and %d writes, want none but the call's", err, b.kept.swaps.Load()-swaps)
			}
		})
	}
}

// What was written to try leaves nothing, also where its effect was not known.
func TestTryingWhetherTheStoreWritesLeavesNothing(t *testing.T) {
	for lost := range 3 {
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprint("write ", lost, ", done ", done), func(t *testing.T) {
				b := open(t)
				n := 0
				b.kept.setSwap(func(_ store.Write, swap func() (uint64, error)) (uint64, error) {
					if n++; n-1 != lost {
						return swap()
					}
					if done {
						if _, err := swap(); err != nil {
							t.Error(err)
						}
					}
					return 0, store.ErrUnavailable
				})
				if err := b.Ready(t.Context()); !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("got %v, want ErrUnavailable", err)
				}
				if err := b.Ready(t.Context()); err != nil {
					t.Error(err)
				}
				if list, err := b.kept.Newest(t.Context(), 10); err != nil || len(list) != 0 {
					t.Errorf("it left %d records, %v", len(list), err)
				}
			})
		}
	}
}

// What a process that ends in between leaves is swept.
func TestTheRecordOfATryThatWasBrokenOffIsSwept(t *testing.T) {
	b := open(t)
	b.kept.setSwap(func(w store.Write, swap func() (uint64, error)) (uint64, error) {
		if w.Expect != 0 {
			return 0, store.ErrUnavailable
		}
		return swap()
	})
	_ = b.Ready(t.Context())
	b.kept.setSwap(nil)
	b.proof = newProof("another process")
	b.pass(2 * time.Minute)
	b.sweep(t.Context())
	if list, err := b.kept.Newest(t.Context(), 10); err != nil || len(list) != 0 {
		t.Errorf("there are %d records, %v, want none", len(list), err)
	}
}

// However long the store takes, whoever asks has an answer when an operation's time is over, that claims nothing.
func TestAnOperationHasItsAnswerInItsTimeWhateverTheStoreDoes(t *testing.T) {
	b := open(t, func(o *Options) { o.OperationTimeout = 200 * time.Millisecond })
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	release := b.kept.stalled()
	for _, op := range []wire.Op{commit("a1", "i", "done"), reserve("b1", "j", "g", "r"), extend("a1", "i"), await("a1", "i", 100*time.Millisecond), fetch("a1", "i")} {
		if a := b.do(op); a.Kind != wire.AnswerError || a.Code != wire.CodeUnavailable {
			t.Errorf("%s: got %s", op.Kind, show(a))
		}
	}
	if err := b.Ready(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("ready: got %v, want ErrUnavailable", err)
	}
	release()
	soon(t, "nothing is under way", func() bool { return b.queued.Load() == 0 })
	b.must(wire.AnswerOK, commit("a1", "i", "done"))
	b.same("the result", b.must(wire.AnswerReplay, reserve("a2", "i", "f", "r")).Result, reply(201, "done"))
}

// noResults never answers what is asked of results.
type noResults struct {
	store.Store
	gate chan struct{}
}

func (s noResults) Result(context.Context, string) ([]byte, error) {
	<-s.gate
	return nil, store.ErrNotFound
}

// A wait that is over has its answer too, where the store does not give the result.
func TestAWaitHasItsAnswerInItsTimeWhereTheStoreGivesNoResult(t *testing.T) {
	b := open(t, func(o *Options) { o.OperationTimeout = 200 * time.Millisecond })
	committed(b, "done")
	b.forget()
	gate := make(chan struct{})
	kept := b.store
	b.store = noResults{kept, gate}
	if a := b.do(await("a1", "i", 0)); a.Kind != wire.AnswerError || a.Code != wire.CodeUnavailable {
		t.Errorf("got %s", show(a))
	}
	close(gate)
}

// A full queue says that there is much to do, not that the store takes nothing: whoever balances the load must not take
// every node for dead just when all of them are busy.
func TestALedgerWhoseStoreHasMuchToDoIsReady(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	b.proof.worked.Store(0)
	b.kept.setSwap(func(store.Write, func() (uint64, error)) (uint64, error) { return 0, store.ErrOverloaded })
	if err := b.Ready(t.Context()); err != nil {
		t.Errorf("nothing failed: got %v", err)
	}
	b.kept.setSwap(func(store.Write, func() (uint64, error)) (uint64, error) { return 0, store.ErrUnavailable })
	b.do(extend("a1", "i"))
	b.kept.setSwap(func(store.Write, func() (uint64, error)) (uint64, error) { return 0, store.ErrOverloaded })
	if err := b.Ready(t.Context()); !errors.Is(err, store.ErrOverloaded) {
		t.Errorf("after a write that failed: got %v, want ErrOverloaded", err)
	}
}

// A driver that panics at one record is unavailable for that one; what the process does for others goes on.
func TestAStoreThatPanicsIsUnavailableAndEndsNothingElse(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	b.kept.setSwap(func(w store.Write, swap func() (uint64, error)) (uint64, error) {
		if w.Key == hash("i") {
			panic("a driver's mistake")
		}
		return swap()
	})
	if a := b.do(commit("a1", "i", "done")); a.Kind != wire.AnswerError || a.Code != wire.CodeUnavailable {
		t.Errorf("got %s", show(a))
	}
	b.must(wire.AnswerExecute, reserve("b1", "j", "g", "r"))
	b.kept.setSwap(nil)
	b.must(wire.AnswerOK, commit("a1", "i", "done"))
}
