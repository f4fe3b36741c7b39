package ledger

import (
	"context"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
)

// sweepBatch is how many due records are read from the index at once.
const sweepBatch = 256

// sweep lets time pass for the records that are due: leases end, terms and retention are over. It is also what notices
// that the ledger works although nobody calls.
//
// A sweep that is late does no harm: whoever reads a record lets time pass first.
func (l *Ledger) sweep(ctx context.Context) {
	at, err := l.moment()
	if err != nil {
		l.o.Log.Warn("the store does not answer", "error", err)
		return
	}
	if err := l.beat(ctx, at.Now); err != nil {
		l.outage.failed()
		l.o.Log.Warn("the store cannot be written to", "error", err)
		return
	}
	var after *store.Entry
	for ctx.Err() == nil {
		due, err := l.scan(ctx, store.Due, at.Now, after, sweepBatch)
		if err != nil {
			l.outage.failed()
			l.o.Log.Warn("due records cannot be found", "error", err)
			return
		}
		keys := make([]string, len(due))
		for i := range due {
			keys[i] = due[i].Key
		}
		inTurn(ctx, keys, func(key string, done func()) {
			l.submit(key, &job{cmd: intent.Tick{}, swept: true, done: func(*job) { done() }})
		})
		if !l.outage.failing.Load() {
			l.outage.seen(at.Now)
		}
		if len(due) < sweepBatch {
			return
		}
		after = &due[len(due)-1]
	}
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
