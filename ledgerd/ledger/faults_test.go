package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
	"idem/ledgerd/store/faulty"
	"idem/ledgerd/wire"
)

// once makes the next write fail: lost, or done and reported as failed.
func (s *watched) once(lost bool, err error) {
	s.setSwap(func(_ store.Write, swap func() (uint64, error)) (uint64, error) {
		s.setSwap(nil)
		if !lost {
			if _, err := swap(); err != nil {
				return 0, err
			}
		}
		return 0, err
	})
}

func TestAWriteOfUnknownEffectNeverChangesWhatIsAnswered(t *testing.T) {
	// Each operation is done after its writes failed in each way, and must come to the same as without.
	unavailable := fmt.Errorf("%w: the line went dead", store.ErrUnavailable)
	for _, how := range []struct {
		name  string
		lost  bool
		err   error
		owner bool
	}{
		{"lost", true, unavailable, true}, {"done", false, unavailable, true},
		{"lost among several", true, unavailable, false}, {"done among several", false, unavailable, false},
		{"lost by time", true, context.DeadlineExceeded, true}, {"done by time", false, context.DeadlineExceeded, true},
	} {
		t.Run(how.name, func(t *testing.T) {
			b := open(t, func(o *Options) { o.SoleOwner = how.owner })
			must := func(kind wire.AnswerKind, op wire.Op) wire.Answer {
				t.Helper()
				b.kept.once(how.lost, how.err)
				return b.must(kind, op)
			}
			must(wire.AnswerExecute, reserve("a1", "i", "f", "run-a"))
			b.same("who was granted", b.must(wire.AnswerInFlight, reserve("a2", "i", "f", "run-x")).Attempt, "a1")
			must(wire.AnswerInFlight, reserve("a3", "i", "f", "run-b"))
			must(wire.AnswerOK, extend("a1", "i"))
			must(wire.AnswerOK, commit("a1", "i", "done"))
			b.pass(6 * time.Second)
			held := must(wire.AnswerHeld, reserve("a4", "i", "f", "run-c"))
			b.same("the hold of the same run", must(wire.AnswerHeld, reserve("a5", "i", "f", "run-c")).Hold.ID, held.Hold.ID)
			b.kept.once(how.lost, how.err)
			if v, err := b.AnswerHold(t.Context(), held.Hold.ID, HoldAnswer{Decision: intent.Release}); err != nil || v.State != "approved" {
				t.Fatalf("release: %+v, %v", v, err)
			}
			must(wire.AnswerExecute, reserve("a6", "i", "f", "run-c"))
			must(wire.AnswerOK, fail("a6", "i", wire.ClassNotSent, nil))
			must(wire.AnswerExecute, reserve("a7", "i", "f", "run-c"))
			must(wire.AnswerOK, fail("a7", "i", wire.ClassUnknown, nil))
			b.pass(2 * time.Minute)
			b.kept.once(how.lost, how.err)
			if v, err := b.Resolve(t.Context(), "a7", Resolution{As: intent.Committed, Result: reply(200, "seen")}); err != nil || v.State != "committed" {
				t.Fatalf("resolve: %+v, %v", v, err)
			}
			b.same("replayed", b.must(wire.AnswerReplay, reserve("a8", "i", "f", "run-c")).Result, reply(200, "seen"))
			b.same("replayed to the first run", b.must(wire.AnswerReplay, reserve("a9", "i", "f", "run-a")).Result, reply(201, "done"))
			b.counted(map[string]int64{"executed": 1, "granted": 3, "held": 2, "hold_answers": 1, "resolutions": 1, "not_sent": 1, "unknown": 1, "fenced": 0})
		})
	}
}

