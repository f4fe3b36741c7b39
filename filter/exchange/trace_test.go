package exchange

import (
	"strings"
	"testing"

	"idem/ledgerd/wire"
)

const parent1 = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// from lets a caller come with a traceparent of its own.
func (b *bench) from(run, parent string) *caller {
	b.Helper()
	c := b.arrive(run)
	for i, h := range c.call.Request.Headers {
		if h[0] == "traceparent" {
			c.call.Request.Headers[i][1] = parent
		}
	}
	return c
}

// Who is given another's result is told which trace the execution was in, here and, by what is stored, everywhere.
func TestWhoIsGivenAResultIsToldTheExecutionsTrace(t *testing.T) {
	b := newBench(t)
	c := b.from("a", parent1)
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	if got := header(b.tool().Headers, "traceparent"); got != parent1 {
		t.Errorf("the tool gets traceparent %q", got)
	}
	waiter := b.from("b", strings.Replace(parent1, "b7", "c8", 1))
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: c.call.attempt})
	b.tool().reply(byTool(200, "1"))
	commit := b.ledger(wire.OpCommit)
	stored := commit.ops(t)[0].Result
	if header(stored.Headers, headerTrace) != parent1 {
		t.Errorf("stored is %v", stored.Headers)
	}
	commit.answer(wire.Answer{Kind: wire.AnswerOK})
	own, joined := b.one(c), b.told(waiter, 200, "coalesced", "")
	if header(own.Headers, headerTrace) != "" || own.Traceparent != "" || own.Attempt != c.call.attempt {
		t.Errorf("the one that executed is told %+v", own)
	}
	if header(joined.Headers, headerTrace) != parent1 || joined.Traceparent != parent1 || joined.Attempt != c.call.attempt {
		t.Errorf("the one that joined is told %+v", joined)
	}
	later := b.arrive("c")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerReplay, Attempt: c.call.attempt, Result: stored})
	if r := b.told(later, 200, "replay", ""); header(r.Headers, headerTrace) != parent1 || r.Attempt != c.call.attempt {
		t.Errorf("the replay tells %+v", r)
	}
}

func TestWhatIsNoTraceparentIsNobodysTrace(t *testing.T) {
	for text, is := range map[string]bool{
		parent1:                               true,
		"cc" + parent1[2:]:                    true,
		"ff" + parent1[2:]:                    false,
		parent1 + "-extra":                    false,
		strings.ToUpper(parent1):              false,
		strings.Replace(parent1, "-", "_", 1): false,
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": false,
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01": false,
		"00-1": false, "": false,
	} {
		if isTraceparent(text) != is {
			t.Errorf("%q is a traceparent: %v", text, !is)
		}
	}
}
