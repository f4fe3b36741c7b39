package ledger

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
)

// settingReset names the last reset. A node that finds another name there forgets all it remembers; while the name says
// that a reset is under way it does not answer from memory at all, so that one that breaks off in the middle leaves no
// node with what was before.
const (
	settingReset  = "ledger.reset"
	resetUnderWay = "under way "
)

// memoryTerm is how long after it last asked for resets a node answers from memory. All nodes of a store, of whatever
// version, rely on it; so it is no setting. Two polls of the usual frequency: one may come late.
const memoryTerm = 2 * time.Second

// recall is what lets a node of several answer replays from memory although another may reset the store: it asks for
// resets with every poll, answers from memory only for memoryTerm after it asked, and a reset returns only once that
// time has passed for everybody. A node that polls less often than that answers less from memory, and nothing wrong.
type recall struct {
	base  time.Time    // of the monotonic clock: a wall clock that is put back must not prolong any memory
	asked atomic.Int64 // when the question was asked that last was answered, ns since base
	reset atomic.Pointer[string]
}

// now is the time since base, in ns. It stands still while the machine is suspended; whoever resumes from memory after
// that asks again within one poll.
func (r *recall) now() int64 { return int64(time.Since(r.base)) }

// trueFromMemory says whether a verdict is true although others may have changed the record since it was read: the
// replay of a committed row to a run that is among its runs. Committed rows never change, and they stay for their
// retention; whether an open hold keeps one for longer is for the store to say.
func (l *Ledger) trueFromMemory(e *entry, j *job) bool {
	a, arrival := j.cmd.(intent.Arrive)
	if !arrival || j.verdict.Kind != intent.Replay || l.recall.now()-l.recall.asked.Load() > int64(memoryTerm) {
		return false
	}
	return slices.ContainsFunc(e.Record.Rows, func(r intent.Row) bool {
		return r.State == intent.Committed && r.Fingerprint == a.Fingerprint && r.Attempt == j.verdict.Attempt &&
			slices.Contains(r.Runs, intent.RecordedRun(a.Run)) && j.at.Before(r.Since.Add(r.Rule.Retention))
	})
}

// heedReset asks whether another node has reset the store.
func (l *Ledger) heedReset() error {
	asked := l.recall.now()
	ctx, cancel := context.WithTimeout(l.ctx, l.o.StoreTimeout)
	defer cancel()
	name, err := l.store.Setting(ctx, settingReset)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if old := l.recall.reset.Swap(&name); old != nil && *old != name {
		l.forget()
	}
	if !strings.HasPrefix(name, resetUnderWay) {
		l.recall.asked.Store(asked)
	}
	return nil
}

func (l *Ledger) forget() {
	l.records.flush()
	l.results.flush()
}

// Reset removes every record, result, hold and doubt. Once it returns no node answers from before. Whoever waits is
// told that what he waits for is gone. After an error it may be done or not: repeat it until there is none.
func (l *Ledger) Reset(ctx context.Context) error {
	if !l.o.SoleOwner {
		if err := l.store.SetSetting(ctx, settingReset, resetUnderWay+rand.Text()); err != nil {
			return unavailable(err)
		}
	}
	if err := l.store.Reset(ctx); err != nil {
		return unavailable(err)
	}
	l.forget()
	l.events.publish(Event{At: moment(l.heardNow()), Kind: "reset", Outcome: "ok"})
	l.o.Log.Warn("the ledger was reset: every record is gone")
	if l.o.SoleOwner {
		l.lookAgain(ctx)
		return nil
	}
	if err := l.store.SetSetting(ctx, settingReset, rand.Text()); err != nil {
		return unavailable(err)
	}
	others := time.NewTimer(memoryTerm)
	defer others.Stop()
	select {
	case <-others.C:
		return nil
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
}
