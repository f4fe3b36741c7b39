package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

func TestACallExecutesOnceAndThenReplays(t *testing.T) {
	b := open(t)
	granted := b.must(wire.AnswerExecute, reserve("a1", "i", "f", "run-a"))
	if granted.LeaseMS != 15000 || granted.Attempt != "a1" || granted.ApprovedBy != "" {
		t.Errorf("got %s", show(granted))
	}
	joined := b.must(wire.AnswerInFlight, reserve("a2", "i", "f", "run-b"))
	if joined.Attempt != "a1" || joined.Since != b.clock.now().UnixMilli() {
		t.Errorf("got %s", show(joined))
	}
	b.must(wire.AnswerOK, extend("a1", "i"))
	b.must(wire.AnswerOK, commit("a1", "i", "done"))
	b.must(wire.AnswerOK, commit("a1", "i", "done"))
	b.must(wire.AnswerFenced, commit("a1", "i", "something else"))
	b.must(wire.AnswerFenced, extend("a1", "i"))
	for _, run := range []string{"run-a", "run-b", "run-c"} {
		replay := b.must(wire.AnswerReplay, reserve("a3-"+run, "i", "f", run))
		b.same("replayed to "+run, replay.Result, reply(201, "done"))
		b.same("its attempt", replay.Attempt, "a1")
	}
	b.counted(map[string]int64{"arrivals": 5, "granted": 1, "coalesced": 1, "replays": 3, "executed": 1, "extends": 1, "fenced_commits": 1})
}

func TestTheSameAttemptGetsTheSameGrant(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "run-a"))
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "run-a"))
	b.must(wire.AnswerOK, fail("a1", "i", wire.ClassNotSent, nil))
	if a := b.must(wire.AnswerRefused, reserve("a1", "i", "f", "run-a")); a.Code != wire.CodeEnded {
		t.Errorf("got %s", show(a))
	}
}

func TestAReserveThatComesTooLateIsRefused(t *testing.T) {
	b := open(t)
	late := func(op *wire.Op) { op.NotAfter = b.clock.now().UnixMilli() - 1 }
	if a := b.must(wire.AnswerRefused, reserve("a1", "i", "f", "r", late)); a.Code != wire.CodeLate {
		t.Errorf("got %s", show(a))
	}
	b.same("writes", b.kept.swaps.Load(), int64(0))
	intime := func(op *wire.Op) { op.NotAfter = b.clock.now().UnixMilli() }
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r", intime))
}

func TestAFailureReachesAllWhoWaitAndTheNextExecutes(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "run-a"))
	got := make(chan wire.Answer, 3)
	for range 3 {
		go func() { got <- b.do(await("a1", "i", time.Hour)) }()
	}
	b.waiting("i", 3)
	b.must(wire.AnswerOK, fail("a1", "i", wire.ClassDefinite, reply(422, "no")))
	for range 3 {
		a := <-got
		if a.Kind != wire.AnswerFailed || a.Class != wire.ClassDefinite {
			t.Fatalf("got %s", show(a))
		}
		b.same("the tool's words", a.Result, reply(422, "no"))
	}
	a := b.must(wire.AnswerFailed, await("a1", "i", 0))
	b.same("the tool's words to who asks later", a.Result, reply(422, "no"))
	b.must(wire.AnswerExecute, reserve("a2", "i", "f", "run-b"))
	b.must(wire.AnswerOK, fail("a2", "i", wire.ClassNotSent, nil))
	if a := b.must(wire.AnswerFailed, await("a2", "i", 0)); a.Class != wire.ClassNotSent || a.Result != nil {
		t.Errorf("got %s", show(a))
	}
	b.counted(map[string]int64{"failed": 1, "not_sent": 1, "executed": 0, "granted": 2})
}

func TestAFailBeforeItsReserveKeepsItFromExecuting(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerOK, fail("a1", "i", wire.ClassNotSent, nil))
	if a := b.must(wire.AnswerRefused, reserve("a1", "i", "f", "r")); a.Code != wire.CodeEnded {
		t.Errorf("got %s", show(a))
	}
	b.must(wire.AnswerExecute, reserve("a2", "i", "f", "r"))
}

func TestAnUnknownEndIsADoubtThatALateCommitSettles(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	b.must(wire.AnswerOK, fail("a1", "i", wire.ClassUnknown, nil))
	for _, op := range []wire.Op{reserve("a2", "i", "f", "r"), await("a1", "i", time.Hour)} {
		if a := b.must(wire.AnswerInDoubt, op); a.Attempt != "a1" || a.Since != b.clock.now().UnixMilli() {
			t.Errorf("%s: got %s", op.Kind, show(a))
		}
	}
	b.must(wire.AnswerOK, commit("a1", "i", "after all"))
	b.same("replayed", b.must(wire.AnswerReplay, reserve("a3", "i", "f", "r")).Result, reply(201, "after all"))
}

