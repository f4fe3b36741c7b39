package exchange

import (
	"testing"
	"time"

	"idem/ledgerd/wire"
)

// What the worker itself spent on large bodies is not the ledger's silence: answers that were there all along count.
func TestTheWorkersOwnTimeIsNotTheLedgersSilence(t *testing.T) {
	b := newBench(t)
	b.execute("a") // so that the ledger's clock has been heard
	b.pass(time.Second)
	b.arrive("b")
	waiting := b.arrive("c") // behind b's batch
	b.host.now += 6 * time.Second
	b.worker.Tick()
	b.waits(waiting)
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerDenied})
	next := b.ledger(wire.OpReserve)
	if ops := next.ops(t); len(ops) != 2 || ops[1].Kind != wire.OpExtend {
		t.Fatalf("the next batch holds %+v, want the reserve and a's extension", ops)
	}
	next.answer(wire.Answer{Kind: wire.AnswerDenied}, wire.Answer{Kind: wire.AnswerOK})
	b.told(waiting, 403, "denied", "denied")
}

// A ledger that is silent is found out while the worker ticks as it should, whatever stalled it before.
func TestASilentLedgerIsFoundOutAfterAStall(t *testing.T) {
	b := newBench(t)
	b.execute("a")
	b.pass(time.Second)
	b.host.now += 6 * time.Second
	b.pass(time.Second)
	b.arrive("b")
	waiting := b.arrive("c")
	b.pass(5 * time.Second)
	b.told(waiting, 503, "unavailable", "ledger_unavailable")
}

// Where the proxy has given the batch up meanwhile, the caller hears whose fault it was, and the tool is not called.
func TestACallThatTheWorkerWasTooBusyForIsOverloaded(t *testing.T) {
	for name, lose := range map[string]func(*bench, *caller){
		"the batch was given up": func(b *bench, _ *caller) { b.ledger(wire.OpReserve).reply(HTTPReply{Status: 504}) },
		"the grant came too late": func(b *bench, c *caller) {
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 12000})
		},
		"it was asked for too late": func(b *bench, _ *caller) {
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerRefused, Code: wire.CodeLate})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.execute("a")
			b.pass(time.Second)
			tools := b.toolCalls()
			c := b.arrive("b")
			b.host.now += 7 * time.Second
			lose(b, c)
			r := b.told(c, 429, "refused", "overloaded")
			if header(r.Headers, "retry-after") != "1" || b.toolCalls() != tools {
				t.Errorf("retry-after is %q, and the tool was called %d times", header(r.Headers, "retry-after"), b.toolCalls()-tools)
			}
		})
	}
}

// Large bodies have a share of the worker's time between two ticks; the small ones are always read.
func TestLargeBodiesAreReadOnlySoManyAtOnce(t *testing.T) {
	b := newBench(t)
	b.pass(time.Second)
	b.worker.Read(1000, 10*time.Second)
	if b.worker.Busy(1 << 20) {
		t.Error("the first large body is refused")
	}
	b.worker.Read(1<<20, 2*time.Second)
	if !b.worker.Busy(1<<20) || b.worker.Busy(1000) {
		t.Error("another large body is read, or a small one is not")
	}
	if r := b.worker.Overworked(); r.Status != 429 || r.Code != "overloaded" || header(r.Headers, "retry-after") != "1" {
		t.Errorf("the refusal is %+v", r)
	}
	b.pass(TickPeriod)
	if b.worker.Busy(1 << 20) {
		t.Error("it is refused for ever")
	}
}
