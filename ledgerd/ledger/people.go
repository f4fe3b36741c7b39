package ledger

import (
	"context"
	"errors"
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
	select {
	case j = <-done:
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

// keyOfAttempt gives the record of an attempt that is or was in doubt, or executes, or whose record is among the newest.
func (l *Ledger) keyOfAttempt(ctx context.Context, attempt string) (string, error) {
	key, err := l.lookup(ctx, store.Doubts, attempt)
	if !errors.Is(err, ErrNotFound) {
		return key, err
	}
	if key, known := l.leases.key(attempt); known {
		return key, nil
	}
	records, err := l.newest(ctx, mostSearched)
	if err != nil {
		return "", err
	}
	for _, e := range records {
		if _, there := e.Record.Row(attempt); there {
			return e.key, nil
		}
	}
	return "", noAttempt(attempt)
}

func noAttempt(attempt string) error {
	return fmt.Errorf("no attempt %q in doubt is known; one that was settled goes when its retention ends: %w", attempt, ErrNotFound)
}

// lookup gives the record that an index entry leads to.
func (l *Ledger) lookup(ctx context.Context, index store.Index, id string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, l.o.StoreTimeout)
	defer cancel()
	e, err := l.store.Lookup(ctx, index, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "", fmt.Errorf("%s %q: %w", index, id, ErrNotFound)
	case err != nil:
		return "", unavailable(err)
	}
	return e.Key, nil
}

// find gives the record that an index entry leads to, as it is now.
func (l *Ledger) find(ctx context.Context, index store.Index, id string) (*entry, error) {
	key, err := l.lookup(ctx, index, id)
	if err != nil {
		return nil, err
	}
	return l.view(ctx, key)
}

// view gives a record as it is now, without writing what time has done to it. An empty one where there is none.
func (l *Ledger) view(ctx context.Context, key string) (*entry, error) {
	ctx, cancel := context.WithTimeout(ctx, l.o.StoreTimeout)
	defer cancel()
	rec, err := l.store.Load(ctx, key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return &entry{key: key}, nil
	case err != nil:
		return nil, unavailable(err)
	}
	e, err := decodeRecord(key, rec.Version, rec.Data)
	if err != nil {
		return nil, unavailable(err)
	}
	return l.aged(e)
}

// aged gives an entry's record as time has made it.
func (l *Ledger) aged(e *entry) (*entry, error) {
	at, err := l.moment()
	if err != nil {
		return nil, err
	}
	now := *e
	now.Record, _ = intent.Step(e.Record, intent.Tick{}, at)
	return &now, nil
}

// rows calls take for the open entries of an index, oldest first, until limit were taken.
func (l *Ledger) rows(ctx context.Context, index store.Index, limit int, take func(e *entry, id string) bool) error {
	now, err := l.Now(ctx)
	if err != nil {
		return err
	}
	seen := map[string]*entry{} // records of this page: one may have many holds
	var after *store.Entry
	for limit > 0 {
		page := min(limit, 256)
		list, err := l.scan(ctx, index, now.Add(time.Millisecond), after, page)
		if err != nil {
			return err
		}
		for i := range list {
			e := seen[list[i].Key]
			if e == nil {
				if e, err = l.view(ctx, list[i].Key); err != nil {
					return err
				}
				seen[list[i].Key] = e
			}
			if take(e, list[i].ID) {
				limit--
			}
		}
		if len(list) < page {
			return nil
		}
		after = &list[len(list)-1]
		clear(seen)
	}
	return nil
}
