package exchange

import (
	"time"

	"idem/ledgerd/wire"
)

// execution is one attempt's life: the call to the tool, the extensions of its lease, what it came to, and who in this
// worker waits for it. It belongs to the worker: the caller that started it may leave.
type execution struct {
	worker   *Worker
	attempt  string
	intent   string // of the record that the attempt is in
	caller   *Call  // the one that executes
	waiters  []*Call
	lease    time.Duration
	begun    time.Duration
	extendAt time.Duration
	started  int64 // the ledger's clock, Unix ms

	ended   bool // the tool's part is over
	result  ending
	stream  *stream       // a tools/call's reply that is followed over several connections; nil: it is not
	replyBy time.Duration // when the caller is answered even though the ledger has not acknowledged
}

// ending is what an execution came to.
type ending struct {
	class   wire.Class   // empty: success
	stored  *wire.Result // what is stored and given to others
	own     *wire.Result // what the executor is given: its own cookies too; nil: there is nothing of the tool's
	missing string       // why a success is stored without its body; empty: it is not

	unrouted bool // not sent, because the execution listener has no route for it
}

// execute calls the tool for c's attempt.
func (w *Worker) execute(c *Call, lease time.Duration, approvedBy string) {
	e := &execution{worker: w, attempt: c.attempt, intent: c.intent, caller: c, lease: lease, started: w.link.now()}
	e.begun = w.host.Now()
	e.extendAt = e.begun + lease/3
	w.executions[e.attempt] = e
	w.host.Count("executions", 1)
	switch {
	case c.executesItself():
		w.letExecute(e, approvedBy)
	default:
		call := c.toTool(w.config.Execute.Cluster, approvedBy)
		e.follow(&call)
		if !w.host.Dispatch(call, e.returned) {
			e.end(ending{class: wire.ClassNotSent})
			w.link.flush()
		}
	}
	c.letGo()
}

// returned takes the reply of the HTTP call that executes.
func (e *execution) returned(r HTTPReply) {
	if e.stream != nil {
		e.stream.returned(r)
	} else {
		e.finished(r)
	}
	e.worker.link.flush()
}

// tick extends the lease and keeps the callers' bounds.
func (e *execution) tick(now time.Duration) {
	if now >= e.extendAt && !e.overdue(now) {
		e.extendAt = now + e.lease/3
		op := wire.Op{Kind: wire.OpExtend, Attempt: e.attempt, Intent: e.intent}
		e.worker.link.send(queued{op: op, done: e.extended})
	}
	if e.overdue(now) && !e.caller.shadows() {
		e.end(ending{class: wire.ClassUnknown})
	}
	if e.stream != nil && !e.ended {
		e.stream.tick(now)
	}
	if e.ended && now >= e.replyBy {
		e.tell(false)
	}
	e.waiters = stillWaiting(e.waiters, func(c *Call) bool {
		if now < c.waitEnds() {
			return true
		}
		if e.ended {
			c.refuse(problem{code: codeLedgerUnavailable, retryAfter: time.Second,
				detail: "another attempt of this call has ended and the ledger could not be reached to say how; this one was not executed"})
		} else {
			c.refuse(inFlightProblem(e.started))
		}
		return false
	})
}

// deadline is when the execution's time is over.
func (e *execution) deadline() time.Duration { return e.begun + e.caller.Rule.ExecutionTimeout }

// overdue says whether the caller's own stream executes and has outlasted the execution timeout. A stream that is only
// watched is not ended then, but nothing vouches for it any more: its lease is left to end. An execution of the worker's
// own is ended by its HTTP call's timeout.
func (e *execution) overdue(now time.Duration) bool {
	return !e.ended && e.caller.executesItself() && now >= e.deadline()
}

func (e *execution) extended(a wire.Answer, ok bool) {
	if ok && a.Kind == wire.AnswerFenced && !e.ended {
		e.worker.host.Count("executions.fenced", 1)
	}
}

