package ledger

import (
	"context"
	"fmt"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// awaited is await that answers whatever happens.
func (l *Ledger) awaited(ctx context.Context, op *wire.Op) (a wire.Answer) {
	defer func() {
		if what := recover(); what != nil {
			err := store.Panicked("waiting", what)
			l.o.Log.Error("a wait was broken off", "intent", op.Intent, "error", err)
			a = l.failure(op.Kind, err)
		}
	}()
	return l.await(ctx, op)
}

// await waits until an attempt has ended or a hold is answered, the wait is over, or ctx or the ledger ends. What it asks
// of the store besides, the first look and a result, takes OperationTimeout at most.
func (l *Ledger) await(ctx context.Context, op *wire.Op) wire.Answer {
	ctx, cancel := context.WithTimeoutCause(ctx, ms(op.WaitMS)+l.o.OperationTimeout, errSlow)
	defer cancel()
	what := awaited{attempt: op.Attempt, hold: op.Hold}
	w, ok := l.waiters.add(op.Intent, what, l.o.WaitersPerRow)
	if !ok {
		l.counts.add(countRefused, 1)
		return wire.Answer{Kind: wire.AnswerError, Now: l.heardNow(), Code: wire.CodeOverloaded,
			Detail:       fmt.Sprintf("%d callers wait for it, as many as may wait for one execution (--max-waiters-per-row)", l.o.WaitersPerRow),
			RetryAfterMS: retryOverloaded.Milliseconds()}
	}
	first := make(chan error, 1)
	l.submit(op.Intent, &job{cmd: intent.Tick{}, fresh: true, waiter: w, done: func(j *job) { first <- j.err }})

	timer := time.NewTimer(ms(op.WaitMS))
	defer timer.Stop()
	looked, ends := false, timer.C
	for {
		select {
		case v := <-w.over:
			return l.waited(ctx, op, v)
		case err := <-first:
			if err != nil {
				l.waiters.remove(op.Intent, what, w)
				return l.failure(op.Kind, err)
			}
			looked = true
			if ends == nil { // the wait was over before the first look
				return l.stillWaiting(ctx, op, what, w)
			}
			first = nil
		case <-ends:
			if looked {
				return l.stillWaiting(ctx, op, what, w)
			}
			ends = nil
		case <-ctx.Done():
			l.waiters.remove(op.Intent, what, w)
			return l.failure(op.Kind, context.Cause(ctx))
		case <-l.ctx.Done():
			l.waiters.remove(op.Intent, what, w)
			return l.failure(op.Kind, ErrStopping)
		}
	}
}

// stillWaiting answers a wait that is over before what it waits for is.
func (l *Ledger) stillWaiting(ctx context.Context, op *wire.Op, what awaited, w *waiter) wire.Answer {
	last := l.waiters.remove(op.Intent, what, w)
	select {
	case v := <-w.over:
		return l.waited(ctx, op, v)
	default:
		return l.waited(ctx, op, last)
	}
}

// changedElsewhere hears that a process wrote a record; it may have been this one.
func (l *Ledger) changedElsewhere(key string) {
	if l.waiters.waits(key) {
		l.look(key, func() {})
	}
}

// look reads a record again for those who wait for it.
func (l *Ledger) look(key string, done func()) {
	l.submit(key, &job{cmd: intent.Tick{}, fresh: true, done: func(*job) { done() }})
}

// poll looks at every record again that somebody waits for: a notification may be lost, and a lease may end.
func (l *Ledger) poll(ctx context.Context) {
	if !l.o.SoleOwner {
		if err := l.heedReset(); err != nil {
			l.o.Log.Warn("the store cannot be asked for resets; nothing is answered from memory", "error", err)
		}
	}
	l.lookAgain(ctx)
}

func (l *Ledger) lookAgain(ctx context.Context) {
	t := newTurn(func() int { return l.roomFor(pollAtOnce) })
	for _, key := range l.waiters.keys() {
		if !t.enter(ctx) {
			return
		}
		l.look(key, t.leave)
	}
	t.wait(ctx)
}
