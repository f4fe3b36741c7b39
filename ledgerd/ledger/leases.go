package ledger

import (
	"context"
	"sync"
	"time"

	"idem/ledgerd/intent"
)

// mostLeases is how many executions a node keeps in mind. The leases of those beyond it are found by the index alone.
const mostLeases = 1 << 16

// leases knows the executions that this node granted or heard of last, by attempt. The index of due records tells of
// their leases too, but there they stand among all the records whose retention is over: a call that falls silent makes a
// doubt, which people wait for, and a record that is to be removed can wait. It also leads from an attempt to its record
// before any index does. It is a hint like an index: what is true the record says.
type leases struct {
	mu        sync.Mutex
	byAttempt map[string]lease
}

type lease struct {
	key string
	end time.Time // an outage may have moved it on
}

// note takes over what a job that was decided says of executions.
func (ls *leases) note(key string, j *job) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for i := range j.verdict.Changes {
		if c := &j.verdict.Changes[i]; runs(c.From) && !runs(c.To) {
			delete(ls.byAttempt, c.Attempt)
		}
	}
	if j.verdict.Lease == 0 {
		return // it granted nothing and prolonged nothing
	}
	if ls.byAttempt == nil {
		ls.byAttempt = map[string]lease{}
	}
	if _, known := ls.byAttempt[j.verdict.Attempt]; known || len(ls.byAttempt) < mostLeases {
		ls.byAttempt[j.verdict.Attempt] = lease{key, j.at.Add(j.verdict.Lease)}
	}
}

// runs says that a row in this state executes.
func runs(s intent.State) bool { return s == intent.Reserved || s == intent.InFlight }

// key gives the record of an execution.
func (ls *leases) key(attempt string) (string, bool) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	le, ok := ls.byAttempt[attempt]
	return le.key, ok
}

// over gives the executions whose lease has ended.
func (ls *leases) over(now time.Time) map[string]string {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	var list map[string]string
	for attempt, le := range ls.byAttempt {
		if !le.end.After(now) {
			if list == nil {
				list = map[string]string{}
			}
			list[attempt] = le.key
		}
	}
	return list
}

// settle forgets an execution that the record no longer has: another node was told of its end.
func (ls *leases) settle(attempt string, rec *intent.Record) {
	if row, ok := rec.Row(attempt); ok && runs(row.State) {
		return
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.byAttempt, attempt)
}

// sweepLeases lets the leases have their effect that have ended, and waits for it.
func (l *Ledger) sweepLeases(ctx context.Context, now time.Time) {
	t := l.sweeping()
	for attempt, key := range l.leases.over(now) {
		if !t.enter(ctx) {
			return
		}
		l.submit(key, &job{cmd: intent.Tick{}, ends: true, done: func(j *job) {
			if j.err == nil {
				l.leases.settle(attempt, &j.seen.Record)
			}
			t.leave()
		}})
	}
	t.wait(ctx)
}