// finished reads the tool's reply, or the proxy's word about it.
func (e *execution) finished(r HTTPReply) {
	if e.ended {
		return
	}
	class := classify(r, e.caller.Rule.Failures)
	e.worker.lookAtAttempts(r)
	if class == wire.ClassUnknown || class == wire.ClassNotSent {
		e.end(ending{class: class, unrouted: class == wire.ClassNotSent && listed(header(r.Headers, headerFlags), flagUnrouted)})
		return
	}
	if r.Unread {
		e.endUnread(class, r.Status)
		return
	}
	own := ownResult(r)
	stored := storedResult(*own, e.caller.Rule.KeepHeaders)
	if e.caller.MCP != nil {
		class, stored = finalResult(class, *stored, e.caller.askedUnder())
		if class = ofAttempts(class, r); class == wire.ClassUnknown {
			e.end(ending{class: class})
			return
		}
		own.Body = e.caller.returned(*own)
	}
	stored = traced(*stored, e.caller.Request.Headers)
	result := ending{class: class, stored: stored, own: own}
	if class == "" && int64(len(stored.Body)) > e.caller.Rule.MaxResultBytes {
		result.missing = wire.MissingTooLarge
	}
	e.end(result)
}

// endUnread ends an execution whose reply there was no room for, or which is larger than what is kept of one that passes.
// Its status tells how it ended, but for a tools/call, where the body does.
func (e *execution) endUnread(class wire.Class, status int) {
	switch {
	case class != "":
		e.end(ending{class: class})
	case e.caller.MCP != nil:
		e.end(ending{class: wire.ClassUnknown})
	default:
		e.end(ending{stored: &wire.Result{Status: status}, missing: wire.MissingTooLarge})
	}
}

// end reports to the ledger what the execution came to; the callers are told once that is durable.
func (e *execution) end(result ending) {
	w := e.worker
	w.took(statExecutionMS, e.begun)
	if e.stream != nil {
		e.stream.letGo()
	}
	if result.own != nil {
		w.host.Observe(statResultBytes, uint64(len(result.own.Body)))
		w.replies += int64(len(result.own.Body))
	}
	e.ended, e.result, e.replyBy = true, result, w.host.Now()+w.config.Ledger.CommitTimeout
	op := wire.Op{Kind: wire.OpFail, Attempt: e.attempt, Intent: e.intent, Class: result.class, Result: result.stored}
	if result.class == "" {
		op.Kind = wire.OpCommit
		if op.Missing = result.missing; op.Missing != "" {
			op.Result = &wire.Result{Status: result.stored.Status}
		}
	}
	w.settle(op, e.acknowledged)
}

// acknowledged tells everyone. Fenced means that the row was decided otherwise meanwhile: by a human, or by another
// attempt; who waited asks the ledger what holds now.
func (e *execution) acknowledged(a wire.Answer) {
	w := e.worker
	delete(w.executions, e.attempt)
	if e.result.own != nil {
		w.replies -= int64(len(e.result.own.Body))
	}
	durable := a.Kind == wire.AnswerOK
	e.tell(durable)
	for _, c := range e.waiters {
		switch {
		case !durable:
			w.reserveAnew(c)
		case e.result.missing != "":
			c.refuse(missingProblem(e.result.missing))
		case e.result.class == "":
			c.reply(c.resultReply(*e.result.stored, outcomeCoalesced))
		case c.ofExecutor(e.result.class, e.result.stored):
			w.reserveAnew(c)
		default:
			c.reply(e.failureReply(c, e.result.stored))
		}
	}
	e.waiters, e.result.stored, e.result.own = nil, nil, nil // a stream may keep the execution for as long as its caller reads
}

// failureReply tells a caller of a failure. Where there was no route, that is a fault of the proxy's configuration which
// nobody would look for at the tool.
func (e *execution) failureReply(c *Call, stored *wire.Result) Reply {
	if e.result.unrouted {
		return c.problemReply(problem{code: codeNotSent, detail: "the execution listener has no route for it (NR), so the request never reached the tool"})
	}
	return c.failureReply(e.result.class, stored)
}

// tell answers the caller that executed. committed: the ledger has what is told.
func (e *execution) tell(committed bool) {
	c := e.caller
	if c.wentOn {
		e.conclude(committed)
		return
	}
	if c.answered {
		return
	}
	var r Reply
	switch own := e.result.own; {
	case own == nil && e.result.class == "" && committed:
		r = c.problemReply(problem{code: codeResultUnavailable,
			detail: "it was executed; this proxy worker had no room for its result; do not repeat it"})
	case own == nil && e.result.class == "":
		r = c.failureReply(wire.ClassUnknown, nil)
	case own == nil:
		r = e.failureReply(c, nil)
	case e.result.class != "":
		r = c.executorReply(*own, outcomeFailed)
	case committed:
		r = c.executorReply(*own, outcomeExecuted)
	default:
		r = c.executorReply(*own, outcomeInDoubt)
	}
	if !committed {
		r.Headers = append(r.Headers, [2]string{headerCommitted, "false"})
	}
	c.reply(r)
}
