package linearizable

import (
	"fmt"
	"math/rand/v2"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/wire"
)

// client is one caller of the ledgers: mostly what a filter does, sometimes what a person does, and sometimes what
// nobody should.
type client struct {
	w      *world
	number int
	random *rand.Rand
	left   int // calls
}

func (c *client) run() {
	for c.left > 0 {
		b := one(c.random, c.w.intents...)
		switch n := c.random.IntN(100); {
		case n < 60:
			c.live(b)
		case n < 80:
			c.meddle(b)
		case n < 93:
			c.answerHold(b)
		default:
			c.resolve(b)
		}
	}
}

// do calls any node, after the world may have changed a little.
func (c *client) do(b *intentBoard, op wire.Op) *wire.Answer {
	c.disturb()
	c.left--
	return &c.w.call(c.number, c.random.IntN(len(c.w.nodes)), b, op, nil).answer
}

func (c *client) ask(b *intentBoard, h *human) {
	c.disturb()
	c.left--
	c.w.call(c.number, c.random.IntN(len(c.w.nodes)), b, wire.Op{}, h)
}

// disturb changes the weather, lets time pass, or starts a node anew, now and then.
func (c *client) disturb() {
	at := c.random.IntN(len(c.w.nodes))
	switch n := c.random.IntN(100); {
	case len(c.w.o.Processes) > 0:
		if n < 1 && c.w.wild() {
			c.w.crash(c.w.nodes[at])
		}
	case n < 8 && c.w.wild():
		l, _ := c.w.nodes[at].now()
		l.become(one(c.random, calm, calm, calm, calm, flaky, flaky, storm, cut, slow, standing))
	case n < 10 && c.w.wild() && !c.w.o.SoleOwner:
		// A new process has nothing to do with the old one's troubles.
		c.w.restart(c.w.nodes[at], c.random.Uint64())
	case n < 18:
		c.w.pass(time.Duration(one(c.random, 1, 60, 250, 400, 750)) * time.Millisecond)
	}
}

// live is a call as the filter makes it: it reserves, and if it may, it executes and says how that ended.
func (c *client) live(b *intentBoard) {
	attempt := fmt.Sprintf("a%s-%d", c.w.name, c.w.ids.Add(1))
	reserve := wire.Op{
		Kind: wire.OpReserve, Attempt: attempt, Fingerprint: one(c.random, b.fingerprints[0], b.fingerprints[0], b.fingerprints[1], b.fingerprints[2]),
		Run: one(c.random, "", "r1", "r2", "r3", "r4"), Rule: c.w.rules.pick(c.random),
	}
	if c.random.IntN(6) == 0 && !c.w.rules.endless {
		reserve.NotAfter = c.w.clock.now() + int64(one(c.random, 0, 60, 500))
	}
	a := c.do(b, reserve)
	for try := 0; a.Kind == wire.AnswerError && c.random.IntN(2) == 0 && try < 3; try++ {
		a = c.do(b, reserve) // the same attempt: a lost answer costs nothing
	}
	switch a.Kind {
	case wire.AnswerError:
		if c.random.IntN(3) > 0 {
			c.insist(b, wire.Op{Kind: wire.OpFail, Attempt: attempt, Class: wire.ClassNotSent})
		}
	case wire.AnswerInFlight, wire.AnswerInDoubt:
		c.do(b, wire.Op{Kind: wire.OpAwait, Attempt: a.Attempt, WaitMS: int64(c.random.IntN(3))})
	case wire.AnswerHeld:
		if c.random.IntN(2) == 0 {
			c.do(b, wire.Op{Kind: wire.OpAwait, Hold: a.Hold.ID, WaitMS: int64(c.random.IntN(3))})
		}
	case wire.AnswerExecute:
		b.note(attempt, nil)
		c.execute(b, attempt)
	}
}

