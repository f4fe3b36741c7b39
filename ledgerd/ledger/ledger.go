package ledger

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"idem/ledgerd/seldom"
	"idem/ledgerd/store"
)

// Ledger is the service around the state machine. All its methods may be called at once from many goroutines.
type Ledger struct {
	o       Options
	store   store.Store
	records *cache[*entry]
	results *cache[*storedResult]
	queues  queues
	waiters waiters
	leases  leases
	outage  outage
	proof   proof
	recall  recall
	events  hub
	counts  counters

	undecided, unreadable, mixedUp, unwritable seldom.Warning

	greatest atomic.Int64  // the greatest now heard, Unix ns
	queued   atomic.Int64  // operations under way
	writes   atomic.Uint64 // makes write tokens differ
	writer   string        // makes them differ from those of other processes

	work    chan task // hands records to runners that have nothing to do
	idle    atomic.Int64
	calls   atomic.Pointer[callTime]
	gate    sync.RWMutex // closed changes only while nobody starts something
	closed  bool
	running sync.WaitGroup // runners of queues
	ctx     context.Context
	stop    context.CancelFunc
	behind  sync.WaitGroup // sweeper and poller
}

// New gives a ledger over a store, or every mistake in the options at once, or why the store cannot be used.
func New(o Options) (*Ledger, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Ledger{o: o, store: guarded{o.Store}, writer: rand.Text()[:16]}
	l.proof = newProof(l.writer)
	l.recall.base = time.Now()
	l.records = newCache[*entry](o.CachedRecordBytes)
	l.results = newCache[*storedResult](o.CachedResultBytes)
	l.work = make(chan task)
	l.ctx, l.stop = context.WithCancel(context.Background())

	if err := l.begin(); err != nil {
		l.stop()
		return nil, fmt.Errorf("ledger: start: %w", err)
	}
	l.behind.Go(func() { l.every(l.o.SweepEvery, l.sweep) })
	l.behind.Go(func() { l.every(l.o.PollEvery, l.poll) })
	return l, nil
}

// begin reads what the store keeps for the whole deployment, and starts to hear of other nodes' writes.
func (l *Ledger) begin() error {
	if _, err := l.moment(); err != nil {
		return err
	}
	if l.o.SoleOwner {
		return nil
	}
	if err := l.heedReset(); err != nil {
		return err
	}
	if err := l.agree(); err != nil {
		return err
	}
	return l.store.Watch(l.ctx, l.changedElsewhere)
}

// every calls f, again and again, until the ledger closes.
func (l *Ledger) every(period time.Duration, f func(ctx context.Context)) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-tick.C:
			f(l.ctx)
		}
	}
}

// Close refuses further operations, waits until those under way have their verdict or ctx ends, and ends the waits.
// The store stays open.
func (l *Ledger) Close(ctx context.Context) error {
	l.gate.Lock()
	l.closed = true
	l.gate.Unlock()

	drained := make(chan struct{})
	go func() {
		l.running.Wait()
		close(drained)
	}()
	var err error
	select {
	case <-drained:
	case <-ctx.Done():
		err = fmt.Errorf("ledger: close: operations are still under way: %w", ctx.Err())
	}
	l.stop()
	l.behind.Wait()
	return err
}

// Now is the store's clock, never before what any decision was made by.
func (l *Ledger) Now(ctx context.Context) (time.Time, error) {
	now, err := l.store.Now(ctx)
	if err != nil {
		return time.Time{}, unavailable(err)
	}
	return l.raise(now), nil
}

// raise gives now, or what was heard before if that is greater.
func (l *Ledger) raise(now time.Time) time.Time {
	for {
		greatest := l.greatest.Load()
		if ns := now.UnixNano(); ns <= greatest {
			return time.Unix(0, greatest).UTC()
		} else if l.greatest.CompareAndSwap(greatest, ns) {
			return now
		}
	}
}

// heardNow is the greatest now heard, for answers that were made without the store.
func (l *Ledger) heardNow() int64 { return l.greatest.Load() / int64(time.Millisecond) }

// token names a write: no other write, of this process or another, has the same.
func (l *Ledger) token() string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, tokenSize)
	b = append(b, l.writer...)
	for n, shift := l.writes.Add(1), 28; shift >= 0; shift -= 4 {
		b = append(b, digits[n>>shift&15])
	}
	return string(b)
}
