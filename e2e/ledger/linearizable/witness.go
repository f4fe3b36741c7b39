package linearizable

import (
	"errors"
	"fmt"
	"slices"

	"idem/ledgerd/intent"
	"idem/ledgerd/wire"
)

// attempt is what the witness knows of one attempt: what was asked and answered, never what the machine makes of it.
type attempt struct {
	id, fingerprint string
	grants          []*call // answered `execute`
	commits         []*call
	fails           []*call
	resolves        []*call
}

// Witness looks at a history as somebody would who knows what Idem is for and nothing of how it decides. It says
//
//   - where a call was executed although an earlier execution of the same fingerprint may have happened, and nobody had
//     said that it had not, no human had released it, no rule asked for it, and its retention was not over;
//   - where one human's release was executed twice although the first execution was not said to have failed;
//   - where somebody was given another result than the one that the attempt had brought, or two got different ones.
func (h *History) Witness() error {
	attempts := h.attempts()
	var wrong []error
	for _, b := range attempts {
		for _, a := range attempts {
			if a != b && a.fingerprint == b.fingerprint && a.before(b) && !h.excused(a, b) {
				wrong = append(wrong, fmt.Errorf("history %d: %s was executed although %s may have happened: %v, after %v", h.Seed, b.id, a.id, b.grants[0], a.grants[0]))
			}
		}
	}
	return errors.Join(append(wrong, h.results(attempts)...)...)
}

// attempts gives those that were granted.
func (h *History) attempts() map[string]*attempt {
	all := map[string]*attempt{}
	of := func(id string) *attempt {
		if all[id] == nil {
			all[id] = &attempt{id: id}
		}
		return all[id]
	}
	for _, c := range h.calls {
		switch {
		case c.human != nil && c.human.attempt != "":
			a := of(c.human.attempt)
			a.resolves = append(a.resolves, c)
		case c.op.Kind == wire.OpReserve && c.answer.Kind == wire.AnswerExecute:
			a := of(c.op.Attempt)
			a.fingerprint, a.grants = c.op.Fingerprint, append(a.grants, c)
		case c.op.Kind == wire.OpCommit:
			a := of(c.op.Attempt)
			a.commits = append(a.commits, c)
		case c.op.Kind == wire.OpFail:
			a := of(c.op.Attempt)
			a.fails = append(a.fails, c)
		}
	}
	return all
}

// before says whether a was surely granted before b was.
func (a *attempt) before(b *attempt) bool {
	return len(a.grants) > 0 && len(b.grants) > 0 && a.grants[0].ended < b.grants[0].began
}

// excused says whether b may have been executed after a.
func (h *History) excused(a, b *attempt) bool {
	grant := b.grants[len(b.grants)-1]
	earlier := func(calls []*call, counts func(*call) bool) bool {
		return slices.ContainsFunc(calls, func(c *call) bool { return !c.idle && c.began < grant.ended && counts(c) })
	}
	failed := earlier(a.fails, func(c *call) bool {
		return c.op.Class != wire.ClassUnknown && (c.heard == unknown || c.answer.Kind == wire.AnswerOK)
	})
	released := earlier(a.resolves, func(c *call) bool {
		return c.human.as == intent.Released && (c.heard == unknown || c.told == done)
	})
	succeeded := func(c *call) bool { return c.heard == unknown || c.answer.Kind == wire.AnswerOK || c.told == done }
	over := earlier(slices.Concat(a.commits, a.resolves), func(c *call) bool {
		return succeeded(c) && grant.answer.Now >= c.from+h.rules.retention
	})
	switch approval := grant.answer.ApprovedBy; {
	case failed, released, over, h.rules.retry, h.rules.execute:
		return true
	case approval == "":
		return false
	default:
		return h.approved(approval, grant) && approval != a.grants[len(a.grants)-1].answer.ApprovedBy
	}
}

// approved says whether a human had released the hold.
func (h *History) approved(hold string, grant *call) bool {
	return slices.ContainsFunc(h.calls, func(c *call) bool {
		return c.human != nil && c.human.hold == hold && c.human.decision == intent.Release && !c.idle && c.began < grant.ended
	})
}

// results says where somebody was given what the attempt did not bring.
func (h *History) results(attempts map[string]*attempt) []error {
	var wrong []error
	given := map[string]string{}
	for _, c := range h.calls {
		id := c.answer.Attempt
		if c.op.Kind == wire.OpFetch {
			id = c.op.Attempt
		}
		if c.answer.Result == nil || c.answer.Kind != wire.AnswerReplay && c.answer.Kind != wire.AnswerResult {
			continue
		}
		got, a := body(c.answer.Result), attempts[id]
		brought := a != nil && (slices.ContainsFunc(a.commits, func(o *call) bool { return body(o.op.Result) == got }) ||
			slices.ContainsFunc(a.resolves, func(o *call) bool { return o.human.body == got }) ||
			c.op.Kind == wire.OpFetch && slices.ContainsFunc(a.fails, func(o *call) bool { return body(o.op.Result) == got }))
		if !brought {
			wrong = append(wrong, fmt.Errorf("history %d: nobody brought this result: %v", h.Seed, c))
		}
		if c.op.Kind == wire.OpFetch {
			continue // it gives a failure too, and after that the result of a late commit
		}
		if was, known := given[id]; known && was != got {
			wrong = append(wrong, fmt.Errorf("history %d: the result of %s was %q, and then: %v", h.Seed, id, was, c))
		}
		given[id] = got
	}
	return wrong
}
