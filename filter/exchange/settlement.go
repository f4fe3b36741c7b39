package exchange

import (
	"strconv"
	"time"

	"idem/ledgerd/wire"
)

const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 2 * time.Second
	// maxSettling bounds the memory of a long outage. What is given up is found by its lease's end: in doubt, not
	// repeated.
	maxSettling = 100_000
)

// settlement is an operation that is repeated until the ledger acknowledges it: the commit or the fail of an attempt.
type settlement struct {
	op      wire.Op
	done    func(wire.Answer) // once acknowledged; nil: nobody asks
	place   int               // in the worker's list
	waiting bool              // its answer is awaited
	retryAt time.Duration
	backoff time.Duration
}

// settle sends the commit or fail of an attempt now, and again until it is acknowledged.
func (w *Worker) settle(op wire.Op, done func(wire.Answer)) {
	s := &settlement{op: op, done: done, backoff: firstRetry}
	w.keep(s)
	w.try(s)
}

// abandon tells the ledger that an attempt will never execute. Its reserve may have been lost on the way, so the ledger
// is probably away: the first try is at the next tick.
func (w *Worker) abandon(attempt, intent string) {
	if len(w.settling) >= maxSettling {
		w.host.Count("ledger.forgotten", 1)
		if w.forgotten++; w.forgotten == 1 {
			w.host.Warn("over " + strconv.Itoa(maxSettling) + " operations wait for the ledger: further attempts that never executed will be found in doubt when their lease ends")
		}
		return
	}
	w.forgotten = 0
	op := wire.Op{Kind: wire.OpFail, Attempt: attempt, Intent: intent, Class: wire.ClassNotSent}
	w.keep(&settlement{op: op, backoff: firstRetry, retryAt: w.host.Now()})
}

func (w *Worker) try(s *settlement) {
	s.waiting = true
	w.link.send(queued{op: s.op, done: func(a wire.Answer, ok bool) {
		s.waiting = false
		if !ok || a.Kind == wire.AnswerError && a.Code != wire.CodeInvalid {
			s.retryAt = w.host.Now() + s.backoff
			s.backoff = min(2*s.backoff, lastRetry)
			return
		}
		if a.Kind == wire.AnswerError {
			w.host.Warn("the ledger does not take a " + string(s.op.Kind) + ": " + a.Field + ": " + a.Detail)
		}
		w.drop(s)
		if s.done != nil {
			s.done(a)
		}
	}})
}

func (w *Worker) drop(s *settlement) {
	last := len(w.settling) - 1
	w.settling[s.place] = w.settling[last]
	w.settling[s.place].place = s.place
	w.settling[last] = nil
	w.settling = w.settling[:last]
}

func (w *Worker) keep(s *settlement) {
	s.place = len(w.settling)
	w.settling = append(w.settling, s)
}

// tickSettling tries again what is due. While the ledger does not answer, one batch at a time is enough to find out.
func (w *Worker) tickSettling(now time.Duration) {
	room := len(w.settling)
	if w.link.down {
		room = maxBatchOps
	}
	for _, s := range w.settling {
		if room == 0 {
			return
		}
		if !s.waiting && s.retryAt <= now {
			w.try(s)
			room--
		}
	}
}
