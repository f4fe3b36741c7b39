package exchange

import (
	"encoding/json"
	"testing"
	"time"

	"idem/ledgerd/wire"
)

func TestReserveSaysAllThatTheLedgerDecidesBy(t *testing.T) {
	b := newBench(t)
	b.arrive("a")
	op := b.ledger(wire.OpReserve).ops(t)[0]
	if op.Fingerprint != fingerprint1 || op.Intent != intent1 || op.Run != "a" || op.Tool != "refund" {
		t.Errorf("reserved %+v", op)
	}
	if string(op.Action) != `{"method":"POST","path":"/api/invoke?x=1","args":{"amount":"$12.00"}}` {
		t.Errorf("people are shown %s", op.Action)
	}
	if want := int64(1_000_000 + 5_000); op.NotAfter != want {
		t.Errorf("not_after is %d, want the ledger's clock plus the ledger timeout, %d", op.NotAfter, want)
	}
}

// TestVerdictsAsCallersAreTold is the table of refusals: each verdict, its status and its code.
func TestVerdictsAsCallersAreTold(t *testing.T) {
	hold := &wire.Hold{ID: "h-1", Reason: "new_run", Of: "attempt-0", Version: 1}
	for _, tc := range []struct {
		name          string
		answer        wire.Answer
		status        int
		outcome, code string
		retryable     bool
	}{
		{"replay", wire.Answer{Kind: wire.AnswerReplay, Result: &wire.Result{Status: 201, Body: []byte("x")}}, 201, "replay", "", false},
		{"replay without result", wire.Answer{Kind: wire.AnswerReplay, Missing: wire.MissingResolved}, 409, "refused", "result_unavailable", false},
		{"held", wire.Answer{Kind: wire.AnswerHeld, Hold: hold}, 409, "held", "held", false},
		{"in doubt", wire.Answer{Kind: wire.AnswerInDoubt, Attempt: "x", Since: 5}, 409, "in_doubt", "in_doubt", false},
		{"denied", wire.Answer{Kind: wire.AnswerDenied, Hold: hold}, 403, "denied", "denied", false},
		{"overloaded", wire.Answer{Kind: wire.AnswerRefused, Code: wire.CodeOverloaded, Detail: "full", RetryAfterMS: 2000}, 429, "refused", "overloaded", true},
		{"an error of the store", wire.Answer{Kind: wire.AnswerError, Code: wire.CodeUnavailable}, 503, "unavailable", "ledger_unavailable", true},
		{"an operation that the ledger does not take", wire.Answer{Kind: wire.AnswerError, Code: wire.CodeInvalid, Field: "run"}, 503, "unavailable", "ledger_unavailable", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			c := b.arrive("a")
			b.ledger(wire.OpReserve).answer(tc.answer)
			r := b.told(c, tc.status, tc.outcome, tc.code)
			if b.toolCalls() != 0 {
				t.Error("the tool was called")
			}
			if tc.code == "" {
				return
			}
			var p struct {
				Type, Title, Detail, Code, Outcome, Fingerprint string
				Status                                          int
				Retryable                                       bool
				Hold                                            *struct{ ID, Reason, Of string }
			}
			if err := json.Unmarshal(r.Body, &p); err != nil {
				t.Fatalf("the problem is no JSON: %v: %s", err, r.Body)
			}
			if p.Type != "urn:idem:problem:"+tc.code || p.Status != tc.status || p.Code != tc.code || p.Outcome != tc.outcome ||
				p.Retryable != tc.retryable || p.Fingerprint != fingerprint1 || p.Title == "" || p.Detail == "" {
				t.Errorf("the problem is %s", r.Body)
			}
			if (tc.answer.Hold != nil) != (p.Hold != nil && p.Hold.ID == "h-1" && p.Hold.Reason == "new_run" && p.Hold.Of == "attempt-0") {
				t.Errorf("the problem's hold is %+v", p.Hold)
			}
			if header(r.Headers, "content-type") != "application/problem+json" {
				t.Errorf("the headers are %v", r.Headers)
			}
		})
	}
}

