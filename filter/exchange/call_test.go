package exchange

import (
	"encoding/json"
	"testing"
	"time"

	"idem/canon"
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

func TestNotAfterFollowsTheTimeSinceTheLedgerWasHeard(t *testing.T) {
	b := newBench(t)
	b.execute("a")
	b.host.now += 4 * time.Second
	b.arrive("b")
	if got, want := b.ledger(wire.OpReserve).ops(t)[0].NotAfter, int64(1_000_000+4_000+5_000); got != want {
		t.Errorf("not_after is %d, want %d", got, want)
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

func TestLargeReplayIsFetchedByACallOfItsOwn(t *testing.T) {
	b := newBench(t)
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerReplay, Attempt: "first", Fetch: true})
	b.ledger(wire.OpFetch).answer(wire.Answer{Kind: wire.AnswerResult, Result: &wire.Result{Status: 200, Body: []byte("large")}})
	if r := b.told(c, 200, "replay", ""); string(r.Body) != "large" {
		t.Errorf("replayed %s", r.Body)
	}
}

func TestAtMostOneBatchIsUnderWay(t *testing.T) {
	b := newBench(t)
	b.arrive("a")
	first := b.ledger(wire.OpReserve)
	b.arrive("b")
	b.arrive("c")
	if len(b.host.calls) != 1 {
		t.Fatalf("under way: %s", b.underWay())
	}
	first.answer(wire.Answer{Kind: wire.AnswerDenied})
	if ops := b.ledger(wire.OpReserve).ops(t); len(ops) != 2 || ops[0].Run != "b" || ops[1].Run != "c" {
		t.Errorf("the next batch holds %+v, want what came meanwhile, in order", ops)
	}
}

func TestBatchWhoseAnswersDoNotMatchIsLost(t *testing.T) {
	for name, body := range map[string]string{
		"one too many":  `{"answer":"execute","now":9,"attempt":"a","lease_ms":15000}` + "\n" + `{"answer":"ok","now":9}`,
		"none":          "",
		"half a line":   `{"answer":"execute","now":9,`,
		"no such word":  `{"answer":"execute!","now":9}`,
		"no clock":      `{"answer":"execute","attempt":"a","lease_ms":15000}`,
		"another thing": "<html>",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			c := b.arrive("a")
			b.ledger(wire.OpReserve).reply(HTTPReply{Status: 200, Body: []byte(body)})
			b.told(c, 503, "unavailable", "ledger_unavailable")
			if b.toolCalls() != 0 {
				t.Error("the tool was called")
			}
		})
	}
}

func TestEnvelopeSaysWhatHappenedAroundTheResult(t *testing.T) {
	for _, tc := range []struct{ name, body, kind, want string }{
		{"executed JSON", `{"id": 1}`, "executed", `{"outcome":"executed","fingerprint":"` + fingerprint1 + `","result":{"id": 1}}`},
		{"coalesced", `1`, "coalesced", `{"outcome":"coalesced","coalesced":true,"fingerprint":"` + fingerprint1 + `","result":1}`},
		{"replay", `1`, "replay", `{"outcome":"replay","replay":true,"fingerprint":"` + fingerprint1 + `","result":1}`},
		{"failed text", `no "such"`, "failed", `{"outcome":"failed","fingerprint":"` + fingerprint1 + `","result":"no \"such\""}`},
		{"empty", ``, "executed", `{"outcome":"executed","fingerprint":"` + fingerprint1 + `","result":""}`},
		{"binary", "\xff\x00", "executed", `{"outcome":"executed","fingerprint":"` + fingerprint1 + `","result_encoding":"base64","result":"/wA="}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			b.rule.Envelope = true
			c := b.arrive("a").call
			r := c.resultReply(wire.Result{Status: 201, Headers: [][2]string{{"content-type", "text/plain"}, {"location", "/1"}, {"etag", "x"}}, Body: []byte(tc.body)}, tc.kind)
			if string(r.Body) != tc.want {
				t.Errorf("got  %s\nwant %s", r.Body, tc.want)
			}
			if header(r.Headers, "content-type") != "application/json" || header(r.Headers, "location") != "/1" || header(r.Headers, "etag") != "" {
				t.Errorf("the headers are %v", r.Headers)
			}
		})
	}
}

func TestStatusWithoutABodyGetsNoEnvelope(t *testing.T) {
	b := newBench(t)
	b.rule.Envelope = true
	c := b.arrive("a").call
	for _, status := range []int{204, 205, 304} {
		r := c.resultReply(wire.Result{Status: status, Headers: [][2]string{{"etag", "x"}}}, outcomeReplay)
		if r.Status != status || len(r.Body) != 0 || header(r.Headers, headerOutcome) != "replay" || header(r.Headers, "etag") != "x" {
			t.Errorf("%d is replied as %+v: bytes after it would be taken for the next reply", status, r)
		}
	}
}

func TestUnreadableCallIsToldWhereItWentWrong(t *testing.T) {
	b := newBench(t)
	r := b.worker.Unreadable(&canon.Error{Code: "malformed_body", Pointer: "/args/x", Offset: 17, Detail: "the name x is there twice"}, canon.JSON, nil)
	var p struct {
		Code, Outcome, Pointer string
		Offset                 int64
		Fingerprint            *string
	}
	if err := json.Unmarshal(r.Body, &p); err != nil {
		t.Fatal(err)
	}
	if r.Status != 400 || p.Code != "malformed_body" || p.Outcome != "refused" || p.Pointer != "/args/x" || p.Offset != 17 || p.Fingerprint != nil {
		t.Errorf("the problem is %d %s", r.Status, r.Body)
	}
	if n := b.host.counters["calls.refused"]; n != 1 {
		t.Errorf("calls.refused is %d, want 1", n)
	}
}

func TestAFaultOfTheFilterIsAnUnavailableLedger(t *testing.T) {
	b := newBench(t)
	r := b.worker.Fault()
	if r.Status != 503 || r.Code != "ledger_unavailable" || header(r.Headers, "retry-after") != "1" || b.host.counters["calls.unavailable"] != 1 {
		t.Errorf("the caller is told %d %s; counted %v", r.Status, r.Body, b.host.counters)
	}
}

func TestLongOutageDoesNotGrowWithoutBound(t *testing.T) {
	b := newBench(t)
	b.execute("a") // so that the ledger's clock has been heard
	b.host.refuse = func(HTTPCall) bool { return true }
	for range maxSettling + 10 {
		c := &Call{Rule: b.rule, Action: canon.Action{Fingerprint: fingerprint1, Intent: intent1}, Caller: &caller{}}
		b.worker.Arrive(c)
		b.worker.Flush()
	}
	if len(b.worker.settling) != maxSettling || len(b.host.warnings) == 0 {
		t.Errorf("%d settlements wait, want %d, and a warning (%d)", len(b.worker.settling), maxSettling, len(b.host.warnings))
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
