package exchange

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/wire"
)

func TestExecutorIsToldOnceTheResultIsDurable(t *testing.T) {
	b := newBench(t)
	c := b.execute("a")
	b.tool().reply(byTool(201, `{"refund_id":"r-1"}`, [2]string{"location", "/refunds/1"}, [2]string{"etag", `"1"`},
		[2]string{"set-cookie", "s=1"}, [2]string{"x-envoy-upstream-service-time", "3"}, [2]string{"x-idem-outcome", "forged"}))
	b.waits(c)
	commit := b.ledger(wire.OpCommit)
	stored := commit.ops(t)[0].Result
	for _, h := range stored.Headers {
		if h[0] == "set-cookie" || h[0] == "date" || strings.HasPrefix(h[0], "x-") {
			t.Errorf("the header %s is stored", h[0])
		}
	}
	commit.answer(wire.Answer{Kind: wire.AnswerOK})
	r := b.told(c, 201, "executed", "")
	want := map[string]string{"location": "/refunds/1", "etag": `"1"`, "set-cookie": "s=1", "x-idem-outcome": "executed",
		"x-idem-fingerprint": fingerprint1, "x-envoy-upstream-service-time": "", headerReplayed: ""}
	for name, value := range want {
		if got := header(r.Headers, name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	if string(r.Body) != `{"refund_id":"r-1"}` {
		t.Errorf("the body is %s", r.Body)
	}
	if !b.worker.Idle() {
		t.Error("the worker still has something under way")
	}
}

func TestToolGetsTheCallerRequestWithoutWhatIsNotItsOwn(t *testing.T) {
	b := newBench(t)
	b.execute("a")
	call := b.tool()
	want := [][2]string{{":method", "POST"}, {":path", "/api/invoke?x=1"}, {":authority", "tools.example"},
		{"content-type", "application/json"}, {"authorization", "Bearer a"}, {"traceparent", "00-1"}, {"accept-encoding", "identity"}}
	if len(call.Headers) != len(want) {
		t.Fatalf("the tool gets %v, want %v", call.Headers, want)
	}
	for i := range want {
		if call.Headers[i] != want[i] {
			t.Errorf("header %d is %v, want %v", i, call.Headers[i], want[i])
		}
	}
	if string(call.Body) != `{"amount":"$12.00"}` || call.Timeout != time.Minute {
		t.Errorf("the tool gets body %s and timeout %s", call.Body, call.Timeout)
	}
}

func TestWaitersInTheSameWorkerGetTheResult(t *testing.T) {
	b := newBench(t)
	c := b.execute("a")
	w := b.arrive("b")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: c.call.attempt, Since: 1})
	b.tool().reply(byTool(200, `"done"`))
	b.waits(w)
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
	b.told(c, 200, "executed", "")
	r := b.told(w, 200, "coalesced", "")
	if header(r.Headers, headerReplayed) != "true" || string(r.Body) != `"done"` {
		t.Errorf("the waiter got %+v", r)
	}
}

