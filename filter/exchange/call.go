package exchange

import (
	"time"

	"idem/canon"
	"idem/filter/mcp"
	"idem/filter/policy"
	"idem/ledgerd/wire"
)

// Call is one guarded call of one caller, from its arrival to its reply.
type Call struct {
	Rule    *policy.Rule
	Action  canon.Action
	Also    []wire.Identity // what former configurations would have called it
	Request Request
	MCP     *mcp.Request // the tools/call that the request is; nil: it is none
	Caller  Caller

	worker     *Worker
	attempt    string        // of its newest reserve
	intent     string        // of the record that decided that reserve
	arrived    time.Duration // when the call came in
	sent       time.Duration // when its newest reserve was sent
	stalled    time.Duration // how long its worker had stalled in all when that reserve was made
	left       bool          // that reserve has been sent: the ledger may know of it
	recordedAs string        // the fingerprint of its row, where another configuration recorded it; empty: its own
	toldOf     string        // the attempt that its reply tells of; empty: none is known
	waited     bool          // for another's execution, or for a human
	asking     bool          // that reserve has no answer yet
	anew       int           // how often it reserved anew
	late       int           // how often of these because its reserve came too late
	held       bool          // it waits, or has waited, for a human's answer
	answered   bool          // it has its reply, or has left
	size       int64         // what it keeps of its worker's room
	replySize  int64         // what it keeps of the room for replies, of one that passes
	lookedAt   int           // how many bytes of that have been looked at
	toolID     []byte        // the JSON-RPC id under which the tool knows this tools/call; nil: the caller's
	running    *execution    // that the caller's own stream executes
	wentOn     bool          // that stream is on its way, and has not been told what came of it
	streamEnd  *HTTPReply    // how that stream ended
}

// maxAnew bounds how often one call reserves anew: each time something changed under it that a person or another
// caller did.
const maxAnew = 16

// maxLate bounds how often a reserve that came too late is made anew: each of them told the worker the ledger's clock.
const maxLate = 3

// Leave says that the caller has gone. What runs for it goes on. A stream's callback may call it.
func (c *Call) Leave() { c.closed() }

// closed says that nobody waits for a reply to this call any more.
func (c *Call) closed() {
	c.answered = true
	delete(c.worker.parked, c)
	if !c.asking {
		c.letGo()
	}
}

// lastBound is when the caller has its reply for certain.
func (c *Call) lastBound() time.Duration { return c.arrived + c.worker.config.LongestWait(c.Rule) }

// reply answers the caller, once.
func (c *Call) reply(r Reply) {
	if c.answered {
		return
	}
	c.closed()
	if c.waited {
		c.worker.took(statWaitMS, c.arrived)
	}
	r.Attempt = c.toldOf
	c.worker.count(r)
	c.Caller.Reply(r)
}

func (c *Call) refuse(p problem) { c.reply(c.problemReply(p)) }

// waitEnds is when a wait for another's execution ends. A call that was held goes on in the wait that it had for that.
func (c *Call) waitEnds() time.Duration {
	if c.held {
		return c.arrived + max(c.Rule.Wait, c.Rule.HoldWait)
	}
	return c.arrived + c.Rule.Wait
}

// holdEnds is when the wait for a human's answer ends.
func (c *Call) holdEnds() time.Duration { return c.arrived + c.Rule.HoldWait }

// reserve asks the ledger what this call gets. Each reserve is a new attempt.
func (w *Worker) reserve(c *Call) {
	c.attempt, c.intent = w.host.NewID(), c.Action.Intent
	rule := &c.Rule.Ledger
	c.asking, c.left = true, false
	c.stalled = w.stalls.until(w.host.Now())
	w.link.send(queued{
		op: wire.Op{
			Kind: wire.OpReserve, Attempt: c.attempt,
			Intent: c.Action.Intent, Fingerprint: c.Action.Fingerprint, Also: c.Also,
			Run: c.Action.Run, Tool: c.Action.Tool, Action: c.Request.forPeople(c.Action), Rule: rule,
		},
		sent: func(now time.Duration) { c.sent, c.left = now, true },
		done: func(a wire.Answer, ok bool) {
			c.asking = false
			w.decided(c, a, ok)
			if c.answered && !c.asking {
				c.letGo()
			}
		},
	})
}

// reserveAnew reserves again after what this call waited for has gone.
func (w *Worker) reserveAnew(c *Call) {
	if c.answered {
		return
	}
	if c.anew++; c.anew > maxAnew {
		c.refuse(problem{code: codeInFlight, detail: "the state of this call kept changing while it waited", retryAfter: time.Second})
		return
	}
	w.reserve(c)
}
