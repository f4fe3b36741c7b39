package ledger

import (
	"context"
	"sync"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/wire"
)

// awaited is what somebody waits for: an attempt to end, or a hold to be answered.
type awaited struct{ attempt, hold string }

// look gives what a record says of it, and whether the wait is over.
func (a awaited) look(rec *intent.Record) (v intent.Verdict, over bool) {
	if a.hold != "" {
		v = rec.HoldState(a.hold)
		return v, v.Kind != intent.Held
	}
	v = rec.Attempt(a.attempt)
	return v, v.Kind != intent.Wait
}

// waiter is one await that is under way.
type waiter struct {
	over chan intent.Verdict // gets one verdict, when the wait is over

	// The registry's lock guards these.
	looked bool           // its own first look was decided: what was read before that may be older than the wait
	last   intent.Verdict // what was seen last, while the wait is not over
}

// waiters knows who waits for what. Whoever has seen a record that is true of the store tells it here.
type waiters struct {
	mu    sync.Mutex
	byKey map[string]map[awaited]map[*waiter]struct{}
}

// add registers a waiter, if there may be another.
func (ws *waiters) add(key string, what awaited, most int) (*waiter, bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.byKey[key][what]) >= most {
		return nil, false
	}
	if ws.byKey == nil {
		ws.byKey = map[string]map[awaited]map[*waiter]struct{}{}
	}
	if ws.byKey[key] == nil {
		ws.byKey[key] = map[awaited]map[*waiter]struct{}{}
	}
	if ws.byKey[key][what] == nil {
		ws.byKey[key][what] = map[*waiter]struct{}{}
	}
	w := &waiter{over: make(chan intent.Verdict, 1)}
	ws.byKey[key][what][w] = struct{}{}
	return w, true
}

// remove ends a wait, and gives what was seen last.
func (ws *waiters) remove(key string, what awaited, w *waiter) intent.Verdict {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.byKey[key][what], w)
	ws.prune(key, what)
	return w.last
}

func (ws *waiters) prune(key string, what awaited) {
	if len(ws.byKey[key][what]) == 0 {
		delete(ws.byKey[key], what)
	}
	if len(ws.byKey[key]) == 0 {
		delete(ws.byKey, key)
	}
}

// tell wakes those whose wait a record ends, the waiters of jobs that were decided by it among them.
func (ws *waiters) tell(key string, rec *intent.Record, jobs []*job) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, j := range jobs {
		if j.waiter != nil {
			j.waiter.looked = true
		}
	}
	for what, all := range ws.byKey[key] {
		v, over := what.look(rec)
		for w := range all {
			if !w.looked {
				continue
			}
			w.last = v
			if over {
				w.over <- v
				delete(all, w)
			}
		}
		ws.prune(key, what)
	}
}

func (ws *waiters) waits(key string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return len(ws.byKey[key]) > 0
}

// keys gives the records that somebody waits for.
func (ws *waiters) keys() []string {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	keys := make([]string, 0, len(ws.byKey))
	for key := range ws.byKey {
		keys = append(keys, key)
	}
	return keys
}

// await waits until an attempt has ended or a hold is answered, the wait is over, or ctx or the ledger ends.
func (l *Ledger) await(ctx context.Context, op *wire.Op) wire.Answer {
	what := awaited{attempt: op.Attempt, hold: op.Hold}
	w, ok := l.waiters.add(op.Intent, what, l.o.WaitersPerRow)
	if !ok {
		l.counts.add(countRefused, 1)
		return wire.Answer{Kind: wire.AnswerError, Now: l.heardNow(), Code: wire.CodeOverloaded,
			Detail: "as many callers wait for it as may wait for one", RetryAfterMS: retryOverloaded.Milliseconds()}
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
			return l.failure(op.Kind, ctx.Err())
		case <-l.ctx.Done():
			l.waiters.remove(op.Intent, what, w)
			return l.failure(op.Kind, errClosed)
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
	inTurn(ctx, l.waiters.keys(), l.look)
}

// inTurn starts something for each key, a few at a time, so that housekeeping never fills the queues.
func inTurn(ctx context.Context, keys []string, start func(key string, done func())) {
	t := newTurn(64)
	for _, key := range keys {
		if !t.enter(ctx) {
			return
		}
		start(key, t.leave)
	}
	t.wait(ctx)
}
