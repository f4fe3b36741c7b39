package exchange

import (
	"time"

	"idem/ledgerd/wire"
)

// decided acts on the ledger's verdict. What is not known to be a grant is never executed.
func (w *Worker) decided(c *Call, a wire.Answer, ok bool) {
	if c.shadows() {
		w.shadowed(c, a, ok)
		return
	}
	if !ok {
		if c.left {
			w.abandon(c.attempt, c.intent)
		}
		c.refuse(w.silence(c, "the ledger could not be reached, so the tool was not called"))
		return
	}
	if a.Intent != "" {
		c.intent = a.Intent
	}
	c.toldOf = a.Attempt
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
			w.abandon(c.attempt, c.intent)
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
	w.abandon(c.attempt, c.intent)
	c.refuse(w.silence(c, "the ledger could not decide, so the tool was not called"))
}

// granted executes, unless the grant came so late that the lease may end before anything is heard of the execution.
func (w *Worker) granted(c *Call, a wire.Answer) {
	lease := time.Duration(a.LeaseMS) * time.Millisecond
	if w.host.Now()-c.sent >= lease/2 {
		w.abandon(c.attempt, c.intent)
		c.refuse(w.silence(c, "the ledger answered too late to execute safely, so the tool was not called"))
		return
	}
	c.toldOf, c.recordedAs = c.attempt, a.Fingerprint
	w.execute(c, lease, a.ApprovedBy)
}

// join waits for another attempt: here, where it runs in this worker, else by the ledger.
func (w *Worker) join(c *Call, a wire.Answer) {
	c.waited = true
	if e := w.executions[a.Attempt]; e != nil {
		e.waiters = append(e.waiters, c)
		return
	}
	w.watch(c, watchKey{attempt: a.Attempt, since: a.Since})
}

// held tells the caller of the hold, at once or after the rule's hold_wait.
func (w *Worker) held(c *Call, a wire.Answer) {
	if c.Rule.HoldWait > 0 && w.host.Now() < c.holdEnds() && a.Hold != nil {
		c.held, c.waited = true, true
		w.watch(c, watchKey{hold: *a.Hold})
		return
	}
	c.refuse(heldProblem(a.Hold))
}

// replay gives the stored result, fetching it first where it is large.
func (w *Worker) replay(c *Call, a wire.Answer) {
	if a.Fetch {
		w.fetch(a.Attempt, c.intent, a, func(a wire.Answer) { c.stored(a, outcomeReplay) })
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
		c.refuse(w.silence(c, "the ledger answered too late, so the tool was not called"))
	default:
		c.refuse(overloadedProblem(a))
	}
}