func TestWhenTheStoreIsCutOffNothingIsGuessed(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "run-a"))
	b.must(wire.AnswerExecute, reserve("b1", "j", "g", "run-a"))
	b.must(wire.AnswerOK, commit("b1", "j", "done"))

	dead := fmt.Errorf("%w: cut off", store.ErrUnavailable)
	b.kept.setSwap(func(store.Write, func() (uint64, error)) (uint64, error) { return 0, dead })
	b.kept.mu.Lock()
	b.kept.onRead = func() error { return dead }
	b.kept.mu.Unlock()
	b.records.flush()
	for _, op := range []wire.Op{
		reserve("a2", "i", "f", "run-b"), reserve("c1", "k", "h", "run-a"), extend("a1", "i"), commit("a1", "i", "x"),
		fail("a1", "i", wire.ClassNotSent, nil), await("a1", "i", time.Hour), fetch("b1", "j"),
	} {
		if a := b.must(wire.AnswerError, op); a.Code != wire.CodeUnavailable || a.RetryAfterMS == 0 {
			t.Errorf("%s: got %s", op.Kind, show(a))
		}
	}
	if _, err := b.Resolve(t.Context(), "a1", Resolution{As: intent.Committed}); !errors.Is(err, ErrNotFound) && !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("resolve: %v", err)
	}

	b.kept.setSwap(nil)
	b.kept.mu.Lock()
	b.kept.onRead = nil
	b.kept.mu.Unlock()
	b.must(wire.AnswerOK, commit("a1", "i", "late"))
	b.same("replayed", b.must(wire.AnswerReplay, reserve("a3", "i", "f", "run-a")).Result, reply(201, "late"))
	b.must(wire.AnswerExecute, reserve("c2", "k", "h", "run-a"))
}

func TestAFullStoreQueueIsARefusal(t *testing.T) {
	b := open(t)
	b.kept.once(true, store.ErrOverloaded)
	if a := b.must(wire.AnswerRefused, reserve("a1", "i", "f", "r")); a.Code != wire.CodeOverloaded || a.RetryAfterMS == 0 {
		t.Errorf("got %s", show(a))
	}
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	b.kept.once(true, store.ErrOverloaded)
	if a := b.must(wire.AnswerError, commit("a1", "i", "x")); a.Code != wire.CodeOverloaded {
		t.Errorf("got %s", show(a))
	}
}