func TestFiveHundredConcurrentCallsExecuteOnce(t *testing.T) {
	for _, how := range []struct {
		name   string
		change []func(*Options)
	}{{"sole owner", nil}, {"one of several", []func(*Options){shared}}} {
		t.Run(how.name, func(t *testing.T) {
			b := open(t, how.change...)
			const callers = 500
			answers := make([]wire.Answer, callers)
			var all sync.WaitGroup
			for i := range callers {
				all.Go(func() {
					id := fmt.Sprintf("a%d", i)
					a := b.do(reserve(id, "i", "f", fmt.Sprintf("run-%d", i)))
					switch a.Kind {
					case wire.AnswerExecute:
						b.waiting("i", callers-1)
						if c := b.do(commit(id, "i", "done")); c.Kind != wire.AnswerOK {
							a = c
						}
					case wire.AnswerInFlight:
						a = b.do(await(a.Attempt, "i", time.Hour))
					}
					answers[i] = a
				})
			}
			all.Wait()
			kinds := map[wire.AnswerKind]int{}
			for _, a := range answers {
				kinds[a.Kind]++
				if a.Kind == wire.AnswerResult && string(a.Result.Body) != "done" {
					t.Fatalf("got %s", show(a))
				}
			}
			b.same("answers", kinds, map[wire.AnswerKind]int{wire.AnswerExecute: 1, wire.AnswerResult: callers - 1})
			b.same("conflicts with itself", b.kept.conflicts.Load(), int64(0))
			b.counted(map[string]int64{"arrivals": callers, "granted": 1, "coalesced": callers - 1, "executed": 1})
		})
	}
}

func TestWhatWaitsForARecordIsWrittenTogether(t *testing.T) {
	b := open(t)
	started, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	b.kept.setSwap(func(_ store.Write, swap func() (uint64, error)) (uint64, error) {
		once.Do(func() { close(started); <-release })
		return swap()
	})
	var all sync.WaitGroup
	all.Go(func() { b.do(reserve("a0", "i", "f", "run-0")) })
	<-started
	for i := range 100 {
		all.Go(func() { b.do(reserve(fmt.Sprint("b", i), "i", "f", fmt.Sprint("run", i))) })
	}
	soon(t, "100 wait in the queue", func() bool { return b.queued.Load() == 101 })
	close(release)
	all.Wait()
	b.same("writes", b.kept.swaps.Load(), int64(2))
}

func TestAnswersStandInTheOrderOfTheirOperations(t *testing.T) {
	b := open(t)
	var ops []wire.Op
	for i := range 64 {
		ops = append(ops, reserve(fmt.Sprint("a", i), fmt.Sprint("i", i%8), fmt.Sprint("f", i), fmt.Sprint("run", i)))
	}
	ops = append(ops, wire.Op{Kind: "dance"}, await("nobody", "i1", time.Hour), wire.Op{Kind: wire.OpCommit, Intent: hash("i")})
	answers := b.Do(t.Context(), ops)
	for i := range 64 {
		want := wire.AnswerHeld
		if i < 8 {
			want = wire.AnswerExecute
		}
		if answers[i].Kind != want || want == wire.AnswerExecute && answers[i].Attempt != ops[i].Attempt {
			t.Errorf("answer %d: got %s, want %s", i, show(answers[i]), want)
		}
	}
	if answers[64].Code != wire.CodeInvalid || answers[64].Field != "op" || answers[65].Kind != wire.AnswerGone || answers[66].Field != "status" {
		t.Errorf("got %s%s%s", show(answers[64]), show(answers[65]), show(answers[66]))
	}
	if got := b.Do(t.Context(), nil); len(got) != 0 {
		t.Errorf("an empty batch has %d answers", len(got))
	}
}

func TestAWaitEnds(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	t.Run("when its time is over", func(t *testing.T) {
		if a := b.must(wire.AnswerInFlight, await("a1", "i", 0)); a.Attempt != "a1" || a.Since == 0 {
			t.Errorf("got %s", show(a))
		}
	})
	t.Run("when its caller goes", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan wire.Answer)
		go func() { got <- b.Do(ctx, []wire.Op{await("a1", "i", time.Hour)})[0] }()
		b.waiting("i", 1)
		cancel()
		if a := <-got; a.Code != wire.CodeUnavailable {
			t.Errorf("got %s", show(a))
		}
		b.waiting("i", 0)
	})
	t.Run("when the lease does", func(t *testing.T) {
		got := make(chan wire.Answer)
		go func() { got <- b.do(await("a1", "i", time.Hour)) }()
		b.waiting("i", 1)
		b.pass(16 * time.Second)
		if a := <-got; a.Kind != wire.AnswerInDoubt {
			t.Errorf("got %s", show(a))
		}
	})
	b.same("records somebody waits for", len(b.waiters.keys()), 0)
}

func TestASignOfLifeProlongsTheLease(t *testing.T) {
	b := open(t)
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r"))
	for range 6 {
		b.pass(12 * time.Second)
		b.must(wire.AnswerOK, extend("a1", "i"))
	}
	b.must(wire.AnswerInFlight, reserve("a2", "i", "f", "r"))
	b.pass(16 * time.Second)
	b.must(wire.AnswerInDoubt, reserve("a2", "i", "f", "r"))
	b.counted(map[string]int64{"leases_expired": 1, "extends": 6})
}

func TestAfterRetentionNothingIsLeft(t *testing.T) {
	b := open(t)
	short := func(op *wire.Op) { op.Rule.RetentionMS = 60_000 }
	b.must(wire.AnswerExecute, reserve("a1", "i", "f", "r", short))
	b.must(wire.AnswerOK, commit("a1", "i", "done"))
	b.must(wire.AnswerExecute, reserve("b1", "j", "g", "r", short))
	b.must(wire.AnswerOK, fail("b1", "j", wire.ClassDefinite, reply(500, "no")))
	b.pass(3 * time.Minute)
	records, err := b.kept.Newest(t.Context(), 10)
	if err != nil || len(records) != 0 {
		t.Errorf("%d records are left, %v", len(records), err)
	}
	for _, attempt := range []string{"a1", "b1"} {
		if _, err := b.stored(t.Context(), hash(map[string]string{"a1": "i", "b1": "j"}[attempt]), attempt); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the result of %s is left: %v", attempt, err)
		}
	}
	b.must(wire.AnswerExecute, reserve("a2", "i", "f", "r"))
}
