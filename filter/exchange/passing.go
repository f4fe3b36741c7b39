package exchange

import "idem/ledgerd/wire"

// A call whose caller's own stream goes on to the tool: by execution "inline" once it is granted, in mode "shadow" at
// once and whatever the ledger says. The worker watches how the stream ends.

// passes says whether the caller's own stream executes.
func (c *Call) passes() bool { return c.Rule.Inline || c.shadows() }

// pass lets the stream execute.
func (w *Worker) pass(e *execution, approvedBy string) {
	c := e.caller
	c.running = e
	switch {
	case c.shadows():
		if c.passed != nil { // it is over already; otherwise it is on its way
			e.finished(*c.passed)
		}
	case c.answered: // the caller left before its stream went on
		e.end(ending{class: wire.ClassNotSent})
	default:
		c.settled()
		c.Caller.Pass(c.toolHeaders(approvedBy))
	}
}

// Passed says how the caller's own stream ended: with the tool's reply, or, Status 0, before that was complete. A
// stream's callback may call it; only the first call counts.
func (c *Call) Passed(r HTTPReply) {
	if c.passed != nil {
		return
	}
	c.passed = &r
	if c.running != nil {
		c.running.finished(r)
		c.worker.host.Wake()
	}
}

// Stayed says that the caller's own stream ended before it went on: if it was granted meanwhile, it has executed
// nothing. A stream's callback may call it.
func (c *Call) Stayed() {
	if e := c.running; e != nil && !e.ended {
		e.end(ending{class: wire.ClassNotSent})
		c.worker.host.Wake()
	}
}

// Passing gives the headers that tell of a call on the reply that streams past, by what is known when it begins.
func (c *Call) Passing(r HTTPReply) (headers [][2]string, outcome string) {
	switch classify(r, c.Rule.Failures) {
	case "":
		outcome = outcomeExecuted
	case wire.ClassDefinite:
		outcome = outcomeFailed
	case wire.ClassNotSent:
		outcome = outcomeNotSent
	default:
		outcome = outcomeInDoubt
	}
	c.worker.host.Count("calls."+outcome, 1)
	return c.tell(nil, outcome), outcome
}
