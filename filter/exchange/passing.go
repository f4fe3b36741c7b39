package exchange

import (
	"idem/filter/mcp"
	"idem/ledgerd/wire"
)

// A call whose caller's own stream goes on to the tool: by execution "inline" once it is granted, in mode "shadow" at
// once and whatever the ledger says. The worker watches how the stream ends.

// executesItself says whether the caller's own stream executes.
func (c *Call) executesItself() bool { return c.Rule.Inline || c.shadows() }

// letExecute lets the stream execute.
func (w *Worker) letExecute(e *execution, approvedBy string) {
	c := e.caller
	c.running = e
	switch {
	case c.shadows():
		if c.streamEnd != nil { // it is over already; otherwise it is on its way
			e.finished(*c.streamEnd)
		}
	case c.answered: // the caller left before its stream went on
		e.end(ending{class: wire.ClassNotSent})
	default:
		c.closed()
		c.Caller.GoOn(c.streamHeaders(approvedBy))
	}
}

// streamHeaders are the headers of a stream that goes on: those of a call to the tool, and what they say of trailers, for
// the stream's own follow it.
func (c *Call) streamHeaders(approvedBy string) [][2]string {
	headers := c.toolHeaders(approvedBy)
	for _, h := range c.Request.Headers {
		if h[0] == "trailer" || h[0] == "te" && h[1] == "trailers" {
			headers = append(headers, h)
		}
	}
	return headers
}

// StreamEnded says how the caller's own stream ended: with the tool's reply, or, Status 0, before that was complete. A
// stream's callback may call it; only the first call counts.
func (c *Call) StreamEnded(r HTTPReply) {
	if c.streamEnd != nil {
		return
	}
	c.streamEnd = &r
	c.keepOfReply(0) // it is the execution's now
	if c.running != nil {
		c.running.finished(r)
		c.worker.host.Wake()
	}
}

// StreamPassed says that more of the reply has passed. What can be no part of the tool's result is let go: an event
// stream may tell of a tool's progress for hours. A stream's callback may call it.
func (c *Call) StreamPassed(r *HTTPReply) {
	if c.MCP != nil {
		r.Body = mcp.WithoutEvents(header(r.Headers, "content-type"), r.Body)
	}
	c.keepOfReply(int64(len(r.Body)))
}

// MostPassing is how much of a reply that passes is kept at most. A tools/call's has to be read whole, or nobody knows
// how it ended, though its result may be larger than what is stored.
func (c *Call) MostPassing() int64 {
	if c.MCP != nil {
		return max(c.Rule.MaxResultBytes, mostRead)
	}
	return c.Rule.MaxResultBytes
}

// mostRead is what is read at least of a tools/call's reply.
const mostRead = 8 << 20

// StreamLeft says that the caller's own stream ended before the reply did; r is what had passed of it. A tools/call whose
// response was in that lacks nothing: clients leave an event stream once they have read the response. A stream's
// callback may call it.
func (c *Call) StreamLeft(r HTTPReply) {
	if c.MCP == nil || !mcp.ReadFinal(header(r.Headers, "content-type"), r.Body, c.askedUnder()).Present {
		r = HTTPReply{}
	}
	c.StreamEnded(r)
}

// NeverWentOn says that the caller's own stream ended before it went on: if it was granted meanwhile, it has executed
// nothing. A stream's callback may call it.
func (c *Call) NeverWentOn() {
	if e := c.running; e != nil && !e.ended {
		e.end(ending{class: wire.ClassNotSent})
		c.worker.host.Wake()
	}
}

// StreamBegan gives what is told of a call on the reply that streams past, by what is known when it begins: headers to
// add, and no body.
func (c *Call) StreamBegan(r HTTPReply) Reply {
	var outcome string
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
	return Reply{Headers: c.withOutcome(nil, outcome), Outcome: outcome, Attempt: c.toldOf}
}
