package exchange

import (
	"time"

	"idem/ledgerd/wire"
)

// watchKey is what a watch waits for: an attempt that runs elsewhere, or a hold.
type watchKey struct {
	attempt string
	since   int64 // of the attempt, Unix ms
	hold    wire.Hold
}

func (k watchKey) id() string {
	if k.attempt != "" {
		return k.attempt
	}
	return "hold " + k.hold.ID
}

// watch is one wait at the ledger on behalf of every caller here that waits for the same thing.
type watch struct {
	worker  *Worker
	key     watchKey
	intent  string
	waiters []*Call
	asking  bool
	retryAt time.Duration // after the ledger could not be reached
}

const (
	longestAwait = 30 * time.Second
	awaitRetry   = 500 * time.Millisecond
)

// watch makes a call wait for key.
func (w *Worker) watch(c *Call, key watchKey) {
	v := w.watches[key.id()]
	if v == nil {
		v = &watch{worker: w, key: key, intent: c.intent}
		w.watches[key.id()] = v
	}
	v.waiters = append(v.waiters, c)
	if !v.asking {
		v.ask(w.host.Now())
	}
}

// ends is when a waiter's wait for this is over.
func (v *watch) ends(c *Call) time.Duration {
	if v.key.attempt == "" {
		return c.holdEnds()
	}
	return c.waitEnds()
}

// ask sends the await, as long as the most patient waiter waits.
func (v *watch) ask(now time.Duration) {
	wait := time.Duration(0)
	for _, c := range v.waiters {
		wait = max(wait, v.ends(c)-now)
	}
	wait = min(wait, longestAwait)
	v.asking = true
	op := wire.Op{Kind: wire.OpAwait, Attempt: v.key.attempt, Hold: v.key.hold.ID, Intent: v.intent, WaitMS: wait.Milliseconds()}
	v.worker.ask(op, wait+v.worker.config.Ledger.Timeout, v.heard)
}

// heard acts on the answer to the await.
func (v *watch) heard(a wire.Answer, ok bool) {
	v.asking = false
	w := v.worker
	overloaded := a.Kind == wire.AnswerError && a.Code == wire.CodeOverloaded
	switch {
	case !ok || a.Kind == wire.AnswerError && !overloaded:
		v.retryAt = w.host.Now() + awaitRetry
	case a.Kind == wire.AnswerInFlight || a.Kind == wire.AnswerHeld:
		v.retryAt = 0 // whoever still waits has it asked again at the next tick
	case a.Fetch:
		delete(w.watches, v.key.id())
		w.fetch(v.key.attempt, v.intent, a, v.wake)
	default:
		delete(w.watches, v.key.id())
		v.wake(a)
	}
}

// wake tells everyone who waits how it ended.
func (v *watch) wake(a wire.Answer) {
	for _, c := range v.waiters {
		if !c.answered {
			v.worker.woken(c, a)
		}
	}
	v.worker.link.flush()
}

// woken tells one waiter how the thing that it waited for ended.
func (w *Worker) woken(c *Call, a wire.Answer) {
	switch a.Kind {
	case wire.AnswerResult:
		c.stored(a, outcomeCoalesced)
	case wire.AnswerFailed:
		if c.ofExecutor(a.Class, a.Result) {
			w.reserveAnew(c)
			return
		}
		c.reply(c.failureReply(a.Class, a.Result))
	case wire.AnswerInDoubt:
		c.refuse(problem{code: codeInDoubt, status: 504, since: a.Since, detail: detailInDoubt})
	case wire.AnswerRefused, wire.AnswerError:
		c.refuse(overloadedProblem(a))
	default: // answered, gone
		w.reserveAnew(c)
	}
}

// tick ends the waits that are over and asks again for those that go on.
func (v *watch) tick(now time.Duration) {
	v.waiters = stillWaiting(v.waiters, func(c *Call) bool {
		if now < v.ends(c) {
			return true
		}
		v.over(c)
		return false
	})
	switch {
	case len(v.waiters) == 0:
		if !v.asking {
			delete(v.worker.watches, v.key.id())
		}
	case !v.asking && now >= v.retryAt:
		v.ask(now)
	}
}

// over tells a caller that its wait has ended before the thing it waited for.
func (v *watch) over(c *Call) {
	switch {
	case v.key.attempt == "":
		c.refuse(heldProblem(&v.key.hold))
	case v.retryAt > 0:
		c.refuse(problem{code: codeLedgerUnavailable, retryAfter: time.Second,
			detail: "another attempt of this call was running when the ledger was lost; this one was not executed"})
	default:
		c.refuse(inFlightProblem(v.key.since))
	}
}

// stillWaiting keeps the calls that have no reply yet and for which keep is true.
func stillWaiting(calls []*Call, keep func(*Call) bool) []*Call {
	kept := calls[:0]
	for _, c := range calls {
		if !c.answered && keep(c) {
			kept = append(kept, c)
		}
	}
	clear(calls[len(kept):])
	return kept
}
