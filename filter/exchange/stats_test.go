package exchange

import (
	"testing"
	"time"

	"idem/ledgerd/wire"
)

// The statistics show what is under way, and nothing once nothing is.
func TestGaugesShowWhatIsUnderWay(t *testing.T) {
	b := newBench(t)
	c, w := b.execute("a"), b.arrive("b")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: c.call.attempt})
	b.pass(TickPeriod)
	if g := b.host.gauges; g["parked"] != 2 || g["executing"] != 1 || g["unacknowledged"] != 0 || g["kept_bytes"] < 19 {
		t.Errorf("while the tool runs: %v", g)
	}
	b.pass(2 * time.Second)
	b.tool().reply(byTool(200, "done"))
	b.pass(TickPeriod)
	if g := b.host.gauges; g["unacknowledged"] != 1 {
		t.Errorf("while the ledger keeps the result: %v", g)
	}
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
	b.told(w, 200, "coalesced", "")
	b.pass(TickPeriod)
	for name, level := range b.host.gauges {
		if level != 0 {
			t.Errorf("%s is %d with nothing under way", name, level)
		}
	}
}

func TestHistogramsShowHowLongThingsTook(t *testing.T) {
	b := newBench(t)
	c, w := b.execute("a"), b.arrive("b")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: c.call.attempt})
	b.pass(2 * time.Second)
	b.tool().reply(byTool(200, "done"))
	b.pass(300 * time.Millisecond)
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
	b.told(w, 200, "coalesced", "")
	for name, want := range map[string][]uint64{
		statExecutionMS: {2000}, statWaitMS: {2300}, statBodyBytes: {19, 19}, statResultBytes: {4},
		statLedgerOps: {1, 1, 1}, statLedgerMS: {0, 0, 300},
	} {
		got := b.host.observed[name]
		if len(got) != len(want) {
			t.Errorf("%s has %v, want %v", name, got, want)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s has %v, want %v", name, got, want)
				break
			}
		}
	}
}