func TestFailureGoesToEveryoneWhoWaited(t *testing.T) {
	for _, tc := range []struct {
		name            string
		reply           HTTPReply
		class           wire.Class
		status          int
		outcome, code   string
		keepsToolsReply bool
	}{
		{"the tool's 500", byTool(500, "boom"), wire.ClassDefinite, 500, "failed", "", true},
		{"the tool's 404", byTool(404, "no"), wire.ClassDefinite, 404, "failed", "", true},
		{"connection refused", byProxy(503, "UF", "upstream_reset_before_response_started{connection_failure}", "1"), wire.ClassNotSent, 502, "not_sent", "not_sent", false},
		{"no healthy host", byProxy(503, "UH", "no_healthy_upstream", "-"), wire.ClassNotSent, 502, "not_sent", "not_sent", false},
		{"no route", byProxy(404, "NR", "route_not_found", "-"), wire.ClassNotSent, 502, "not_sent", "not_sent", false},
		{"reset after sending", byProxy(503, "UC", "upstream_reset_before_response_started{connection_termination}", "1"), wire.ClassUnknown, 504, "in_doubt", "in_doubt", false},
		{"a retry hides a reset", byProxy(503, "UF", "upstream_reset", "2"), wire.ClassUnknown, 504, "in_doubt", "in_doubt", false},
		{"a retry hides a reset behind a failure", after(2, byTool(422, "no")), wire.ClassUnknown, 504, "in_doubt", "in_doubt", false},
		{"refused stream", byProxy(503, "UR", "upstream_reset_before_response_started{remote_refused_stream_reset}", "1"), wire.ClassNotSent, 502, "not_sent", "not_sent", false},
		{"a stream that was reset otherwise", byProxy(503, "UR", "upstream_reset_before_response_started{remote_reset}", "1"), wire.ClassUnknown, 504, "in_doubt", "in_doubt", false},
		{"a stream that was refused after another attempt", byProxy(503, "UR", "upstream_reset_before_response_started{remote_refused_stream_reset}", "2"), wire.ClassUnknown, 504, "in_doubt", "in_doubt", false},
		{"one flag of two proves nothing", byProxy(503, "UF,URX", "upstream_reset", "1"), wire.ClassUnknown, 504, "in_doubt", "in_doubt", false},
		{"timeout", byProxy(504, "UT", "response_timeout", "1"), wire.ClassUnknown, 504, "in_doubt", "in_doubt", false},
		{"a gateway's word", byTool(502, "bad gateway"), wire.ClassUnknown, 504, "in_doubt", "in_doubt", false},
		{"cut short or reset", HTTPReply{}, wire.ClassUnknown, 504, "in_doubt", "in_doubt", false},
		{"a reply that nobody vouches for", HTTPReply{Status: 200, Headers: [][2]string{{":status", "200"}}}, wire.ClassUnknown, 504, "in_doubt", "in_doubt", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			c := b.execute("a")
			w := b.arrive("b")
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: c.call.attempt})
			b.tool().reply(tc.reply)
			fail := b.ledger(wire.OpFail)
			if op := fail.ops(t)[0]; op.Class != tc.class || (op.Result != nil) != tc.keepsToolsReply {
				t.Fatalf("the ledger is told %+v, want class %s", op, tc.class)
			}
			fail.answer(wire.Answer{Kind: wire.AnswerOK})
			for _, caller := range []*caller{c, w} {
				r := b.told(caller, tc.status, tc.outcome, tc.code)
				if tc.keepsToolsReply && string(r.Body) != string(tc.reply.Body) {
					t.Errorf("the caller got %s, want the tool's own %s", r.Body, tc.reply.Body)
				}
				if says := strings.Contains(string(r.Body), "no route"); says != (tc.name == "no route") {
					t.Errorf("the caller is told %s", r.Body)
				}
			}
		})
	}
}

// after is a reply that came at the proxy's nth attempt.
func after(n int, r HTTPReply) HTTPReply {
	for i := range r.Headers {
		if r.Headers[i][0] == headerAttempts {
			r.Headers[i][1] = strconv.Itoa(n)
		}
	}
	return r
}

func TestCallThatCouldNotBeMadeIsNotSent(t *testing.T) {
	b := newBench(t)
	c := b.arrive("a")
	b.host.refuse = func(call HTTPCall) bool { return call.Cluster == "idem-execute" }
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	b.ledger(wire.OpFail).answer(wire.Answer{Kind: wire.AnswerOK})
	b.told(c, 502, "not_sent", "not_sent")
}

