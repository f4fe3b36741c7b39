package linearizable

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/faulty"
)

// link is one node's way to the store. It fails as it is told to, and it takes down when which write was sent and
// whether its effect was known: nothing else can tell an operation that did not happen from one that may have.
type link struct {
	*faulty.Store
	since func() int64

	mu      sync.Mutex
	random  *rand.Rand
	weather weather
	writes  []write
}

// write is a write that a node sent.
type write struct {
	key          string
	began, ended int64
	decided      int64 // the moment that it was decided by, Unix ms
	unknown      bool
}

// weather is how a link is doing for a while.
type weather int

const (
	calm     weather = iota
	flaky            // some writes are lost, unheard, late or find the queue full, some reads fail
	storm            // nearly every write fails in one of these ways
	cut              // nothing passes
	slow             // everything takes a little longer
	standing         // nothing comes back before the node loses its patience
	weathers
)

func newLink(s store.Store, seed uint64, since func() int64) *link {
	l := &link{Store: faulty.New(s), since: since, random: rand.New(rand.NewPCG(seed, 77))}
	l.Follow(l.befall)
	return l
}

// become changes the weather.
func (l *link) become(w weather) {
	l.mu.Lock()
	l.weather = w
	l.mu.Unlock()
	l.GoOn()
	l.Mend()
	l.Slow(0)
	switch w {
	case cut:
		l.Cut()
	case slow:
		l.Slow(500 * time.Microsecond)
	case standing:
		l.Stand()
	}
}

// chance draws for something that happens n times of a hundred in each weather.
func (l *link) chance(inFlaky, inStorm int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := map[weather]int{flaky: inFlaky, storm: inStorm}[l.weather]
	return l.random.IntN(100) < n
}

// befall is the plan of faults.
func (l *link) befall(faulty.Op) faulty.Fault {
	if !l.chance(45, 85) {
		return faulty.None
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return []faulty.Fault{faulty.Lost, faulty.Unheard, faulty.Late}[l.random.IntN(3)]
}

// Swap implements store.Store.
func (l *link) Swap(ctx context.Context, w store.Write) (version uint64, err error) {
	if l.chance(5, 5) {
		return 0, fmt.Errorf("%w: for the sake of the test", store.ErrOverloaded)
	}
	one := write{key: w.Key, began: l.since(), decided: w.Now.UnixMilli()}
	version, err = l.Store.Swap(ctx, w)
	one.ended = l.since()
	one.unknown = err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrOverloaded) && !errors.Is(err, store.ErrInvalid)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes = append(l.writes, one)
	return version, err
}

// Load implements store.Store.
func (l *link) Load(ctx context.Context, key string) (store.Record, error) {
	if l.chance(3, 10) {
		return store.Record{}, fmt.Errorf("%w: for the sake of the test", store.ErrUnavailable)
	}
	return l.Store.Load(ctx, key)
}

// sent gives the writes of a record that were under way within a time.
func (l *link) sent(key string, from, to int64) []write {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []write
	for _, w := range l.writes {
		if w.key == key && w.began <= to && w.ended >= from {
			all = append(all, w)
		}
	}
	return all
}
