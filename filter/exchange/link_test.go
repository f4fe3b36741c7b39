package exchange

import (
	"testing"
	"time"

	"idem/canon"
	"idem/ledgerd/wire"
)

func TestNotAfterFollowsTheTimeSinceTheLedgerWasHeard(t *testing.T) {
	b := newBench(t)
	b.execute("a")
	b.host.now += 4 * time.Second
	b.arrive("b")
	if got, want := b.ledger(wire.OpReserve).ops(t)[0].NotAfter, int64(1_000_000+4_000+5_000); got != want {
		t.Errorf("not_after is %d, want %d", got, want)
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
