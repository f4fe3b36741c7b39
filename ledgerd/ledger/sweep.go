package ledger

import (
	"context"
	"errors"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
)

const (
	// sweepBatch is how many due records are read from the index at once.
	sweepBatch = 1024
	// sweepAtOnce is how many of them are under way at once where nobody calls: they share syncs, and a call that comes
	// waits for few.
	sweepAtOnce = 128
	// sweepBeside is how many at least may be under way beside calls.
	sweepBeside = 4
	// pollAtOnce is how many records are looked at again at once that somebody waits for.
	pollAtOnce = 64
)

// sweeping gives turns for what time has done. Its writes join the group commits of the calls; so that a backlog does not
// fill those, it has no more than half as many under way as there are calls. That is enough to keep up with them for ever:
// a call is written twice and swept once. Callers whose answers are on their way count too: they come again at once. And
// it takes an eighth of the room for operations at most, so that no call is refused because of it.
func (l *Ledger) sweeping() *turn {
	t := newTurn(nil)
	var calls recently
	t.most = func() int {
		most := sweepAtOnce
		if n := calls.most(int(l.queued.Load())-t.underWay, time.Now()); n > 0 {
			most = min(most, max(sweepBeside, n/2))
		}
		return l.roomFor(most)
	}
	return t
}

// recently is the greatest of the numbers that were seen within a while.
type recently struct {
	number int
	seen   time.Time
}

// sweepMinds is how long a sweep minds a call that it saw under way.
const sweepMinds = 100 * time.Millisecond

func (r *recently) most(n int, now time.Time) int {
	if n >= r.number || now.Sub(r.seen) > sweepMinds {
		r.number, r.seen = n, now
	}
	return r.number
}

func (l *Ledger) roomFor(housekeeping int) int { return max(1, min(housekeeping, l.o.QueuedOps/8)) }

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
