package ledger

import (
	"context"
	"fmt"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// HoldAnswer is a human's answer to a hold.
type HoldAnswer struct {
	Decision intent.Decision
	Version  int64 // 0: whatever it is
	By       string
	Reason   string
}

// Resolution is a human's answer to a row in doubt.
type Resolution struct {
	As     intent.State // intent.Released or intent.Committed
	Result *wire.Result // of Committed; nil: none is known
	By     string
	Reason string
}

// Holds gives the open holds, the one that waits longest first.
func (l *Ledger) Holds(ctx context.Context, limit int) ([]HoldView, error) {
	list := []HoldView{}
	err := l.rows(ctx, store.Holds, limit, func(e *entry, id string) bool {
		row, ok := e.Record.RowOfHold(id)
		if ok = ok && row.State == intent.HeldRow; ok {
			list = append(list, holdView(e, &row))
		}
		return ok
	})
	return list, err
}

// Hold gives a hold, open or answered. ErrNotFound where there is none, or none any more.
func (l *Ledger) Hold(ctx context.Context, id string) (HoldView, error) {
	e, err := l.find(ctx, store.Holds, id)
	if err != nil {
		return HoldView{}, err
	}
	row, ok := e.Record.RowOfHold(id)
	if !ok {
		return HoldView{}, fmt.Errorf("hold %q: %w", id, ErrNotFound)
	}
	return holdView(e, &row), nil
}

// AnswerHold gives a human's answer to a hold. *ConflictError where the hold is no longer open or is another question
// than the one that was seen; ErrNotFound.
func (l *Ledger) AnswerHold(ctx context.Context, id string, a HoldAnswer) (HoldView, error) {
	key, err := l.lookup(ctx, store.Holds, id)
	if err != nil {
		return HoldView{}, err
	}
	cmd := intent.AnswerHold{Hold: id, Version: a.Version, Decision: a.Decision, By: a.By, Reason: a.Reason}
	e, err := l.answer(ctx, key, &job{cmd: cmd})
	if err != nil {
		return HoldView{}, err
	}
	row, ok := e.Record.RowOfHold(id)
	if !ok {
		return HoldView{}, fmt.Errorf("hold %q: %w", id, ErrNotFound)
	}
	l.o.Log.Info("a hold was answered", "hold", id, "decision", a.Decision, "by", a.By, "reason", a.Reason, "intent", key, "rule", row.Rule.Name, "tool", row.Tool)
	return holdView(e, &row), nil
}

// Doubts gives the rows in doubt, the one that is in doubt longest first.
func (l *Ledger) Doubts(ctx context.Context, limit int) ([]DoubtView, error) {
	now, err := l.Now(ctx)
	if err != nil {
		return nil, err
	}
	l.sweepLeases(ctx, now)
	list := []DoubtView{}
	err = l.rows(ctx, store.Doubts, limit, func(e *entry, attempt string) bool {
		row, ok := e.Record.Row(attempt)
		if ok = ok && row.State == intent.InDoubt; ok {
			list = append(list, doubtView(e, &row))
		}
		return ok
	})
	return list, err
}

// Doubt gives a row that is or was in doubt. ErrNotFound where there is none, or none any more. The record decides,
// whatever an index says: a lease that has just ended may not stand in one yet.
func (l *Ledger) Doubt(ctx context.Context, attempt string) (DoubtView, error) {
	key, err := l.keyOfAttempt(ctx, attempt)
	if err != nil {
		return DoubtView{}, err
	}
	e, err := l.view(ctx, key)
	if err != nil {
		return DoubtView{}, err
	}
	row, ok := e.Record.Row(attempt)
	switch {
	case !ok:
		return DoubtView{}, noAttempt(attempt)
	case !doubted(&row):
		return DoubtView{}, fmt.Errorf("attempt %q was never in doubt, it is %s: %w", attempt, row.State, ErrNotFound)
	}
	return doubtView(e, &row), nil
}

// Resolve gives a human's answer to a row in doubt. *ConflictError where it is not in doubt any more, or where it is
// too early to say that it did not happen; ErrNotFound.
func (l *Ledger) Resolve(ctx context.Context, attempt string, r Resolution) (DoubtView, error) {
	key, err := l.keyOfAttempt(ctx, attempt)
	if err != nil {
		return DoubtView{}, err
	}
	cmd := intent.Resolve{Attempt: attempt, As: r.As, By: r.By, Reason: r.Reason}
	j := &job{}
	if r.As == intent.Committed && r.Result != nil {
		b, result := described(&wire.Op{Intent: key, Result: r.Result})
		j.bytes, cmd.Result = b, &result
	}
	j.cmd = cmd
	e, err := l.answer(ctx, key, j)
	if err != nil {
		return DoubtView{}, err
	}
	row, ok := e.Record.Row(attempt)
	if !ok {
		return DoubtView{}, noAttempt(attempt)
	}
	l.o.Log.Info("a call in doubt was resolved", "attempt", attempt, "as", r.As, "by", r.By, "reason", r.Reason, "intent", key, "rule", row.Rule.Name, "tool", row.Tool)
	return doubtView(e, &row), nil
}

// answer lets a human's answer happen.
func (l *Ledger) answer(ctx context.Context, key string, j *job) (*entry, error) {
	done := make(chan *job, 1)
	j.fresh, j.ends, j.done = true, true, func(j *job) { done <- j }
	l.submit(key, j)
	over := time.NewTimer(l.o.OperationTimeout)
	defer over.Stop()
	select {
	case j = <-done:
	case <-over.C:
		return nil, errSlow
	case <-ctx.Done():
		return nil, unavailable(ctx.Err())
	}
	v := &j.verdict
	switch {
	case j.err != nil:
		return nil, j.err
	case j.uncertain && (v.Kind == intent.Conflict || v.Kind == intent.Unheard):
		return nil, errUncertain
	case v.Kind == intent.Conflict:
		return nil, &ConflictError{Why: v.Why, RetryAfter: v.RetryAfter}
	case v.Kind == intent.Unheard:
		return nil, fmt.Errorf("%s: %w", v.Why, ErrNotFound)
	}
	return j.seen, nil
}
