package ledger

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"idem/ledgerd/intent"
	"idem/ledgerd/store"
)

// makeRoom removes the records of which time has left nothing, in a store that answers and takes nothing new: its memory
// is full, most likely, and only what is removed puts that right. It needs no word of outages, which could not be kept
// there: it takes it that one ended just now, and so every attempt that is under way for one that has its full lease.
//
// What it removes says nothing about whether the ledger works: it does not.
func (l *Ledger) makeRoom(ctx context.Context) {
	now, err := l.Now(ctx)
	if err != nil {
		return
	}
	var removed atomic.Int64
	var failed atomic.Bool
	t := newTurn(func() int { return l.roomFor(sweepAtOnce) })
	_ = l.eachDue(ctx, now, time.Now(), func(due []store.Entry) bool { // the sweep has told what is wrong with the store
		for i := range due {
			if failed.Load() || !t.enter(ctx) {
				return false
			}
			go func() {
				defer t.leave()
				switch gone, err := l.remove(due[i].Key, intent.Moment{Now: now, Resumed: now}); {
				case err != nil:
					failed.Store(true)
				case gone:
					removed.Add(1)
				}
			}()
		}
		return true
	})
	t.wait(ctx)
	if n := removed.Load(); n > 0 {
		l.o.Log.Info("records that were over made room in a store that takes nothing new", "records", n)
	}
}

// remove removes a record of which nothing is left.
func (l *Ledger) remove(key string, at intent.Moment) (bool, error) {
	rec, err := l.store.Load(l.call(), key)
	if err != nil {
		return false, ignored(err, store.ErrNotFound)
	}
	e, err := decodeRecord(key, rec.Version, rec.Data)
	if err != nil {
		return false, nil // it is told to whoever asks for it
	}
	next, v := intent.Step(e.Record, intent.Tick{}, at)
	if !next.Empty() {
		return false, nil
	}
	_, err = l.store.Swap(l.call(), store.Write{Key: key, Expect: e.version, Now: at.Now, Drop: dropped(key, e.Record.Results())})
	l.records.drop(key)
	if err != nil {
		return false, ignored(err, store.ErrConflict)
	}
	l.account(key, &job{cmd: intent.Tick{}, verdict: v, at: at.Now})
	return true, nil
}

// ignored gives an error, or nil where it is of a kind that does not matter.
func ignored(err, kind error) error {
	if errors.Is(err, kind) {
		return nil
	}
	return err
}
