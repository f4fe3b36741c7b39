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
	if err == nil {
		err = l.beat(ctx, at.Now)
	}
	if err != nil {
		l.outage.failed()
		l.o.Log.Warn("the store cannot be written to", "error", err)
		if errors.Is(err, store.ErrUnfit) {
			l.makeRoom(ctx)
		}
		return
	}
	begun := time.Now()
	l.sweepLeases(ctx, at.Now)
	t := l.sweeping()
	defer t.wait(ctx)
	var after *store.Entry
	for ctx.Err() == nil && time.Since(begun) < l.o.SweepEvery {
		due, err := l.scan(ctx, store.Due, at.Now, after, sweepBatch)
		if err != nil {
			l.outage.failed()
			l.o.Log.Warn("due records cannot be found", "error", err)
			return
		}
		for i := range due {
			if !t.enter(ctx) {
				return
			}
			l.submit(due[i].Key, &job{cmd: intent.Tick{}, swept: true, ends: true, done: func(*job) { t.leave() }})
		}
		if !l.outage.failing.Load() {
			l.outage.seen(at.Now)
		}
		if len(due) < sweepBatch {
			return
		}
		after = &due[len(due)-1]
	}
}