// execute is a granted attempt's life.
func (c *client) execute(b *intentBoard, attempt string) {
	for range c.random.IntN(3) {
		c.insist(b, wire.Op{Kind: wire.OpExtend, Attempt: attempt})
	}
	switch n := c.random.IntN(100); {
	case n < 60:
		c.insist(b, wire.Op{Kind: wire.OpCommit, Attempt: attempt, Result: result(attempt)})
	case n < 72:
		c.insist(b, wire.Op{Kind: wire.OpFail, Attempt: attempt, Class: wire.ClassDefinite, Result: result(attempt + "-no")})
	case n < 80:
		c.insist(b, wire.Op{Kind: wire.OpFail, Attempt: attempt, Class: wire.ClassNotSent})
	case n < 88:
		c.insist(b, wire.Op{Kind: wire.OpFail, Attempt: attempt, Class: wire.ClassUnknown})
	} // the others fall silent
}

func result(text string) *wire.Result { return &wire.Result{Status: 200, Body: []byte(text)} }

// insist repeats an operation a few times until it is acknowledged.
func (c *client) insist(b *intentBoard, op wire.Op) {
	for range 3 {
		if c.do(b, op).Kind != wire.AnswerError {
			return
		}
	}
}

// meddle does something with an attempt of somebody's.
func (c *client) meddle(b *intentBoard) {
	attempt := b.anyAttempt(c.random)
	switch c.random.IntN(8) {
	case 0:
		c.do(b, wire.Op{Kind: wire.OpExtend, Attempt: attempt})
	case 1:
		c.do(b, wire.Op{Kind: wire.OpCommit, Attempt: attempt, Result: result(attempt)})
	case 2:
		c.do(b, wire.Op{Kind: wire.OpCommit, Attempt: attempt, Result: result(attempt + "-other")})
	case 3:
		c.do(b, wire.Op{Kind: wire.OpFail, Attempt: attempt, Class: one(c.random, wire.ClassNotSent, wire.ClassDefinite, wire.ClassUnknown)})
	case 4:
		c.do(b, wire.Op{Kind: wire.OpFetch, Attempt: attempt})
	default:
		c.do(b, wire.Op{Kind: wire.OpAwait, Attempt: attempt, WaitMS: int64(c.random.IntN(3))})
	}
}

// answerHold is what an operator does.
func (c *client) answerHold(b *intentBoard) {
	h := b.anyHold(c.random)
	if h == nil {
		c.live(b)
		return
	}
	c.ask(b, &human{hold: h.ID, version: one(c.random, 0, h.Version, h.Version, h.Version+1),
		decision: one(c.random, intent.Release, intent.Release, intent.Duplicate, intent.Deny)})
}

func (c *client) resolve(b *intentBoard) {
	attempt := b.anyAttempt(c.random)
	c.ask(b, &human{attempt: attempt, as: one(c.random, intent.Committed, intent.Released, intent.Released), body: one(c.random, "", attempt+"-seen")})
}

// pass lets time pass, as long as the history may last, and once at most for any call: what was not answered might
// otherwise have happened at too many moments.
func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.now()
	for _, from := range w.underWay {
		if from != now {
			return
		}
	}
	if w.passed+d <= span*time.Millisecond {
		w.passed += d
		w.clock.move(d)
	}
}

// begin leaves something in every record that outlives the history, so that no record comes to be a second time.
func (w *world) begin() {
	for _, b := range w.intents {
		w.call(0, 0, b, wire.Op{Kind: wire.OpFail, Attempt: "anchor-" + w.name, Class: wire.ClassNotSent}, nil)
	}
}

// end looks at everything once more, in fair weather.
func (w *world) end(random *rand.Rand) {
	w.calm()
	for _, b := range w.intents {
		for _, attempt := range b.attempts {
			w.call(0, random.IntN(len(w.nodes)), b, wire.Op{Kind: wire.OpAwait, Attempt: attempt}, nil)
			w.call(0, random.IntN(len(w.nodes)), b, wire.Op{Kind: wire.OpFetch, Attempt: attempt}, nil)
		}
	}
}
