package linearizable

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"idem/ledgerd/store"
)

// Options say what histories are made.
type Options struct {
	Seed      uint64
	Nodes     int           // ledgers; 0: 3
	Clients   int           // 0: 6
	Calls     int           // of each client; 0: 30
	Intents   int           // 0: 2
	SoleOwner bool          // one ledger, which knows that it is the only one
	Faults    bool          // the store fails
	Patience  time.Duration // how long a ledger waits for its store; 0: 40 ms

	// Processes are the ledgers, in place of those that would be made here; there is no store then and no clock.
	Processes []Process

	// Break makes every node's store break its contract: for showing that the checker notices.
	Break func(s store.Store, random *rand.Rand) store.Store
}

func (o Options) withDefaults() Options {
	for n, def := range map[*int]int{&o.Nodes: 3, &o.Clients: 6, &o.Calls: 30, &o.Intents: 2} {
		if *n == 0 {
			*n = def
		}
	}
	if o.Patience == 0 {
		o.Patience = 40 * time.Millisecond
	}
	if o.SoleOwner {
		o.Nodes = 1
	}
	return o
}

// operationTimeout is how long an operation may take: a few calls of a store that takes all the time it may.
func (o Options) operationTimeout() time.Duration { return 4 * o.Patience }

// Driver gives as many views on one new store as there are nodes, each the way a process has its own, all by one clock.
// They are closed when the test ends.
type Driver func(t testing.TB, clock *Clock, nodes int) []store.Store

// Maker makes histories over one store, one after the other.
type Maker struct {
	t      testing.TB
	o      Options
	stores []store.Store
	clock  *Clock
	made   int
}

// NewMaker opens the store. There is none of Processes: open is nil then.
func NewMaker(t testing.TB, open Driver, o Options) *Maker {
	t.Helper()
	m := &Maker{t: t, o: o.withDefaults(), clock: NewClock()}
	if open != nil {
		m.stores = open(t, m.clock, m.o.Nodes)
	}
	return m
}

// Make makes a history.
func (m *Maker) Make() *History {
	m.t.Helper()
	seed := m.o.Seed + uint64(m.made)*1_000_003
	m.made++
	random := rand.New(rand.NewPCG(seed, 0))
	stores := slices.Clone(m.stores)
	if m.o.Break != nil {
		for i, s := range stores {
			stores[i] = m.o.Break(s, rand.New(rand.NewPCG(seed, uint64(1000+i))))
		}
	}
	w := newWorld(m.t, m.o, stores, m.clock, seed, random)
	w.begin()
	var all sync.WaitGroup
	for i := range m.o.Clients {
		c := &client{w: w, number: i, random: rand.New(rand.NewPCG(seed, uint64(1+i))), left: m.o.Calls}
		all.Go(c.run)
	}
	all.Wait()
	w.end(random)
	w.stop()
	for _, c := range w.calls {
		c.settle(w.o.operationTimeout())
		c.raced = races(c, w.calls)
	}
	return &History{Seed: seed, o: m.o, clock: m.clock, calls: w.calls, rules: w.rules}
}
