package exchange

import (
	"testing"
	"time"

	"idem/ledgerd/wire"
)

func TestBodiesAreKeptOnlyAsLongAsTheyMayBeSent(t *testing.T) {
	for name, end := range map[string]func(b *bench){
		"executed": func(b *bench) {
			c := b.execute("a")
			if c.call.Request.Body != nil || b.worker.kept != 0 {
				b.Errorf("the body is kept while the tool works")
			}
			b.tool().reply(byTool(200, "1"))
			b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
		},
		"replayed": func(b *bench) {
			b.arrive("a")
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerReplay, Result: &wire.Result{Status: 200}})
		},
		"waited": func(b *bench) {
			b.arrive("a")
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: "elsewhere"})
			if b.worker.kept == 0 {
				b.Error("who waits may have to execute yet, and has let go of its body")
			}
			b.ledger(wire.OpAwait).answer(wire.Answer{Kind: wire.AnswerResult, Result: &wire.Result{Status: 200}})
		},
		"lost": func(b *bench) {
			b.arrive("a")
			b.ledger(wire.OpReserve).reply(HTTPReply{})
		},
		"left while it waited": func(b *bench) {
			c := b.arrive("a")
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: "elsewhere"})
			c.call.Leave()
		},
		"left before the grant": func(b *bench) {
			c := b.arrive("a")
			c.call.Leave()
			if b.worker.kept == 0 {
				b.Error("a call that may still be granted has let go of its body")
			}
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
			if got := string(b.tool().Body); got != `{"amount":"$12.00"}` {
				b.Errorf("the tool got %q", got)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			end(b)
			if b.worker.kept != 0 {
				t.Errorf("%d bytes are still counted as kept", b.worker.kept)
			}
		})
	}
}

func TestWorkerTakesNoMoreBodiesThanItMayKeep(t *testing.T) {
	b := newBench(t)
	b.worker.kept = maxKept - perCall - 100
	if !b.worker.Room(100) || b.worker.Room(101) {
		t.Error("the bound is not where it is said to be")
	}
	r := b.worker.Full()
	if r.Status != 429 || r.Code != "overloaded" || header(r.Headers, "retry-after") == "" || b.host.counters["calls.refused"] != 1 {
		t.Errorf("refused with %+v, counted %v", r, b.host.counters)
	}
}

// Of a reply that there is no room for, the status still says how the execution ended.
func TestReplyThatThereIsNoRoomForIsNotKept(t *testing.T) {
	for name, tc := range map[string]struct {
		status, told  int
		outcome, code string
		op            wire.OpKind
	}{
		"a success": {200, 409, "refused", "result_unavailable", wire.OpCommit},
		"a failure": {422, 502, "failed", "failed", wire.OpFail},
		"a gateway": {504, 504, "in_doubt", "in_doubt", wire.OpFail},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			c := b.execute("a")
			b.tool().reply(HTTPReply{Status: tc.status, Headers: byTool(tc.status, "").Headers, Unread: true})
			end := b.ledger(tc.op)
			if op := end.ops(t)[0]; tc.op == wire.OpCommit && op.Missing != wire.MissingTooLarge {
				t.Errorf("the ledger is told %+v", op)
			}
			end.answer(wire.Answer{Kind: wire.AnswerOK})
			b.told(c, tc.told, tc.outcome, tc.code)
		})
	}
}

func TestRepliesAreCountedUntilTheLedgerHasThem(t *testing.T) {
	b := newBench(t)
	b.execute("a")
	call := b.tool()
	if !call.Room(maxReplies) || call.Room(maxReplies+1) {
		t.Error("the bound is not where it is said to be")
	}
	call.reply(byTool(200, "12345"))
	if call.Room(maxReplies-4) || !call.Room(maxReplies-5) {
		t.Errorf("%d bytes are counted", b.worker.replies)
	}
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
	if b.worker.replies != 0 {
		t.Errorf("%d bytes are still counted as kept", b.worker.replies)
	}

	b = newBench(t)
	b.rule.Inline = true
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	b.worker.replies = maxReplies - 10
	if !c.call.KeepReply(6) || c.call.KeepReply(5) || !c.call.KeepReply(4) {
		t.Error("a stream keeps more than there is room for, or less")
	}
	c.call.StreamEnded(byTool(200, "0123456789"))
	b.worker.Flush()
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
	if b.worker.replies != maxReplies-10 {
		t.Errorf("%d bytes are still counted as kept by a stream that has ended", b.worker.replies-maxReplies+10)
	}
}

func TestCallerHearsOfAStuckLedgerWithinItsTimeout(t *testing.T) {
	b := newBench(t)
	b.arrive("first") // whose batch is stuck
	c := b.arrive("a")
	b.pass(5 * time.Second)
	b.told(c, 503, "unavailable", "ledger_unavailable")
}

func TestReserveThatIsAlwaysTooLateIsGivenUpAsUnavailable(t *testing.T) {
	b := newBench(t)
	c := b.arrive("a")
	for range maxLate {
		b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerRefused, Code: wire.CodeLate})
		b.waits(c)
	}
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerRefused, Code: wire.CodeLate})
	b.told(c, 503, "unavailable", "ledger_unavailable")
}

func TestGrantOfAnotherAttemptIsNotExecuted(t *testing.T) {
	b := newBench(t)
	c := b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: "another", LeaseMS: 15000})
	if b.toolCalls() != 0 {
		t.Error("the tool was called")
	}
	b.told(c, 503, "unavailable", "ledger_unavailable")
}

func TestLedgersClockIsItsLastWord(t *testing.T) {
	b := newBench(t)
	b.arrive("a")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerDenied, Now: 1_000_000_000})
	b.arrive("b")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerDenied, Now: 2_000_000})
	b.arrive("c")
	if got, want := b.ledger(wire.OpReserve).ops(t)[0].NotAfter, int64(2_000_000+5_000); got != want {
		t.Errorf("not_after is %d, want %d: a clock that was once far ahead must not leave it without effect", got, want)
	}
}
