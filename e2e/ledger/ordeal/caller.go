package ordeal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"

	"idem/ledgerd/wire"
)

// rule is what all calls are made under. There is no window: whoever comes after the commit and was not told to wait is
// held, so every join and every hold can be seen afterwards. A lease is longer than any restart takes.
func rule() *wire.Rule {
	r := wire.DefaultRule()
	r.WindowMS, r.LeaseMS = 0, 120_000
	return &r
}

func digest(words ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(words...)))
	return hex.EncodeToString(sum[:])
}

// caller is one caller of a call, with the filter before it.
type caller struct {
	server *server
	book   *callBook
	run    string
	random *rand.Rand
	tries  int
}

// mostTries bounds how often a caller begins anew. Each time something else has ended: there are few of them.
const mostTries = 50

// call takes the call to an end: a result, a failure, or a question to a human.
func (c *caller) call(ctx context.Context) {
	for range mostTries {
		if ctx.Err() != nil || c.try(ctx) {
			return
		}
	}
	c.book.note(func() { c.book.complain("run %s: no end after %d tries", c.run, mostTries) })
}

// try reserves with a new attempt, and says whether the caller has its answer.
func (c *caller) try(ctx context.Context) bool {
	c.tries++
	attempt := fmt.Sprintf("%s-%s-%d", c.book.name, c.run, c.tries)
	reserve := wire.Op{Kind: wire.OpReserve, Attempt: attempt, Intent: c.book.intent, Fingerprint: c.book.call, Run: c.run, Rule: rule()}
	a, err := c.server.ask(ctx, reserve)
	if err != nil && c.random.IntN(2) == 0 {
		// It is not known whether it was granted, so it is not executed, and that is said.
		c.insist(ctx, wire.Op{Kind: wire.OpFail, Attempt: attempt, Intent: c.book.intent, Class: wire.ClassNotSent})
		c.book.note(func() { c.book.ended = append(c.book.ended, attempt) })
		return false
	}
	for err != nil && ctx.Err() == nil {
		a, err = c.server.ask(ctx, reserve) // a lost answer costs nothing
	}
	if err != nil {
		return false
	}
	switch a.Kind {
	case wire.AnswerExecute:
		return c.execute(ctx, attempt)
	case wire.AnswerInFlight:
		c.book.note(func() { c.book.joined[c.run] = a.Attempt })
		return c.wait(ctx, a.Attempt)
	case wire.AnswerReplay:
		c.book.result(&a)
		c.book.note(func() { c.book.joined[c.run] = a.Attempt })
		return true
	case wire.AnswerHeld:
		c.book.note(func() { c.book.held[c.run] = a.Hold.ID })
		return true
	default:
		c.book.note(func() { c.book.complain("run %s: reserve %s gets %s", c.run, attempt, show(&a)) })
		return true
	}
}

// execute is the tool's work: here it is only counted.
func (c *caller) execute(ctx context.Context, attempt string) bool {
	c.book.note(func() { c.book.executed++ })
	op := wire.Op{Attempt: attempt, Intent: c.book.intent}
	if c.random.IntN(3) == 0 {
		op.Kind = wire.OpExtend
		c.insist(ctx, op)
	}
	if c.random.IntN(6) == 0 {
		op.Kind, op.Class, op.Result = wire.OpFail, wire.ClassDefinite, &wire.Result{Status: 422, Body: []byte("no: " + attempt)}
		if c.insist(ctx, op) {
			c.book.note(func() {
				c.book.failed++
				c.book.ended = append(c.book.ended, attempt)
			})
		}
		return true
	}
	result := "result of " + attempt
	op.Kind, op.Result = wire.OpCommit, &wire.Result{Status: 201, Body: []byte(result)}
	if c.insist(ctx, op) {
		c.book.note(func() {
			c.book.committed[attempt] = result
			c.book.joined[c.run] = attempt
		})
	}
	return true
}

// insist repeats an operation until it is acknowledged. An execution's own reports are never fenced here.
func (c *caller) insist(ctx context.Context, op wire.Op) bool {
	for ctx.Err() == nil {
		a, err := c.server.ask(ctx, op)
		if err != nil {
			continue
		}
		if a.Kind != wire.AnswerOK {
			c.book.note(func() { c.book.complain("%s of %s gets %s", op.Kind, op.Attempt, show(&a)) })
		}
		return a.Kind == wire.AnswerOK
	}
	return false
}

// wait waits for another's attempt, and says whether the caller has its answer.
func (c *caller) wait(ctx context.Context, attempt string) bool {
	for ctx.Err() == nil {
		a, err := c.server.ask(ctx, wire.Op{Kind: wire.OpAwait, Attempt: attempt, Intent: c.book.intent, WaitMS: 5000})
		switch {
		case err != nil, a.Kind == wire.AnswerInFlight:
			continue
		case a.Kind == wire.AnswerResult:
			c.book.result(&a)
			return true
		case a.Kind == wire.AnswerFailed:
			return true
		default:
			return false // gone: it begins anew
		}
	}
	return false
}
