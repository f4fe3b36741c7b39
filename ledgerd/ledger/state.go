package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// Row gives the row of an attempt with what happened to it, of the intent where it is given. Without one, those that are
// or were in doubt and those that this node lets execute are always found; others while their record is among the newest.
// ErrNotFound.
func (l *Ledger) Row(ctx context.Context, attempt, intent string) (RowView, error) {
	if intent != "" {
		e, err := l.view(ctx, intent)
		if err != nil {
			return RowView{}, err
		}
		if row, ok := e.Record.Row(attempt); ok {
			return rowView(e, &row), nil
		}
		return RowView{}, fmt.Errorf("attempt %q of intent %q: %w", attempt, intent, ErrNotFound)
	}
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
