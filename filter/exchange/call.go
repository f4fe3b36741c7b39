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

	worker   *Worker
	attempt  string        // of its newest reserve
	record   string        // the intent whose record decided that reserve
	arrived  time.Duration // when the call came in
	sent     time.Duration // when its newest reserve was first sent
	anew     int           // how often it reserved anew
	size     int64         // what it keeps of its worker's room
	asking   bool          // its reserve is under way
	late     int           // how often of these because its reserve came too late
	answered bool          // it has its reply, or has left
	running  *execution    // that the caller's own stream executes
	passed   *HTTPReply    // how that stream ended
}

// maxAnew bounds how often one call reserves anew: each time something changed under it that a person or another
// caller did.
const maxAnew = 16

// maxLate bounds how often a reserve that came too late is made anew: each of them told the worker the ledger's clock.
const maxLate = 3

// Leave says that the caller has gone. What runs for it goes on. A stream's callback may call it.
func (c *Call) Leave() { c.settled() }

// settled says that nobody waits for a reply to this call any more.
func (c *Call) settled() {
	c.answered = true
	delete(c.worker.parked, c)
	if !c.asking {
		c.unload()
	}
}

// lastBound is when the caller has its reply for certain: whatever it waits for has a bound that is over by then.
func (c *Call) lastBound() time.Duration {
	ledger := c.worker.config.Ledger
	return max(c.waitEnds(), c.arrived+c.Rule.ExecutionTimeout) + ledger.CommitTimeout + 4*ledger.Timeout
}

// reply answers the caller, once.
func (c *Call) reply(r Reply) {
	if c.answered {
		return
	}
	c.settled()
	c.worker.count(r)
	c.Caller.Reply(r)
}

func (c *Call) refuse(p problem) { c.reply(c.problemReply(p)) }

// waitEnds is when a wait for another's execution ends.
func (c *Call) waitEnds() time.Duration { return c.arrived + max(c.Rule.Wait, c.Rule.HoldWait) }

// holdEnds is when the wait for a human's answer ends.
func (c *Call) holdEnds() time.Duration { return c.arrived + c.Rule.HoldWait }

