package ledger

import "time"

// How much housekeeping may be under way beside the calls.

const (
	// sweepAtOnce is how many records a sweep has under way where nobody calls: they share syncs, and a call that comes
	// waits for few.
	sweepAtOnce = 128
	// sweepBeside is how many at least may be under way beside calls.
	sweepBeside = 4
	// pollAtOnce is how many records are looked at again at once that somebody waits for.
	pollAtOnce = 64
	// sweepMinds is how long a sweep minds a call that it saw under way.
	sweepMinds = 100 * time.Millisecond
)

// sweeping gives turns to a sweep. Its writes join the group commits of the calls; so that a backlog does not fill
// those, it has no more than half as many under way as there are calls. That is enough to keep up with them for ever: a
// call is written twice and swept once. Callers whose answers are on their way count too: they come again at once. And
// it takes an eighth of the room for operations at most, so that no call is refused because of it.
func (l *Ledger) sweeping() *turn {
	t := newTurn(nil)
	var calls peak
	t.most = func() int {
		most := sweepAtOnce
		if n := calls.of(int(l.queued.Load())-t.underWay, time.Now()); n > 0 {
			most = min(most, max(sweepBeside, n/2))
		}
		return l.roomFor(most)
	}
	return t
}

// peak is the greatest of the numbers that were seen lately.
type peak struct {
	number int
	seen   time.Time
}

// of gives the greatest number within sweepMinds, of which n is the newest.
func (p *peak) of(n int, now time.Time) int {
	if n >= p.number || now.Sub(p.seen) > sweepMinds {
		p.number, p.seen = n, now
	}
	return p.number
}

// roomFor gives how many of so many housekeeping operations may be under way: an eighth of the room at most.
func (l *Ledger) roomFor(housekeeping int) int { return max(1, min(housekeeping, l.o.QueuedOps/8)) }
