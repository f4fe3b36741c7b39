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
	sent     time.Duration // when its newest reserve was sent
	left     bool          // that reserve has been sent: the ledger may know of it
	asking   bool          // that reserve has no answer yet
	anew     int           // how often it reserved anew
	late     int           // how often of these because its reserve came too late
	held     bool          // it waits, or has waited, for a human's answer
	answered bool          // it has its reply, or has left
	size     int64         // what it keeps of its worker's room
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

// lastBound is when the caller has its reply for certain: it may wait, then have to execute itself, and ask the ledger
// some times meanwhile; all of that is over by then.
func (c *Call) lastBound() time.Duration {
	ledger := c.worker.config.Ledger
	return c.arrived + max(c.Rule.Wait, c.Rule.HoldWait) + c.Rule.ExecutionTimeout + ledger.CommitTimeout + 4*ledger.Timeout
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
	c.attempt, c.record = w.host.NewID(), c.Action.Intent
	rule := &c.Rule.Ledger
	c.asking, c.left = true, false
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
		if c.left {
			w.abandon(c.attempt, c.record)
		}
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
		w.replay(c, a)
	case wire.AnswerHeld:
		w.held(c, a)
	case wire.AnswerInDoubt:
		c.refuse(problem{code: codeInDoubt, status: 409, since: a.Since, detail: detailInDoubt})
	case wire.AnswerDenied:
		c.refuse(problem{code: codeDenied, hold: a.Hold, detail: "a person decided that this call must not be executed"})
	case wire.AnswerRefused:
		w.refusedByLedger(c, a)
	case wire.AnswerError:
		if a.Code == wire.CodeOverloaded {
			w.abandon(c.attempt, c.record)
			c.refuse(overloadedProblem(a))
			return
		}
		if a.Code != wire.CodeUnavailable {
			w.host.Warn("the ledger does not take a reserve: " + a.Field + ": " + a.Detail)
		}
		w.undecided(c)
	default:
		w.host.Warn("the ledger answered a reserve with " + string(a.Kind))
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
		c.held = true
		w.watch(c, watchKey{hold: *a.Hold})
		return
	}
	c.refuse(heldProblem(a.Hold))
}

// replay gives the stored result, fetching it first where it is large.
func (w *Worker) replay(c *Call, a wire.Answer) {
	if a.Fetch {
		w.fetch(a.Attempt, c.record, a, func(a wire.Answer) { c.stored(a, outcomeReplay) })
		return
	}
	c.stored(a, outcomeReplay)
}

// fetch asks for the stored reply of an attempt by a call of its own, and gives a with that reply in it. Where there is
// none any more, a.Missing says so; where it cannot be had now, a.Fetch stays.
func (w *Worker) fetch(attempt, intent string, a wire.Answer, then func(wire.Answer)) {
	op := wire.Op{Kind: wire.OpFetch, Attempt: attempt, Intent: intent}
	w.ask(op, w.config.Ledger.Timeout, func(f wire.Answer, ok bool) {
		switch {
		case !ok || f.Kind == wire.AnswerError:
		case f.Kind == wire.AnswerResult && f.Result != nil:
			a.Fetch, a.Result = false, f.Result
		default:
			a.Fetch, a.Missing = false, wire.MissingErased
		}
		then(a)
	})
}

// stored tells the caller the stored result.
func (c *Call) stored(a wire.Answer, outcome string) {
	switch {
	case a.Missing != "":
		c.refuse(missingProblem(a.Missing))
	case a.Fetch:
		c.refuse(problem{code: codeLedgerUnavailable, retryAfter: time.Second,
			detail: "it was executed; the ledger could not be reached for its stored result"})
	case a.Result == nil:
		c.worker.host.Warn("the ledger gave neither a result nor why there is none")
		c.refuse(missingProblem(wire.MissingErased))
	default:
		c.reply(c.resultReply(*a.Result, outcome))
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
		c.refuse(overloadedProblem(a))
	}
}
