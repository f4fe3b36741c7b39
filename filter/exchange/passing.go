package exchange

import (
	"strconv"
	"strings"

	"idem/filter/mcp"
	"idem/ledgerd/wire"
)

// A call whose caller's own stream goes on to the tool: by execution "inline" once it is granted, in mode "shadow" at
// once and whatever the ledger says. The worker watches how the stream ends, and tells an inline one what it came to.

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
		c.wentOn = true
		c.Caller.GoOn(c.streamHeaders(approvedBy))
	}
}

// noRetries has the proxy's router send the stream's request once, whatever retries and hedging the caller's route is
// set up for: it takes the two for the route's own, and keeps them to itself.
var noRetries = [][2]string{{"x-envoy-max-retries", "0"}, {"x-envoy-hedge-on-per-try-timeout", "false"}}

// streamHeaders are the headers of a stream that goes on: those of a call to the tool, what they say of trailers, for
// the stream's own follow it, and that it goes on once.
func (c *Call) streamHeaders(approvedBy string) [][2]string {
	headers := append(c.toolHeaders(approvedBy), noRetries...)
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
		c.streamEnd.Body = nil
		c.worker.host.Wake()
	}
}

// StreamPassed says that more of a reply that streams past has come. What can be no part of the tool's result is let go:
// an event stream may tell of a tool's progress for hours. It says whether the response to a tools/call has come whole,
// which is how the call ended, whatever the stream still holds. A stream's callback may call it.
func (c *Call) StreamPassed(r *HTTPReply) (ended bool) {
	kind := header(r.Headers, "content-type")
	if c.MCP != nil && mcp.IsEvents(kind) && mcp.EndsEvent(r.Body, c.lookedAt) {
		r.Body = mcp.WithoutEvents(r.Body)
		ended = mcp.ReadFinal(kind, r.Body, c.askedUnder()).Told()
	}
	c.lookedAt = len(r.Body)
	c.keepOfReply(int64(len(r.Body)))
	return ended
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

// Holds says whether a reply that begins like this is held back until it has come whole and the ledger has heard of it,
// so that the caller is told what is true, in place of it where it is not the tool's own word: whatever did not succeed,
// and what is of no use before its end, a body of known length or JSON. What is larger than what is kept of a reply goes
// on all the same. Anything else streams past.
func (c *Call) Holds(begun HTTPReply) bool {
	if classify(begun, c.Rule.Failures) != "" {
		return true
	}
	kind := header(begun.Headers, "content-type")
	if length := header(begun.Headers, "content-length"); length != "" && !mcp.IsEvents(kind) {
		n, err := strconv.ParseInt(length, 10, 64)
		return err == nil && n <= c.MostPassing()
	}
	kind, _, _ = strings.Cut(kind, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	return kind == mcp.ContentJSON || strings.HasSuffix(kind, "+json") && !strings.HasSuffix(kind, "stream+json")
}

// ResumedByClient says whether a reply that ends before the response is one whose rest the client asks for itself: it has to
// see that the stream ended, and what came before. In revision 2026-07-28 no stream goes on. A stream's callback may call it.
func (c *Call) ResumedByClient(r HTTPReply) bool {
	return c.MCP != nil && !c.MCP.Typed && mcp.IsEvents(header(r.Headers, "content-type"))
}

// StreamLeft says that the caller's own stream ended before the reply did; r is what had passed of it. A tools/call whose
// response was in that lacks nothing: clients leave an event stream once they have read the response. A stream's
// callback may call it.
func (c *Call) StreamLeft(r HTTPReply) {
	if c.streamEnd != nil {
		return
	}
	if c.MCP == nil || !mcp.ReadFinal(header(r.Headers, "content-type"), r.Body, c.askedUnder()).Present {
		r = HTTPReply{}
	}
	c.StreamEnded(r)
}

// NeverWentOn says that the caller's own stream ended before it went on: if it was granted meanwhile, it has executed
// nothing. A stream's callback may call it.
func (c *Call) NeverWentOn() {
	if e := c.running; e != nil && !e.ended {
		c.wentOn = false
		e.end(ending{class: wire.ClassNotSent})
		c.worker.host.Wake()
	}
}

// StreamBegan gives what is told of a call on a reply that streams past, by what is known when it begins: headers to add,
// and no body. That the tool has begun to answer is all that is known of a success; the end decides. A stream's callback
// may call it.
func (c *Call) StreamBegan(r HTTPReply) Reply {
	var outcome string
	switch classify(r, c.Rule.Failures) {
	case "":
		outcome = outcomeExecuted
	case wire.ClassDefinite:
		outcome = outcomeFailed
	default:
		outcome = outcomeInDoubt
	}
	return Reply{Headers: append(c.withOutcome(nil, outcome), [2]string{headerCommitted, "pending"}), Outcome: outcome, Attempt: c.toldOf}
}

// Broken is what the caller is told where the proxy has to give up a reply of which nothing has reached it yet: that its
// call is in doubt. Neither the filter nor the ledger is asked then. A stream's callback may call it.
func (c *Call) Broken() Reply { return c.failureReply(wire.ClassUnknown, nil) }

// conclude tells the stream that went on what came of it, once. committed: the ledger has that.
func (e *execution) conclude(committed bool) {
	c := e.caller
	c.wentOn = false
	r := e.concluded(committed)
	r.Attempt = c.toldOf
	e.worker.count(r)
	c.Caller.Conclude(r)
}

// concluded is what the caller is told whose own stream executed: on the tool's own reply, or in its place.
func (e *execution) concluded(committed bool) Reply {
	var r Reply
	switch {
	case e.result.class == "" && committed:
		r.Outcome = outcomeExecuted
	case e.result.class == "":
		r.Outcome = outcomeInDoubt
	case e.result.class == wire.ClassDefinite:
		r.Outcome = outcomeFailed
	default:
		r = e.failureReply(e.caller, nil)
	}
	if r.Status == 0 {
		r.Headers = e.caller.withOutcome(nil, r.Outcome)
	}
	if !committed {
		r.Headers = append(r.Headers, [2]string{headerCommitted, "false"})
	}
	return r
}

// Unconcluded is what access logs are told of a stream that has ended before it was told what came of it.
func (c *Call) Unconcluded() Reply {
	r := Reply{Attempt: c.toldOf, Outcome: outcomeInDoubt}
	if e := c.running; e != nil && e.ended {
		switch e.result.class {
		case "":
			r.Outcome = outcomeInFlight // the ledger has not heard of it yet
		case wire.ClassDefinite:
			r.Outcome = outcomeFailed
		case wire.ClassNotSent:
			r.Outcome = outcomeNotSent
		}
	}
	return r
}
