package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
)

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

// keyOfResult gives the record that an attempt's stored bytes say they belong to, where they stand under the attempt alone,
// as an earlier ledgerd stored them.
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
