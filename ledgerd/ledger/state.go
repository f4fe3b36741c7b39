package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
)

// State gives the counters, and up to limit of the newest rows, the open holds and the rows in doubt.
func (l *Ledger) State(ctx context.Context, limit int) (StateView, error) {
	now, err := l.Now(ctx)
	if err != nil {
		return StateView{}, err
	}
	s := StateView{Now: now, Counters: l.Counters(), Rows: []RowView{}}
	records, err := l.newest(ctx, limit)
	if err != nil {
		return StateView{}, err
	}
	for _, e := range records {
		for i := range e.Record.Rows {
			s.Rows = append(s.Rows, rowView(e, &e.Record.Rows[i]))
		}
	}
	slices.SortStableFunc(s.Rows, func(a, b RowView) int { return b.Arrived.Compare(a.Arrived) })
	s.Rows = s.Rows[:min(len(s.Rows), limit)]
	if s.Holds, err = l.Holds(ctx, limit); err != nil {
		return StateView{}, err
	}
	if s.InDoubt, err = l.Doubts(ctx, limit); err != nil {
		return StateView{}, err
	}
	return s, nil
}

// newest gives the records that were created last, as they are now.
func (l *Ledger) newest(ctx context.Context, limit int) ([]*entry, error) {
	ctx, cancel := context.WithTimeout(ctx, l.o.StoreTimeout)
	defer cancel()
	records, err := l.store.Newest(ctx, limit)
	if err != nil {
		return nil, unavailable(err)
	}
	list := make([]*entry, 0, len(records))
	for _, r := range records {
		e, err := decodeRecord(r.Key, r.Version, r.Data)
		if err != nil {
			l.o.Log.Error("a record cannot be shown", "intent", r.Key, "error", err)
			continue
		}
		if e, err = l.aged(e); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// mostSearched is how many of the newest records are searched for a row that nothing else leads to.
const mostSearched = 1000

// Row gives the row of an attempt with what happened to it. Rows with a stored result, those that are or were in doubt,
// and those that this node lets execute are always found; others while their record is among the newest. ErrNotFound.
func (l *Ledger) Row(ctx context.Context, attempt string) (RowView, error) {
	if key, err := l.keyOfResult(ctx, attempt); err == nil {
		e, err := l.view(ctx, key)
		if err != nil {
			return RowView{}, err
		}
		if row, ok := e.Record.Row(attempt); ok {
			return rowView(e, &row), nil
		}
	} else if !errors.Is(err, store.ErrNotFound) {
		return RowView{}, err
	}
	key, err := l.keyOfAttempt(ctx, attempt)
	if errors.Is(err, ErrNotFound) {
		return RowView{}, fmt.Errorf("attempt %q: %w", attempt, ErrNotFound)
	}
	if err != nil {
		return RowView{}, err
	}
	e, err := l.view(ctx, key)
	if err != nil {
		return RowView{}, err
	}
	if row, ok := e.Record.Row(attempt); ok {
		return rowView(e, &row), nil
	}
	return RowView{}, fmt.Errorf("attempt %q: %w", attempt, ErrNotFound)
}

// keyOfResult gives the record that an attempt's stored bytes say they belong to.
func (l *Ledger) keyOfResult(ctx context.Context, attempt string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, l.o.StoreTimeout)
	defer cancel()
	b, err := l.store.Result(ctx, attempt)
	if errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	if err != nil {
		return "", unavailable(err)
	}
	r, err := decodeResult(b)
	if err != nil {
		return "", fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	return r.intent, nil
}

// readiness keeps the last look at whether the store can be written, so that a probe costs one write a second at most.
type readiness struct {
	mu  sync.Mutex
	at  time.Time // of this process's clock
	err error
}

const (
	settingReady = "ledger.ready"
	readyTerm    = time.Second
)

// Ready says why the ledger cannot work now: nil if the store answers and writes.
func (l *Ledger) Ready(ctx context.Context) error {
	l.gate.RLock()
	closed := l.closed
	l.gate.RUnlock()
	if closed {
		return errClosed
	}
	r := &l.ready
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < readyTerm {
		return r.err
	}
	now, err := l.Now(ctx)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, l.o.StoreTimeout)
		defer cancel()
		if err = l.setMoment(ctx, settingReady, now); err != nil {
			err = unavailable(err)
		}
	}
	r.at, r.err = time.Now(), err
	return err
}

func holdView(e *entry, r *intent.Row) HoldView {
	v := HoldView{
		ID: r.Question.ID, Version: r.Question.Version, Reason: r.Question.Reason, Of: r.Question.Of, State: string(r.State),
		Fingerprint: r.Fingerprint, Intent: e.key, Rule: r.Rule.Name, Tool: r.Tool, Runs: r.Runs, Action: r.Action,
		Opened: r.Question.Opened, Expires: r.Question.Until, Audit: auditView(r),
	}
	if of, ok := e.Record.RowOf(*r.Question); ok {
		v.OfAction, v.OfState, v.OfRuns, v.OfArrived = of.Action, string(of.State), of.Runs, of.Arrived
	}
	return v
}

func doubtView(e *entry, r *intent.Row) DoubtView {
	return DoubtView{
		Attempt: r.Attempt, State: string(r.State), Fingerprint: r.Fingerprint, Intent: e.key, Rule: r.Rule.Name, Tool: r.Tool,
		Runs: r.Runs, Action: r.Action, Granted: r.Granted, Since: r.Since, ReleasableAfter: r.ReleasableAfter(), Audit: auditView(r),
	}
}

func rowView(e *entry, r *intent.Row) RowView {
	v := RowView{
		Attempt: r.Attempt, State: string(r.State), Fingerprint: r.Fingerprint, Intent: e.key, Rule: r.Rule.Name, Tool: r.Tool,
		Runs: r.Runs, Action: r.Action, Arrived: r.Arrived, Changed: r.Since, ApprovedBy: r.ApprovedBy, AliasOf: r.AliasOf,
		Audit: auditView(r),
	}
	if r.Question != nil {
		v.Hold = r.Question.ID
	}
	if result := r.Result; result != nil {
		v.Status, v.Missing = result.Status, result.Missing
	}
	for _, h := range r.History {
		v.History = append(v.History, ChangeView{At: h.At, State: string(h.State), Why: string(h.Why)})
	}
	for _, fenced := range e.Record.Evidence {
		if fenced.Attempt == r.Attempt {
			v.FencedCommits = append(v.FencedCommits, fenced.At)
		}
	}
	return v
}

func auditView(r *intent.Row) []AuditView {
	var list []AuditView
	for _, a := range r.Audit {
		list = append(list, AuditView(a))
	}
	return list
}
