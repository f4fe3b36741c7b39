// Package storetest says in tests what package store promises in words: one suite, by topic, that every driver runs.
//
//	func TestContract(t *testing.T) {
//		storetest.Run(t, storetest.Driver{New: ..., Durable: true})
//	}
//
// A driver that passes can be put under the ledger. What only one driver promises (files, locks, crashes) is tested
// beside that driver.
package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"testing"
	"time"

	"idem/ledgerd/store"
)

// Driver is a driver under test.
type Driver struct {
	// New makes a new, empty place and gives what opens the store in it. Where Durable is set, open may be called
	// again once the store before was closed. A nil clock means the driver's own.
	New func(t *testing.T) (open func(clock func() time.Time) store.Store)
	// Durable says that what was written outlives Close.
	Durable bool
}

// Run runs the suite.
func Run(t *testing.T, d Driver) {
	topics := []struct {
		name  string
		tests map[string]func(*testing.T, *place)
	}{
		{"Versions", versions}, {"Conflicts", conflicts}, {"Bytes", data}, {"Invalid", invalid}, {"Indexes", indexes},
		{"Due", due}, {"Results", results}, {"Newest", newest}, {"Time", clocks}, {"Notification", notification},
		{"Settings", settings}, {"Reset", resets}, {"Ending", ending},
	}
	if d.Durable {
		topics = append(topics, struct {
			name  string
			tests map[string]func(*testing.T, *place)
		}{"Durability", durability})
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			for name, test := range topic.tests {
				t.Run(name, func(t *testing.T) { test(t, newPlace(t, d)) })
			}
		})
	}
}

// place is where the store under test lives, with the store that is open in it.
type place struct {
	t     *testing.T
	open  func(clock func() time.Time) store.Store
	clock *Clock
	store.Store
}

func newPlace(t *testing.T, d Driver) *place {
	p := &place{t: t, open: d.New(t), clock: NewClock(start)}
	p.Store = p.open(p.clock.Now)
	t.Cleanup(func() {
		if err := p.Store.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return p
}

// reopen closes the store and opens it again.
func (p *place) reopen() {
	p.t.Helper()
	if err := p.Store.Close(); err != nil {
		p.t.Fatalf("closing the store: %v", err)
	}
	p.Store = p.open(p.clock.Now)
}

// Clock is a clock that stands still until it is set. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock gives a Clock that stands at now.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now gives the moment the clock stands at.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set puts the clock at now, be it forward or back.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// start is when the suite's stories begin.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is a moment of the suite's stories.
func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// Key is the intent called name: 64 hex digits.
func Key(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// The rest of this file does what its name says, or ends the test.

func (p *place) swap(w store.Write) uint64 {
	p.t.Helper()
	version, err := p.Swap(context.Background(), w)
	if err != nil {
		p.t.Fatalf("Swap of %.8s at version %d: %v", w.Key, w.Expect, err)
	}
	return version
}

// create makes a record with content and entries.
func (p *place) create(name, content string, entries ...store.Entry) uint64 {
	p.t.Helper()
	return p.swap(store.Write{Key: Key(name), Data: []byte(content), Entries: entries, Now: start})
}

func (p *place) load(name string) store.Record {
	p.t.Helper()
	r, err := p.Load(context.Background(), Key(name))
	if err != nil {
		p.t.Fatalf("Load of %s: %v", name, err)
	}
	return r
}

func (p *place) wantContent(name, content string) {
	p.t.Helper()
	if r := p.load(name); string(r.Data) != content || r.Key != Key(name) {
		p.t.Errorf("record %s: got %q under key %.8s, want %q under key %.8s", name, r.Data, r.Key, content, Key(name))
	}
}

func (p *place) wantResult(attempt, content string) {
	p.t.Helper()
	data, err := p.Result(context.Background(), attempt)
	if err != nil || string(data) != content {
		p.t.Errorf("result of %s: got %q, %v, want %q", attempt, data, err, content)
	}
}

func (p *place) scan(index store.Index, until time.Time, after *store.Entry, limit int) []store.Entry {
	p.t.Helper()
	list, err := p.Scan(context.Background(), index, until, after, limit)
	if err != nil {
		p.t.Fatalf("Scan of %s: %v", index, err)
	}
	return list
}

// wantEntries compares all entries of an index with what they should be.
func (p *place) wantEntries(index store.Index, want ...store.Entry) {
	p.t.Helper()
	for i := range want {
		want[i].Index = index
	}
	if got := p.scan(index, at(1<<20), nil, 1000); !slices.EqualFunc(got, want, same) {
		p.t.Errorf("entries of %s:\n got %v\nwant %v", index, got, want)
	}
}

func same(a, b store.Entry) bool {
	return a.Index == b.Index && a.ID == b.ID && a.Key == b.Key && a.At.Equal(b.At)
}

func (p *place) now() time.Time {
	p.t.Helper()
	now, err := p.Now(context.Background())
	if err != nil {
		p.t.Fatalf("Now: %v", err)
	}
	return now
}
