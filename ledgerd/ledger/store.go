package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
)

// The calls of the store that decide operations. Each ends within OperationTimeout, and whether the store can do what it
// is asked to is noted, for that is how an outage is noticed (outage.go).

// load gives a record, from memory if it may.
func (l *Ledger) load(key string, fresh bool) (e *entry, remembered bool, err error) {
	if !fresh {
		if e, ok := l.records.get(key); ok {
			return e, true, nil
		}
	}
	epoch := l.records.now()
	rec, err := l.store.Load(l.call(), key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		l.records.drop(key)
		return &entry{key: key}, false, nil
	case err != nil:
		l.outage.failed()
		return nil, false, unavailable(err)
	}
	if e, err = decodeRecord(key, rec.Version, rec.Data); err != nil {
		if missed, due := l.unreadable.Due(time.Now()); due {
			l.o.Log.Error("a record cannot be read; its intent is refused until it can", "intent", key, "error", err, "more_since_last", missed)
		}
		return nil, false, unavailable(err)
	}
	l.records.put(epoch, key, e, e.weight())
	return e, false, nil
}

// swap writes, and notes whether the store can.
func (l *Ledger) swap(w *store.Write) (uint64, error) {
	version, err := l.store.Swap(l.call(), *w)
	l.proof.note(w, err)
	switch {
	case err == nil:
		l.outage.wrote(w.Now)
	case !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrOverloaded):
		l.outage.failed()
	}
	return version, err
}

// wrote remembers what was written.
func (l *Ledger) wrote(epoch int64, e *entry, w *store.Write) {
	if w.Data == nil {
		l.records.drop(e.key)
		return
	}
	l.records.put(epoch, e.key, e, e.weight())
	for _, p := range w.Put {
		attempt := strings.TrimPrefix(p.Attempt, e.key)
		if r, err := decodeResult(p.Data); err == nil {
			l.results.put(l.results.now(), resultName(attempt, digestOf(&e.Record, attempt)), r, r.weight(cap(p.Data)))
		}
	}
}

// digestOf gives what a record remembers of stored bytes.
func digestOf(rec *intent.Record, name string) string {
	for i := range rec.Rows {
		if r := rec.Rows[i].Result; r != nil && r.Attempt == name {
			return r.Digest
		}
		if r := rec.Rows[i].Failure; r != nil && r.Attempt == name {
			return r.Digest
		}
	}
	return ""
}

// moment is the moment of a decision that is made now.
func (l *Ledger) moment() (intent.Moment, error) {
	now, err := l.Now(l.call())
	if err != nil {
		l.outage.failed()
		return intent.Moment{}, err
	}
	resumed, err := l.resumed(now)
	return intent.Moment{Now: now, Resumed: resumed}, err
}

// unavailable makes every error of the store one that callers can tell apart: overloaded, or unavailable.
func unavailable(err error) error {
	if errors.Is(err, store.ErrOverloaded) || errors.Is(err, store.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// callTime is a context that bounds calls of the store.
type callTime struct {
	ctx  context.Context
	made time.Time
}

// call gives a context for a call of the store that is nobody's in particular. Calls of about the same time share one,
// which ends no sooner than three quarters of OperationTimeout after any of them began: a timer for each would cost more
// than the rest of the call.
func (l *Ledger) call() context.Context {
	now := time.Now()
	c := l.calls.Load()
	if c == nil || now.Sub(c.made) > l.o.OperationTimeout/4 {
		ctx, cancel := context.WithTimeout(l.ctx, l.o.OperationTimeout)
		context.AfterFunc(ctx, cancel)
		c = &callTime{ctx, now}
		l.calls.Store(c)
	}
	return c.ctx
}

// scan reads part of an index.
func (l *Ledger) scan(ctx context.Context, index store.Index, until time.Time, after *store.Entry, limit int) ([]store.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, l.o.StoreTimeout)
	defer cancel()
	list, err := l.store.Scan(ctx, index, until, after, limit)
	if err != nil {
		return nil, unavailable(err)
	}
	return list, nil
}
