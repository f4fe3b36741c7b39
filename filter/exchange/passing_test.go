package exchange

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"idem/filter/mcp"
	"idem/filter/policy"
	"idem/ledgerd/wire"
)

func TestInlineExecutionIsTheCallersOwnStream(t *testing.T) {
	b := newBench(t)
	b.rule.Inline = true
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	if len(c.passed) != 1 || b.toolCalls() != 0 {
		t.Fatalf("the stream passed %d times, the worker called the tool %d times", len(c.passed), b.toolCalls())
	}
	if header(c.passed[0], "x-idem-run") != "" || header(c.passed[0], "accept-encoding") != "identity" {
		t.Errorf("the tool gets %v", c.passed[0])
	}
	w := b.arrive("b")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: c.call.attempt})
	reply := byTool(200, "1")
	if r := c.call.StreamBegan(reply); r.Outcome != "executed" || r.Attempt != c.call.attempt || header(r.Headers, headerFingerprint) != fingerprint1 {
		t.Errorf("the reply that streams past tells %+v", r)
	}
	c.call.StreamEnded(reply)
	b.worker.Flush()
	commit := b.ledger(wire.OpCommit)
	if stored := commit.ops(t)[0].Result; string(stored.Body) != string(reply.Body) {
		t.Errorf("the ledger is given %q", stored.Body)
	}
	commit.answer(wire.Answer{Kind: wire.AnswerOK})
	if e := c.call.running; e.result.own != nil || e.result.stored != nil || c.call.streamEnd.Body != nil {
		t.Error("the reply is kept although it has gone on")
	}
	if len(c.concluded) != 1 || c.concluded[0].Outcome != "executed" || c.concluded[0].Status != 0 {
		t.Errorf("the stream is told %+v", c.concluded)
	}
	b.told(w, 200, "coalesced", "")
	if !b.worker.Idle() || len(b.worker.parked) != 0 {
		t.Error("the worker still has something under way")
	}
}

func TestInlineDisconnectIsInDoubt(t *testing.T) {
	b := newBench(t)
	b.rule.Inline = true
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	c.call.StreamEnded(HTTPReply{})
	c.call.Leave()
	b.worker.Flush()
	if op := b.ledger(wire.OpFail).ops(t)[0]; op.Class != wire.ClassUnknown {
		t.Errorf("the ledger is told %+v", op)
	}
}

// The grant is there, and the stream is about to go on: many others go before it.
func TestInlineCallerThatLeavesBeforeItsStreamGoesOnHasExecutedNothing(t *testing.T) {
	b := newBench(t)
	b.rule.Inline = true
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	c.call.Leave()
	c.call.NeverWentOn()
	b.worker.Flush()
	if op := b.ledger(wire.OpFail).ops(t)[0]; op.Class != wire.ClassNotSent || op.Attempt != c.call.attempt {
		t.Errorf("the ledger is told %+v", op)
	}
	c.call.NeverWentOn()
	if n := len(b.worker.settling); n != 1 {
		t.Errorf("the ledger is told %d times", n)
	}
}

func TestLeavingADetachedExecutionEndsNothing(t *testing.T) {
	b := newBench(t)
	c := b.execute("a")
	c.call.Leave()
	c.call.NeverWentOn()
	if len(b.worker.settling) != 0 {
		t.Error("the execution ended with its caller")
	}
}

func TestInlineCallerThatLeftBeforeTheGrantDoesNotExecute(t *testing.T) {
	b := newBench(t)
	b.rule.Inline = true
	c := b.arrive("a")
	c.call.Leave()
	c.call.NeverWentOn()
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	if op := b.ledger(wire.OpFail).ops(t)[0]; op.Class != wire.ClassNotSent || len(c.passed) != 0 {
		t.Errorf("the ledger is told %+v; passed %v", op, c.passed)
	}
}

func TestInlineExecutionThatOutlastsItsTimeoutIsInDoubt(t *testing.T) {
	b := newBench(t)
	b.rule.Inline = true
	b.rule.ExecutionTimeout = 6 * time.Second
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	b.pass(5 * time.Second)
	b.ledger(wire.OpExtend).answer(wire.Answer{Kind: wire.AnswerOK})
	b.pass(2 * time.Second)
	fail := b.ledger(wire.OpFail)
	if op := fail.ops(t)[0]; op.Class != wire.ClassUnknown {
		t.Errorf("the ledger is told %+v", op)
	}
	fail.answer(wire.Answer{Kind: wire.AnswerOK})
	if len(c.concluded) != 1 || c.concluded[0].Status != 504 || c.concluded[0].Outcome != "in_doubt" {
		t.Errorf("the stream is told %+v", c.concluded)
	}
	b.pass(20 * time.Second)
	if len(b.host.calls) != 0 {
		t.Errorf("the lease is still extended: %s", b.underWay())
	}
}

