package ledger

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"idem/ledgerd/store"
)

// outageAfter is how long nothing must have worked for it to count as an outage of the ledger. It is below what a
// filter lets pass between two extends of any usual lease, so an outage that nobody noticed took no lease.
const outageAfter = 6 * time.Second

// beatEvery is how often a node of several says that the ledger works.
const beatEvery = 2 * time.Second

// Settings of the whole deployment, in Unix milliseconds of the store's clock.
const (
	settingSeen    = "ledger.seen"    // when any node last worked
	settingResumed = "ledger.resumed" // when the ledger as a whole last worked again after an outage
)

// outage knows when the ledger as a whole last came back. While it was away no attempt could extend its lease, so
// those get one more full term from then ([intent.Moment]).
//
// Whoever is the only process over its store decides by itself: its start ends an outage, and so does the first thing
// that works after longer than outageAfter of nothing. Of several, a node to which that happens asks the store whether
// any other worked meanwhile, and if not says for all of them when the outage ended.
type outage struct {
	alive   atomic.Int64 // when something last worked, Unix ns of the store's clock; 0: not yet
	resumed atomic.Int64 // Unix ns; 0: never
	failing atomic.Bool  // the store could not do what it was last asked to: that it can be read proves nothing

	mu     sync.Mutex
	beaten time.Time // when this node last wrote settingSeen
}

// wrote says that a write that was decided at a moment is durable.
func (o *outage) wrote(now time.Time) {
	o.failing.Store(false)
	o.seen(now)
}

// failed says that the store could not do something.
func (o *outage) failed() { o.failing.Store(true) }

// seen moves alive on.
func (o *outage) seen(now time.Time) {
	ns := now.UnixNano()
	for old := o.alive.Load(); old < ns; old = o.alive.Load() {
		if o.alive.CompareAndSwap(old, ns) {
			return
		}
	}
}

// over says whether an outage may have ended just now.
func (o *outage) over(now time.Time) bool {
	return now.UnixNano()-o.alive.Load() > int64(outageAfter)
}

func (o *outage) last() time.Time {
	if ns := o.resumed.Load(); ns != 0 {
		return time.Unix(0, ns).UTC()
	}
	return time.Time{}
}

// heed takes over a resumption that is later than the one known.
func (o *outage) heed(t time.Time) {
	ns := t.UnixNano()
	for old := o.resumed.Load(); old < ns; old = o.resumed.Load() {
		if o.resumed.CompareAndSwap(old, ns) {
			return
		}
	}
}

// resumed gives when the ledger last came back, for a decision at now. Nothing is decided after an outage before its
// end is known.
func (l *Ledger) resumed(now time.Time) (time.Time, error) {
	o := &l.outage
	if !o.over(now) {
		return o.last(), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.over(now) {
		return o.last(), nil
	}
	if !l.o.SoleOwner {
		if err := l.resumeAmongOthers(now); err != nil {
			o.failed()
			return time.Time{}, unavailable(err)
		}
	} else {
		o.heed(now)
	}
	o.seen(now)
	return o.last(), nil
}

// resumeAmongOthers decides whether the ledger as a whole was away, and says so to the other nodes. The caller holds mu.
func (l *Ledger) resumeAmongOthers(now time.Time) error {
	ctx, cancel := context.WithTimeout(l.ctx, l.o.OperationTimeout)
	defer cancel()
	resumed, err := l.momentSetting(ctx, settingResumed)
	if err != nil {
		return err
	}
	seen, err := l.momentSetting(ctx, settingSeen)
	if err != nil {
		return err
	}
	if !seen.IsZero() && now.Sub(seen) > outageAfter && !resumed.After(seen) {
		l.o.Log.Warn("the ledger was away: leases get one more term", "from", seen, "until", now)
		resumed = now
		if err := l.setMoment(ctx, settingResumed, now); err != nil {
			return err
		}
	}
	l.outage.heed(resumed)
	l.outage.beaten = now
	return l.setMoment(ctx, settingSeen, now)
}

// beat says to the other nodes that the ledger works, and heeds what they found.
func (l *Ledger) beat(ctx context.Context, now time.Time) error {
	o := &l.outage
	o.mu.Lock()
	defer o.mu.Unlock()
	if l.o.SoleOwner || now.Sub(o.beaten) < beatEvery {
		return nil
	}
	resumed, err := l.momentSetting(ctx, settingResumed)
	if err != nil {
		return err
	}
	o.heed(resumed)
	if err := l.setMoment(ctx, settingSeen, now); err != nil {
		return err
	}
	o.beaten = now
	o.wrote(now)
	return nil
}

func (l *Ledger) momentSetting(ctx context.Context, name string) (time.Time, error) {
	text, err := l.store.Setting(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	return moment(n), nil
}

func (l *Ledger) setMoment(ctx context.Context, name string, t time.Time) error {
	return l.store.SetSetting(ctx, name, strconv.FormatInt(unixMS(t), 10))
}
