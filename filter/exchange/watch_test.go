package exchange

import (
	"testing"
	"time"

	"idem/ledgerd/wire"
)

func TestOneAwaitServesAllWhoWaitForAnAttemptElsewhere(t *testing.T) {
	b := newBench(t)
	var callers []*caller
	for _, run := range []string{"a", "b", "c"} {
		c := b.arrive(run)
		b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: "elsewhere", Since: 7})
		callers = append(callers, c)
	}
	await := b.ledger(wire.OpAwait)
	if op := await.ops(t)[0]; op.Attempt != "elsewhere" || op.WaitMS != 30_000 || await.Timeout != 35*time.Second {
		t.Fatalf("awaited %+v with timeout %s", op, await.Timeout)
	}
	await.answer(wire.Answer{Kind: wire.AnswerResult, Attempt: "elsewhere", Result: &wire.Result{Status: 200, Body: []byte("1")}})
	for _, c := range callers {
		b.told(c, 200, "coalesced", "")
	}
	if !b.worker.Idle() {
		t.Error("the worker still has something under way")
	}
}

func TestWaitElsewhereEndsAsTheAwaitSays(t *testing.T) {
	for _, tc := range []struct {
		name          string
		answer        wire.Answer
		status        int
		outcome, code string
	}{
		{"failed", wire.Answer{Kind: wire.AnswerFailed, Class: wire.ClassDefinite, Result: &wire.Result{Status: 500}}, 500, "failed", ""},
		{"not sent", wire.Answer{Kind: wire.AnswerFailed, Class: wire.ClassNotSent}, 502, "not_sent", "not_sent"},
		{"in doubt", wire.Answer{Kind: wire.AnswerInDoubt}, 504, "in_doubt", "in_doubt"},
		{"no result", wire.Answer{Kind: wire.AnswerResult, Missing: wire.MissingTooLarge}, 409, "refused", "result_unavailable"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			c := b.arrive("a")
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: "elsewhere"})
			b.ledger(wire.OpAwait).answer(tc.answer)
			b.told(c, tc.status, tc.outcome, tc.code)
		})
	}
}

func TestWaitForAnAttemptThatIsGoneReservesAnew(t *testing.T) {
	b := newBench(t)
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: "elsewhere"})
	b.ledger(wire.OpAwait).answer(wire.Answer{Kind: wire.AnswerGone})
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	b.tool()
}

func TestWaitGoesOnWhileTheLedgerIsAwayAndEndsInItsBound(t *testing.T) {
	b := newBench(t)
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: "elsewhere"})
	b.ledger(wire.OpAwait).reply(HTTPReply{})
	b.pass(time.Second)
	b.ledger(wire.OpAwait).reply(HTTPReply{})
	b.pass(29 * time.Second)
	b.told(c, 503, "unavailable", "ledger_unavailable")
}

func TestHoldWaitKeepsTheCallerUntilAPersonAnswers(t *testing.T) {
	b := newBench(t)
	b.rule.HoldWait = 10 * time.Second
	held := wire.Answer{Kind: wire.AnswerHeld, Hold: &wire.Hold{ID: "h-1", Reason: "new_run"}}
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(held)
	await := b.ledger(wire.OpAwait)
	if op := await.ops(t)[0]; op.Hold != "h-1" || op.Attempt != "" || op.WaitMS != 10_000 {
		t.Fatalf("awaited %+v", op)
	}
	await.answer(wire.Answer{Kind: wire.AnswerAnswered})
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000, ApprovedBy: "h-1"})
	b.tool()
}

func TestHoldWaitEndsInHeld(t *testing.T) {
	b := newBench(t)
	b.rule.HoldWait = 2 * time.Second
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerHeld, Hold: &wire.Hold{ID: "h-1", Reason: "new_run"}})
	b.pass(2 * time.Second)
	b.told(c, 409, "held", "held")
}

func TestHeldCallerMayExecuteForAsLongAsAnyOther(t *testing.T) {
	b := newBench(t)
	b.rule.HoldWait = 5 * time.Minute
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerHeld, Hold: &wire.Hold{ID: "h-1", Reason: "new_run"}})
	for range 9 { // an await waits 30 s at most
		b.pass(30 * time.Second)
		b.ledger(wire.OpAwait).answer(wire.Answer{Kind: wire.AnswerHeld, Hold: &wire.Hold{ID: "h-1", Reason: "new_run"}})
	}
	b.pass(25 * time.Second)
	b.ledger(wire.OpAwait).answer(wire.Answer{Kind: wire.AnswerAnswered})
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	for range 10 {
		b.pass(5 * time.Second)
		b.ledger(wire.OpExtend).answer(wire.Answer{Kind: wire.AnswerOK})
	}
	b.waits(c)
	b.tool().reply(byTool(200, "1"))
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
	b.told(c, 200, "executed", "")
}

func TestOnlyACallThatWasHeldHasTheHoldsWait(t *testing.T) {
	b := newBench(t)
	b.rule.HoldWait = 10 * time.Minute
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: "elsewhere", Since: 1})
	b.pass(30 * time.Second)
	b.told(c, 409, "in_flight", "in_flight")
}

func TestLargeResultIsFetchedOnceForAllWhoWaited(t *testing.T) {
	for name, tc := range map[string]struct {
		ended   wire.Answer
		outcome string
	}{
		"a result":  {wire.Answer{Kind: wire.AnswerResult, Attempt: "elsewhere", Fetch: true}, "coalesced"},
		"a failure": {wire.Answer{Kind: wire.AnswerFailed, Class: wire.ClassDefinite, Fetch: true}, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			var callers []*caller
			for _, run := range []string{"a", "b", "c"} {
				callers = append(callers, b.arrive(run))
				b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: "elsewhere"})
			}
			callers[2].call.Leave()
			b.ledger(wire.OpAwait).answer(tc.ended)
			fetch := b.ledger(wire.OpFetch) // the only one
			if op := fetch.ops(t)[0]; op.Attempt != "elsewhere" || op.Intent != intent1 {
				t.Errorf("fetched %+v", op)
			}
			fetch.answer(wire.Answer{Kind: wire.AnswerResult, Result: &wire.Result{Status: 500, Body: []byte("large")}})
			for _, c := range callers[:2] {
				if r := b.told(c, 500, tc.outcome, ""); string(r.Body) != "large" {
					t.Errorf("the waiter got %s", r.Body)
				}
			}
			b.waits(callers[2])
		})
	}
}

func TestLedgerThatHasNoPlaceForAnotherWaitSaysSo(t *testing.T) {
	b := newBench(t)
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: "elsewhere"})
	b.ledger(wire.OpAwait).answer(wire.Answer{Kind: wire.AnswerError, Code: wire.CodeOverloaded, Detail: "full", RetryAfterMS: 3000})
	if r := b.told(c, 429, "refused", "overloaded"); header(r.Headers, "retry-after") != "3" {
		t.Errorf("retry-after is %q", header(r.Headers, "retry-after"))
	}
}