func TestNoExecutionWithoutALedger(t *testing.T) {
	b := newBench(t)
	c := b.arrive("a")
	b.ledger(wire.OpReserve).reply(HTTPReply{Status: 503})
	r := b.told(c, 503, "unavailable", "ledger_unavailable")
	if header(r.Headers, "retry-after") != "1" {
		t.Error("retry-after is missing")
	}
	if b.toolCalls() != 0 {
		t.Error("the tool was called")
	}
	// The reserve may have arrived all the same: the ledger must hear that it will never be executed.
	b.pass(TickPeriod)
	b.ledger(wire.OpFail).reply(HTTPReply{})
	b.pass(time.Second)
	fail := b.ledger(wire.OpFail)
	if op := fail.ops(t)[0]; op.Attempt != c.call.attempt || op.Class != wire.ClassNotSent {
		t.Errorf("the ledger is told %+v", op)
	}
	fail.answer(wire.Answer{Kind: wire.AnswerOK})
	if !b.worker.Idle() {
		t.Error("the worker still has something under way")
	}
}

func TestNoExecutionWhereTheLedgerCannotBeAskedForTheTime(t *testing.T) {
	b := newBench(t)
	b.host.refuse = func(HTTPCall) bool { return true }
	c := b.arrive("a")
	b.told(c, 503, "unavailable", "ledger_unavailable")
}

func TestGrantThatComesLateIsNotExecuted(t *testing.T) {
	b := newBench(t)
	c := b.arrive("a")
	b.host.now += 7500 * time.Millisecond
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	if b.toolCalls() != 0 {
		t.Fatal("the tool was called after half the lease")
	}
	b.told(c, 503, "unavailable", "ledger_unavailable")
	b.pass(TickPeriod)
	if op := b.ledger(wire.OpFail).ops(t)[0]; op.Class != wire.ClassNotSent {
		t.Errorf("the ledger is told %+v", op)
	}
}

func TestReserveThatCameTooLateIsMadeAnew(t *testing.T) {
	b := newBench(t)
	c := b.arrive("a")
	first := c.call.attempt
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerRefused, Code: wire.CodeLate})
	if op := b.ledger(wire.OpReserve).ops(t)[0]; op.Attempt == first {
		t.Error("the same attempt was reserved again")
	}
	b.waits(c)
}

func TestAFaultOfTheFilterIsAnUnavailableLedger(t *testing.T) {
	b := newBench(t)
	r := b.worker.Fault()
	if r.Status != 503 || r.Code != "ledger_unavailable" || header(r.Headers, "retry-after") != "1" || b.host.counters["calls.unavailable"] != 1 {
		t.Errorf("the caller is told %d %s; counted %v", r.Status, r.Body, b.host.counters)
	}
}

func TestRecordOfAFormerConfigurationIsNamedInWhatFollows(t *testing.T) {
	const former = "3333333333333333333333333333333333333333333333333333333333333333"
	b := newBench(t)
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Intent: former, Attempt: c.call.attempt, LeaseMS: 15000})
	b.pass(5 * time.Second)
	extend := b.ledger(wire.OpExtend)
	if got := extend.ops(t)[0].Intent; got != former {
		t.Errorf("extended in the record %s", got)
	}
	extend.answer(wire.Answer{Kind: wire.AnswerOK})
	b.tool().reply(byTool(200, "1"))
	if got := b.ledger(wire.OpCommit).ops(t)[0].Intent; got != former {
		t.Errorf("committed in the record %s", got)
	}
	w := b.arrive("b")
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Intent: former, Attempt: "elsewhere"})
	if got := b.ledger(wire.OpAwait).ops(t)[0].Intent; got != former {
		t.Errorf("awaited in the record %s", got)
	}
	b.waits(w)
}

func TestReserveThatWasNeverSentIsNotTakenBack(t *testing.T) {
	b := newBench(t)
	b.arrive("first") // whose batch is stuck
	c := b.arrive("a")
	b.pass(5 * time.Second)
	b.told(c, 503, "unavailable", "ledger_unavailable")
	for _, s := range b.worker.settling {
		if s.op.Attempt == c.call.attempt {
			t.Error("the ledger is to be told of an attempt that it has never heard of")
		}
	}
}

func TestCommitIsRepeatedUntilTheLedgerHasRoomForIt(t *testing.T) {
	b := newBench(t)
	c := b.execute("a")
	b.tool().reply(byTool(200, "1"))
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerError, Code: wire.CodeOverloaded})
	b.pass(time.Second)
	b.waits(c)
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
	b.told(c, 200, "executed", "")
}