// reserve asks the ledger what this call gets. Each reserve is a new attempt.
func (w *Worker) reserve(c *Call) {
	c.attempt, c.record = w.host.NewID(), c.Action.Intent
	rule := &c.Rule.Ledger
	c.asking = true
	w.link.send(queued{
		op: wire.Op{
			Kind: wire.OpReserve, Attempt: c.attempt,
			Intent: c.Action.Intent, Fingerprint: c.Action.Fingerprint, Also: c.Also,
			Run: c.Action.Run, Tool: c.Action.Tool, Action: c.Request.forPeople(c.Action), Rule: rule,
		},
		sent: func(now time.Duration) { c.sent = now },
		done: func(a wire.Answer, ok bool) {
			c.asking = false
			w.decided(c, a, ok)
			if c.answered && !c.asking {
				c.unload()
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

// decided acts on the ledger's verdict. What is not known to be a grant is never executed.
func (w *Worker) decided(c *Call, a wire.Answer, ok bool) {
	if c.shadows() {
		w.shadowed(c, a, ok)
		return
	}
	if !ok {
		w.abandon(c.attempt, c.record)
		c.refuse(problem{code: codeLedgerUnavailable, retryAfter: time.Second,
			detail: "the ledger could not be reached, so the tool was not called"})
		return
	}
	if a.Intent != "" {
		c.record = a.Intent
	}
	switch a.Kind {
	case wire.AnswerExecute:
		if a.Attempt != "" && a.Attempt != c.attempt {
			w.host.Warn("the ledger granted another attempt than the one that was asked for")
			w.undecided(c)
			return
		}
		w.granted(c, a)
	case wire.AnswerInFlight:
		w.join(c, a)
	case wire.AnswerReplay:
		w.replay(c, a, outcomeReplay)
	case wire.AnswerHeld:
		w.held(c, a)
	case wire.AnswerInDoubt:
		c.refuse(problem{code: codeInDoubt, status: 409, since: a.Since, detail: detailInDoubt})
	case wire.AnswerDenied:
		c.refuse(problem{code: codeDenied, hold: a.Hold, detail: "a person decided that this call must not be executed"})
	case wire.AnswerRefused:
		w.refusedByLedger(c, a)
	default:
		if a.Code != wire.CodeUnavailable {
			w.host.Warn("the ledger does not take a reserve: " + a.Field + ": " + a.Detail)
		}
		w.undecided(c)
	}
}

// undecided gives up an attempt that the ledger has not decided about.
func (w *Worker) undecided(c *Call) {
	w.abandon(c.attempt, c.record)
	c.refuse(problem{code: codeLedgerUnavailable, retryAfter: time.Second,
		detail: "the ledger could not decide, so the tool was not called"})
}

// granted executes, unless the grant came so late that the lease may end before anything is heard of the execution.
func (w *Worker) granted(c *Call, a wire.Answer) {
	lease := time.Duration(a.LeaseMS) * time.Millisecond
	if w.host.Now()-c.sent >= lease/2 {
		w.abandon(c.attempt, c.record)
		c.refuse(problem{code: codeLedgerUnavailable, retryAfter: time.Second,
			detail: "the ledger answered too late to execute safely, so the tool was not called"})
		return
	}
	w.execute(c, lease, a.ApprovedBy)
}

// join waits for another attempt: here, where it runs in this worker, else by the ledger.
func (w *Worker) join(c *Call, a wire.Answer) {
	if e := w.executions[a.Attempt]; e != nil {
		e.waiters = append(e.waiters, c)
		return
	}
	w.watch(c, watchKey{attempt: a.Attempt, since: a.Since})
}

// held tells the caller of the hold, at once or after the rule's hold_wait.
func (w *Worker) held(c *Call, a wire.Answer) {
	if c.Rule.HoldWait > 0 && w.host.Now() < c.holdEnds() && a.Hold != nil {
		w.watch(c, watchKey{hold: *a.Hold})
		return
	}
	c.refuse(heldProblem(a.Hold))
}

// replay gives the stored result, fetching it first where it is large.
func (w *Worker) replay(c *Call, a wire.Answer, outcome string) {
	switch {
	case a.Missing != "":
		c.refuse(missingProblem(a.Missing))
	case a.Fetch:
		op := wire.Op{Kind: wire.OpFetch, Attempt: a.Attempt, Intent: c.record}
		w.ask(op, w.config.Ledger.Timeout, func(f wire.Answer, ok bool) { w.fetched(c, f, ok, outcome) })
	case a.Result == nil:
		w.host.Warn("the ledger gave a replay without a result")
		c.refuse(missingProblem(wire.MissingErased))
	default:
		c.reply(c.resultReply(*a.Result, outcome))
	}
}

func (w *Worker) fetched(c *Call, f wire.Answer, ok bool, outcome string) {
	switch {
	case !ok || f.Kind == wire.AnswerError:
		c.refuse(problem{code: codeLedgerUnavailable, retryAfter: time.Second,
			detail: "it was executed before; the ledger could not be reached for its stored result"})
	case f.Kind == wire.AnswerResult && f.Result != nil:
		c.reply(c.resultReply(*f.Result, outcome))
	default:
		c.refuse(missingProblem(wire.MissingErased))
	}
}

// refusedByLedger handles a reserve that the ledger did not take: nothing was reserved.
func (w *Worker) refusedByLedger(c *Call, a wire.Answer) {
	switch a.Code {
	case wire.CodeLate, wire.CodeEnded:
		if c.late++; c.late <= maxLate && w.host.Now() < c.arrived+w.config.Ledger.Timeout {
			w.reserveAnew(c)
			return
		}
		c.refuse(problem{code: codeLedgerUnavailable, retryAfter: time.Second,
			detail: "the ledger answered too late, so the tool was not called"})
	default:
		after := time.Duration(a.RetryAfterMS) * time.Millisecond
		c.refuse(problem{code: codeOverloaded, retryAfter: max(after, time.Second), detail: a.Detail})
	}
}