func TestShadowOnlyWatches(t *testing.T) {
	b := newBench(t)
	b.rule.Mode = policy.Shadow
	c := b.arrive("a")
	reserve := b.ledger(wire.OpReserve)
	op := reserve.ops(t)[0]
	if op.Fingerprint == fingerprint1 || op.Intent == intent1 {
		t.Error("a call that is only watched is recorded where enforced calls are")
	}
	c.call.StreamEnded(byTool(200, "1")) // the tool was faster than the ledger
	reserve.answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	if got := b.ledger(wire.OpCommit); got.ops(t)[0].Intent != op.Intent {
		t.Error("committed in another record")
	} else {
		got.answer(wire.Answer{Kind: wire.AnswerOK})
	}
	again := b.arrive("b")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerHeld, Hold: &wire.Hold{ID: "h-1"}})
	again.call.StreamEnded(byTool(200, "2"))
	if b.host.counters["shadow.executed"] != 1 || b.host.counters["shadow.held"] != 1 {
		t.Errorf("counted %v", b.host.counters)
	}
	b.waits(c)
	b.waits(again)
	if b.toolCalls() != 0 || len(c.passed) != 0 || !b.worker.Idle() {
		t.Error("the worker did more than watch")
	}
}

func TestShadowIsNotStoppedByALostLedger(t *testing.T) {
	b := newBench(t)
	b.rule.Mode = policy.Shadow
	c := b.arrive("a")
	b.ledger(wire.OpReserve).reply(HTTPReply{})
	b.waits(c)
	if b.host.counters["shadow.unavailable"] != 1 {
		t.Errorf("counted %v", b.host.counters)
	}
	b.pass(TickPeriod)
	b.ledger(wire.OpFail).answer(wire.Answer{Kind: wire.AnswerOK})
}

func TestFaultInOneAnswerDoesNotCostTheOthersTheirs(t *testing.T) {
	b := newBench(t)
	b.arrive("first") // whose answer lets the next two go together
	first := b.ledger(wire.OpReserve)
	bad, good := b.arrive("b"), b.arrive("c")
	bad.call.Rule = nil // what a fault of the program would leave
	first.answer(wire.Answer{Kind: wire.AnswerDenied})
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerDenied}, wire.Answer{Kind: wire.AnswerDenied})
	b.told(good, 403, "denied", "denied")
	if len(b.host.warnings) == 0 {
		t.Error("the fault is not reported")
	}
	bad.call.Rule = b.rule
	b.pass(2 * time.Minute)
	b.told(bad, 504, "in_doubt", "in_doubt")
}

func TestAHeaderOfAToolDoesNotPassForIdems(t *testing.T) {
	for name, reserved := range map[string]bool{
		"x-idem-outcome": true, "x-idem-committed": true, "x-idem-": true, "idempotent-replayed": true,
		"idempotency-key": false, "x-idempotent": false, "location": false,
	} {
		if SoundsLikeIdem(name) != reserved {
			t.Errorf("%s is reserved: %v", name, !reserved)
		}
	}
}

// An event of 8 MiB comes in hundreds of pieces. The worker does nothing else while it looks at them.
func TestLargeEventIsReadOnce(t *testing.T) {
	const size, piece = mostRead / 2, 16 << 10
	for name, line := range map[string]string{"one line": strings.Repeat("x", piece), "many lines": strings.Repeat("x", piece-9) + "\ndata: \"\""} {
		b := newBench(t)
		c := &Call{worker: b.worker, MCP: &mcp.Request{ID: []byte("7")}}
		r := HTTPReply{Status: 200, Headers: [][2]string{{"content-type", "text/event-stream"}}, Body: make([]byte, 0, 2*size)}
		whole := mcp.Stream{ID: []byte("7")}
		took := allocated(func() {
			r.Body = append(r.Body, "data: "...)
			whole.Write(r.Body)
			for range size / piece {
				r.Body = append(r.Body, line...)
				c.StreamPassed(&r)
				whole.Write([]byte(line))
			}
			r.Body = append(r.Body, "\n\n"...)
			c.StreamPassed(&r)
			whole.Write([]byte("\n\n"))
		})
		if took > 40*size {
			t.Errorf("%s: %d bytes were copied of an event of %d", name, took, size)
		}
	}
}

// allocated is how many bytes of memory do takes.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A server that tells much has its pieces end anywhere, hardly ever where an event ends.
func TestProgressIsLetGoWhereverItsPiecesEnd(t *testing.T) {
	b := newBench(t)
	c := &Call{worker: b.worker, MCP: &mcp.Request{ID: []byte("7")}}
	r := HTTPReply{Status: 200, Headers: [][2]string{{"content-type", "text/event-stream"}}}
	events := "data: {\"method\":\"notifications/progress\"}\n\nda"
	for range 1000 {
		r.Body = append(r.Body, events...)
		if c.StreamPassed(&r) || len(r.Body) > len(events) {
			t.Fatalf("%d bytes are kept of progress", len(r.Body))
		}
		events = "ta: {\"method\":\"notifications/progress\"}\n\nda"
	}
	r.Body = append(r.Body, "ta: {\"id\":7,\"result\":{}}\n\nda"...)
	if !c.StreamPassed(&r) {
		t.Errorf("the response was not seen in %q", r.Body)
	}
}
