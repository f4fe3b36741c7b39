package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/memory"
	"idem/ledgerd/wire"
)

// clock is a store's clock that moves only when it is told to.
type clock struct{ ns atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ns.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.ns.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.ns.Add(int64(d)) }

// watched is a store that tells what is done with it, and fails when it is told to.
type watched struct {
	store.Store
	loads, swaps, conflicts atomic.Int64

	mu     sync.Mutex
	onSwap func(w store.Write, swap func() (uint64, error)) (uint64, error) // nil: swap
	onRead func() error
	deaf   bool // Watch tells nothing
}

func (s *watched) setSwap(f func(store.Write, func() (uint64, error)) (uint64, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onSwap = f
}

func (s *watched) Load(ctx context.Context, key string) (store.Record, error) {
	s.loads.Add(1)
	s.mu.Lock()
	f := s.onRead
	s.mu.Unlock()
	if f != nil {
		if err := f(); err != nil {
			return store.Record{}, err
		}
	}
	return s.Store.Load(ctx, key)
}

func (s *watched) Swap(ctx context.Context, w store.Write) (uint64, error) {
	s.swaps.Add(1)
	s.mu.Lock()
	f := s.onSwap
	s.mu.Unlock()
	swap := func() (uint64, error) { return s.Store.Swap(ctx, w) }
	if f != nil {
		return f(w, swap)
	}
	v, err := swap()
	if errors.Is(err, store.ErrConflict) {
		s.conflicts.Add(1)
	}
	return v, err
}

func (s *watched) Watch(ctx context.Context, changed func(string)) error {
	if s.deaf {
		return nil
	}
	return s.Store.Watch(ctx, changed)
}

// book is a ledger under test, over a memory store whose clock the test moves. Nothing happens in the background: the
// test sweeps and polls.
type book struct {
	*Ledger
	t     *testing.T
	clock *clock
	kept  *watched
}

func open(t *testing.T, change ...func(*Options)) *book {
	t.Helper()
	c := newClock()
	kept := &watched{Store: memory.New(memory.Options{Clock: c.now})}
	return openOver(t, c, kept, change...)
}

func openOver(t *testing.T, c *clock, kept *watched, change ...func(*Options)) *book {
	t.Helper()
	o := Options{Store: kept, SoleOwner: true, SweepEvery: time.Hour, PollEvery: time.Hour, Log: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&o)
	}
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := l.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &book{Ledger: l, t: t, clock: c, kept: kept}
}

func shared(o *Options) { o.SoleOwner = false }

// pass lets time pass as it does: with a sweep every few seconds.
func (b *book) pass(d time.Duration) {
	for d > 0 {
		step := min(d, 4*time.Second)
		b.clock.advance(step)
		b.sweep(b.t.Context())
		d -= step
	}
}

// do gives the answer to one operation.
func (b *book) do(op wire.Op) wire.Answer {
	b.t.Helper()
	return b.Do(b.t.Context(), []wire.Op{op})[0]
}

// must gives the answer to one operation, which must be of a kind.
func (b *book) must(kind wire.AnswerKind, op wire.Op) wire.Answer {
	b.t.Helper()
	a := b.do(op)
	if a.Kind != kind {
		b.t.Fatalf("%s %s%s: got %s, want %s", op.Kind, op.Attempt, op.Hold, show(a), kind)
	}
	if a.Now == 0 {
		b.t.Fatalf("%s: the answer has no now: %s", op.Kind, show(a))
	}
	return a
}

func show(a wire.Answer) string { return string(wire.AppendAnswer(nil, &a)) }

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// reserve is a call: its intent is all but the last word of what, its fingerprint all of it.
func reserve(attempt, intent, fingerprint, run string, change ...func(*wire.Op)) wire.Op {
	rule := wire.DefaultRule()
	rule.Name = "refunds"
	op := wire.Op{Kind: wire.OpReserve, Attempt: attempt, Intent: hash(intent), Fingerprint: hash(fingerprint), Run: run,
		Tool: "refund", Action: []byte(`{"customer":"ada","note":"` + fingerprint + `"}`), Rule: &rule}
	for _, f := range change {
		f(&op)
	}
	return op
}

func extend(attempt, intent string) wire.Op {
	return wire.Op{Kind: wire.OpExtend, Attempt: attempt, Intent: hash(intent)}
}

func commit(attempt, intent, body string) wire.Op {
	return wire.Op{Kind: wire.OpCommit, Attempt: attempt, Intent: hash(intent), Result: reply(201, body)}
}

func fail(attempt, intent string, class wire.Class, result *wire.Result) wire.Op {
	return wire.Op{Kind: wire.OpFail, Attempt: attempt, Intent: hash(intent), Class: class, Result: result}
}

func await(attempt, intent string, wait time.Duration) wire.Op {
	return wire.Op{Kind: wire.OpAwait, Attempt: attempt, Intent: hash(intent), WaitMS: wait.Milliseconds()}
}

func awaitHold(hold, intent string, wait time.Duration) wire.Op {
	return wire.Op{Kind: wire.OpAwait, Hold: hold, Intent: hash(intent), WaitMS: wait.Milliseconds()}
}

func fetch(attempt, intent string) wire.Op {
	return wire.Op{Kind: wire.OpFetch, Attempt: attempt, Intent: hash(intent)}
}

func reply(status int, body string) *wire.Result {
	return &wire.Result{Status: status, Headers: [][2]string{{"content-type", "application/json"}, {"x", "\xff"}}, Body: []byte(body)}
}

func (b *book) same(what string, got, want any) {
	b.t.Helper()
	if !reflect.DeepEqual(got, want) {
		b.t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// counted wants counters to have values.
func (b *book) counted(want map[string]int64) {
	b.t.Helper()
	got := b.Counters()
	for name, n := range want {
		if got[name] != n {
			b.t.Errorf("counter %s is %d, want %d", name, got[name], n)
		}
	}
}

// soon waits until a condition holds.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
		runtime.Gosched()
	}
}

// waiting waits until n callers wait for a record.
func (b *book) waiting(intent string, n int) {
	b.t.Helper()
	soon(b.t, fmt.Sprintf("%d wait", n), func() bool {
		b.waiters.mu.Lock()
		defer b.waiters.mu.Unlock()
		total := 0
		for _, all := range b.waiters.byKey[hash(intent)] {
			for w := range all {
				if w.last.Kind != "" {
					total++
				}
			}
		}
		return total == n
	})
}