func TestLeaseIsExtendedEveryThirdOfIt(t *testing.T) {
	b := newBench(t)
	c := b.execute("a")
	b.pass(5 * time.Second)
	extend := b.ledger(wire.OpExtend)
	if op := extend.ops(t)[0]; op.Attempt != c.call.attempt || op.Intent != intent1 {
		t.Fatalf("extended %+v", op)
	}
	extend.answer(wire.Answer{Kind: wire.AnswerOK})
	b.pass(4900 * time.Millisecond)
	if len(b.host.calls) != 1 {
		t.Fatalf("extended before the next third: %s", b.underWay())
	}
	b.pass(TickPeriod)
	b.ledger(wire.OpExtend)
}

func TestExecutionGoesOnWhenTheCallerLeaves(t *testing.T) {
	b := newBench(t)
	c := b.execute("a")
	c.call.Leave()
	b.tool().reply(byTool(200, `1`))
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
	b.waits(c)
	if !b.worker.Idle() {
		t.Error("the worker still has something under way")
	}
}

func TestCommitThatIsNotAcknowledgedIsInDoubtAndRepeated(t *testing.T) {
	b := newBench(t)
	c := b.execute("a")
	b.tool().reply(byTool(200, `1`))
	b.ledger(wire.OpCommit).reply(HTTPReply{Status: 503})
	b.pass(200 * time.Millisecond)
	b.ledger(wire.OpCommit).reply(HTTPReply{})
	b.pass(time.Second)
	again := b.ledger(wire.OpCommit)
	b.pass(5 * time.Second)
	r := b.told(c, 200, "in_doubt", "")
	if header(r.Headers, headerCommitted) != "false" || string(r.Body) != "1" {
		t.Errorf("the executor got %+v, want the tool's reply with x-idem-committed: false", r)
	}
	again.answer(wire.Answer{Kind: wire.AnswerOK})
	b.one(c)
	for _, call := range b.host.calls {
		call.answer(wire.Answer{Kind: wire.AnswerFenced}) // extends
	}
	if !b.worker.Idle() {
		t.Errorf("the worker still has something under way: %s", b.underWay())
	}
}

func TestFencedCommitIsInDoubtAndWaitersAskAgain(t *testing.T) {
	b := newBench(t)
	c := b.execute("a")
	w := b.arrive("b")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: c.call.attempt})
	b.tool().reply(byTool(200, `1`))
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerFenced})
	r := b.told(c, 200, "in_doubt", "")
	if header(r.Headers, headerCommitted) != "false" {
		t.Error("x-idem-committed: false is missing")
	}
	b.waits(w)
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerReplay, Attempt: "other", Result: &wire.Result{Status: 200, Body: []byte("2")}})
	b.told(w, 200, "replay", "")
}

func TestResultOverTheLimitIsNotStored(t *testing.T) {
	b := newBench(t)
	b.rule.MaxResultBytes = 3
	c := b.execute("a")
	w := b.arrive("b")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: c.call.attempt})
	b.tool().reply(byTool(200, `"large"`))
	commit := b.ledger(wire.OpCommit)
	if op := commit.ops(t)[0]; op.Missing != wire.MissingTooLarge || len(op.Result.Body) != 0 {
		t.Fatalf("committed %+v", op)
	}
	commit.answer(wire.Answer{Kind: wire.AnswerOK})
	if r := b.told(c, 200, "executed", ""); string(r.Body) != `"large"` {
		t.Errorf("the executor got %s", r.Body)
	}
	b.told(w, 409, "refused", "result_unavailable")
}

func TestWaitersAreAnsweredWithinTheirBound(t *testing.T) {
	b := newBench(t)
	c := b.execute("a")
	w := b.arrive("b")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: c.call.attempt})
	b.pass(29 * time.Second)
	b.waits(w)
	b.pass(time.Second)
	r := b.told(w, 409, "in_flight", "in_flight")
	if header(r.Headers, "retry-after") != "1" || !strings.Contains(string(r.Body), `"in_flight_since":"1970-01-01T00:16:40.`) {
		t.Errorf("the waiter got %+v %s", r.Headers, r.Body)
	}
	b.waits(c)
}
