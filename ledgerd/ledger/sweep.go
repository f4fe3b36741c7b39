package ledger

import (
	"context"
	"errors"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
)

// sweepBatch is how many due records are read from the index at once.
const sweepBatch = 1024

// sweep lets time pass for the records that are due: leases end, terms and retention are over. It is also what notices
// that the ledger works although nobody calls. Leases come first: what they end in is a question to people, while a
// record that is to be removed can wait.
//
// A sweep that is late does no harm: whoever reads a record lets time pass first. One that finds more than it can do
// ends when the next is due, which begins with leases again.
func (l *Ledger) sweep(ctx context.Context) {
	at, err := l.moment()
	if err == nil && (l.outage.failing.Load() || l.proof.doubted()) {
		err = l.prove(ctx, at.Now) // that a setting can be written does not say that calls can
	}
	if err == nil {
		err = l.beat(ctx, at.Now)
	}
	if err != nil {
		l.outage.failed()
		if missed, due := l.unwritable.Due(time.Now()); due {
			l.o.Log.Warn("the store cannot be written to", "error", err, "more_since_last", missed)
		}
		if errors.Is(err, store.ErrUnfit) {
			l.makeRoom(ctx)
		}
		return
	}
	begun := time.Now()
	l.sweepLeases(ctx, at.Now)
	t := l.sweeping()
	defer t.wait(ctx)
	err = l.eachDue(ctx, at.Now, begun, func(due []store.Entry) bool {
		for i := range due {
			if !t.enter(ctx) {
				return false
			}
			l.submit(due[i].Key, &job{cmd: intent.Tick{}, swept: true, ends: true, done: func(*job) { t.leave() }})
		}
		if !l.outage.failing.Load() {
			l.outage.seen(at.Now)
		}
		return true
	})
	if err != nil {
		l.outage.failed()
		l.o.Log.Warn("due records cannot be found", "error", err)
	}
}

// eachDue hands over the records that are due, a batch at a time, until there are no more, do says that it has enough,
// or the sweep that had begun then gives way to the next. The error is the store's.
func (l *Ledger) eachDue(ctx context.Context, now, begun time.Time, do func(due []store.Entry) bool) error {
	var after *store.Entry
	for ctx.Err() == nil && time.Since(begun) < l.o.SweepEvery {
		due, err := l.scan(ctx, store.Due, now, after, sweepBatch)
		if err != nil {
			return err
		}
		if !do(due) || len(due) < sweepBatch {
			return nil
		}
		after = &due[len(due)-1]
	}
	return nil
}