func TestARecordThatCannotBeReadIsNotOverwritten(t *testing.T) {
	b := open(t)
	for _, data := range []string{"", "2", "1", "1aaaaaaaaaaaaaaaaaaaaaaaa{"} {
		key := hash("broken" + data)
		if _, err := b.kept.Store.Swap(t.Context(), store.Write{Key: key, Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
		op := reserve("a1", "broken"+data, "f", "r")
		if a := b.must(wire.AnswerError, op); a.Code != wire.CodeUnavailable {
			t.Errorf("%q: got %s", data, show(a))
		}
		if rec, err := b.kept.Store.Load(t.Context(), key); err != nil || string(rec.Data) != data {
			t.Errorf("%q became %q, %v", data, rec.Data, err)
		}
	}
}

func TestARestartForgetsNothing(t *testing.T) {
	b := open(t)
	hold := heldCall(b)
	b.must(wire.AnswerExecute, reserve("b1", "j", "g", "run-a"))
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := b.do(reserve("x", "x", "x", "r")); a.Code != wire.CodeUnavailable {
		t.Errorf("a closed ledger answers %s", show(a))
	}

	again := openOver(t, b.clock, b.kept)
	again.same("replayed", again.must(wire.AnswerReplay, reserve("a8", "i", "f", "run-a")).Result, reply(201, "first"))
	again.same("held", again.must(wire.AnswerHeld, reserve("a9", "i", "f", "run-b")).Hold.ID, hold.ID)
	again.must(wire.AnswerInFlight, reserve("b2", "j", "g", "run-a"))
	again.must(wire.AnswerOK, commit("b1", "j", "done"))
}

func TestAfterAnOutageLeasesGetOneMoreTerm(t *testing.T) {
	t.Run("of the only ledger", func(t *testing.T) {
		b := open(t)
		b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
		b.Close(t.Context())
		b.clock.advance(time.Hour)
		again := openOver(t, b.clock, b.kept)
		again.sweep(t.Context())
		again.pass(14 * time.Second)
		again.must(wire.AnswerInFlight, reserve("a2", "i", "f", "r"))
		again.pass(2 * time.Second)
		again.must(wire.AnswerInDoubt, reserve("a2", "i", "f", "r"))
	})
	t.Run("of the process, as when a machine sleeps", func(t *testing.T) {
		b := open(t)
		b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
		b.clock.advance(time.Hour)
		b.must(wire.AnswerInFlight, reserve("a2", "i", "f", "r"))
		b.pass(16 * time.Second)
		b.must(wire.AnswerInDoubt, reserve("a2", "i", "f", "r"))
	})
	t.Run("of the store", func(t *testing.T) {
		b := open(t)
		b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
		b.kept.setSwap(func(store.Write, func() (uint64, error)) (uint64, error) { return 0, store.ErrUnavailable })
		for range 10 { // it can be read all the while
			b.clock.advance(4 * time.Second)
			b.do(extend("a1", "i"))
			b.sweep(t.Context())
		}
		b.kept.setSwap(nil)
		b.must(wire.AnswerInFlight, reserve("a2", "i", "f", "r"))
		b.must(wire.AnswerOK, extend("a1", "i"))
	})
	t.Run("of all nodes, and every node heeds it", func(t *testing.T) {
		b := open(t, shared)
		b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
		b.Close(t.Context())
		b.clock.advance(time.Hour)
		one := openOver(t, b.clock, b.kept, shared)
		two := openOver(t, b.clock, b.kept, shared)
		two.must(wire.AnswerInFlight, reserve("a2", "i", "f", "r"))
		one.must(wire.AnswerInFlight, reserve("a3", "i", "f", "r"))
		if one.outage.last().IsZero() || !one.outage.last().Equal(two.outage.last()) {
			t.Errorf("resumed at %v and %v", one.outage.last(), two.outage.last())
		}
	})
	t.Run("but not where another node worked", func(t *testing.T) {
		one := open(t, shared)
		one.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
		one.pass(time.Minute)
		two := openOver(t, one.clock, one.kept, shared)
		two.must(wire.AnswerInDoubt, reserve("a2", "i", "f", "r"))
	})
}

func TestALedgerDoesNotStartWithoutItsStore(t *testing.T) {
	kept := &watched{Store: open(t).kept.Store}
	kept.Store.Close()
	if _, err := New(Options{Store: kept}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestAWriteThatHappensLateIsNotTakenForAnother(t *testing.T) {
	// The write is reported as failed, is done just before the next one, and the next one is decided otherwise because
	// time has passed: the verdict must be that of the write that happened.
	b := open(t)
	committed(b, "first")
	late := faulty.New(b.kept.Store)
	b.kept.Store = late
	late.Follow(faulty.Script(faulty.Late))
	var once sync.Once
	b.kept.setSwap(func(_ store.Write, swap func() (uint64, error)) (uint64, error) {
		v, err := swap()
		once.Do(func() { b.clock.advance(6 * time.Second) }) // over the window
		return v, err
	})
	a := b.must(wire.AnswerReplay, reserve("a2", "i", "f", "run-b"))
	b.same("replayed", a.Result, reply(201, "first"))
	b.must(wire.AnswerReplay, reserve("a3", "i", "f", "run-b"))
	if list, err := b.Holds(t.Context(), 10); err != nil || len(list) != 0 {
		t.Errorf("holds: %+v, %v", list, err)
	}
}

func TestWhatMayHaveHappenedIsNotRefused(t *testing.T) {
	t.Run("where the next try finds the queue full", func(t *testing.T) {
		b := open(t)
		tries := 0
		b.kept.setSwap(func(store.Write, func() (uint64, error)) (uint64, error) {
			if tries++; tries == 1 {
				return 0, store.ErrUnavailable
			}
			return 0, store.ErrOverloaded
		})
		if a := b.must(wire.AnswerError, reserve("a1", "i", "f", "r")); a.Code != wire.CodeUnavailable {
			t.Errorf("got %s, want %s: the first try may have happened", show(a), wire.CodeUnavailable)
		}
	})
	t.Run("where the time is over by now", func(t *testing.T) {
		b := open(t)
		var land func() (uint64, error)
		b.kept.setSwap(func(_ store.Write, swap func() (uint64, error)) (uint64, error) {
			land = swap
			b.clock.advance(5 * time.Second)
			return 0, store.ErrUnavailable
		})
		op := reserve("a1", "i", "f", "r")
		op.NotAfter = b.clock.now().Add(4 * time.Second).UnixMilli()
		if a := b.must(wire.AnswerError, op); a.Code != wire.CodeUnavailable {
			t.Errorf("got %s, want %s: the reserve may be granted yet", show(a), wire.CodeUnavailable)
		}
		b.kept.setSwap(nil)
		if _, err := land(); err != nil {
			t.Fatalf("the write, late: %v", err)
		}
		b.same("who was granted", b.must(wire.AnswerInFlight, reserve("a2", "i", "f", "r")).Attempt, "a1")
	})
}

// halfFaulty makes half of all writes fail at random: lost, done, or done just before some later write.
func halfFaulty(random *rand.Rand) func(store.Write, func() (uint64, error)) (uint64, error) {
	var mu sync.Mutex
	var late []func()
	return func(_ store.Write, swap func() (uint64, error)) (uint64, error) {
		mu.Lock()
		n := random.IntN(6)
		due := late
		late = nil
		if n == 0 {
			late = append(late, func() { _, _ = swap() })
		}
		mu.Unlock()
		for _, land := range due {
			land()
		}
		switch n {
		case 0, 1:
			return 0, store.ErrUnavailable
		case 2:
			if _, err := swap(); err != nil {
				return 0, err
			}
			return 0, store.ErrUnavailable
		}
		return swap()
	}
}

func TestUnderFaultsNothingExecutesTwice(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	one, other := two(t)
	fault := halfFaulty(rand.New(rand.NewPCG(seed, 1)))
	one.kept.setSwap(fault)
	other.kept.setSwap(fault)

	const calls, callers = 30, 6
	var mu sync.Mutex
	executed, failed := map[string]int{}, map[string]int{}
	results := map[string]map[string]bool{} // of a call: the bodies that callers were given
	heard := func(call string, a wire.Answer) bool {
		if a.Result == nil {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		if results[call] == nil {
			results[call] = map[string]bool{}
		}
		results[call][string(a.Result.Body)] = true
		return true
	}
	var all sync.WaitGroup
	for n := range calls {
		for c := range callers {
			b, call, r := one, fmt.Sprint("call", n), rand.New(rand.NewPCG(seed, uint64(n*100+c)))
			if c%2 == 1 {
				b = other
			}
			// insist sends an operation until it is acknowledged.
			insist := func(op wire.Op) wire.Answer {
				for range 1000 {
					if a := b.do(op); a.Kind != wire.AnswerError {
						return a
					}
				}
				t.Errorf("%s %s: never acknowledged", op.Kind, op.Attempt)
				return wire.Answer{}
			}
			all.Go(func() {
				for try := range 1000 {
					id := fmt.Sprintf("%s-%d-%d", call, c, try)
					a := b.do(reserve(id, call, call, fmt.Sprint("run", c)))
					switch a.Kind {
					case wire.AnswerError: // never executed, so it says so, as the filter does
						insist(fail(id, call, wire.ClassNotSent, nil))
					case wire.AnswerExecute:
						mu.Lock()
						executed[call]++
						mu.Unlock()
						if r.IntN(3) == 0 {
							mu.Lock()
							failed[call]++
							mu.Unlock()
							insist(fail(id, call, wire.ClassDefinite, reply(500, "no")))
							continue
						}
						if a := insist(commit(id, call, id)); a.Kind != wire.AnswerOK {
							t.Errorf("the commit of %s: %s", id, show(a))
						}
					case wire.AnswerInFlight:
						if a := b.do(await(a.Attempt, call, time.Millisecond)); a.Kind == wire.AnswerResult && heard(call, a) {
							return
						}
					case wire.AnswerReplay:
						if heard(call, a) {
							return
						}
					default:
						t.Errorf("%s: %s", id, show(a))
						return
					}
				}
				t.Errorf("%s, caller %d: never got the result", call, c)
			})
		}
	}
	all.Wait()
	for n := range calls {
		call := fmt.Sprint("call", n)
		if executed[call] != failed[call]+1 || len(results[call]) != 1 {
			t.Errorf("%s was executed %d times after %d failures, with the results %v", call, executed[call], failed[call], results[call])
		}
	}
	one.same("fenced commits", one.Counters()["fenced_commits"]+other.Counters()["fenced_commits"], int64(0))
}
