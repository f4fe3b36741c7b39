package storetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"idem/ledgerd/store"
)

var conflicts = map[string]func(*testing.T, *place){
	"OfManyCreatorsOneWins": func(t *testing.T, p *place) {
		const rounds, creators = 50, 16
		for round := range rounds {
			name := fmt.Sprint("r", round)
			var wins sync.Map
			together(creators, func(i int) {
				v, err := p.Swap(context.Background(), store.Write{Key: Key(name), Data: fmt.Appendf(nil, "by %d", i)})
				switch {
				case err == nil:
					wins.Store(i, v)
				case !errors.Is(err, store.ErrConflict):
					t.Errorf("creator %d: %v", i, err)
				}
			})
			winners := 0
			wins.Range(func(i, v any) bool {
				winners++
				r := p.load(name)
				if want := fmt.Sprintf("by %d", i); string(r.Data) != want || r.Version != v {
					t.Errorf("got %q at %d, want %q at %d", r.Data, r.Version, want, v)
				}
				return true
			})
			if winners != 1 {
				t.Fatalf("round %d: %d of %d creators won, want 1", round, winners, creators)
			}
		}
	},
	"NoIncrementIsLost": func(t *testing.T, p *place) { Contend(t, 3, p) },
	"AConflictSpoilsNobodyElse": func(t *testing.T, p *place) {
		const pairs = 64
		for i := range pairs {
			p.create(fmt.Sprint("stale", i), "old")
		}
		together(2*pairs, func(i int) {
			name, want := fmt.Sprint("stale", i/2), store.ErrConflict
			if i%2 == 1 {
				name, want = fmt.Sprint("fresh", i/2), nil
			}
			_, err := p.Swap(context.Background(), store.Write{Key: Key(name), Data: []byte("new")})
			if !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", name, err, want)
			}
		})
		for i := range pairs {
			p.wantContent(fmt.Sprint("stale", i), "old")
			p.wantContent(fmt.Sprint("fresh", i), "new")
		}
	},
	"AReaderNeverSeesAnOlderVersionThanBefore": func(t *testing.T, p *place) {
		p.create("a", "0")
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				last := uint64(0)
				for {
					r, err := p.Load(context.Background(), Key("a"))
					if err != nil || r.Version < last {
						t.Errorf("got version %d, %v, after version %d", r.Version, err, last)
						return
					}
					last = r.Version
					select {
					case <-stop:
						return
					default:
						runtime.Gosched() // or a fast reader takes the writer's processor away for long
					}
				}
			})
		}
		version := p.load("a").Version
		for i := range 200 {
			version = p.swap(store.Write{Key: Key("a"), Expect: version, Data: fmt.Append(nil, i)})
			if r := p.load("a"); r.Version != version {
				t.Fatalf("the writer itself reads version %d, want %d", r.Version, version)
			}
		}
		close(stop)
		readers.Wait()
	},
}

// Contend lets many writers add one to a few counters, each by load and swap, over several stores in one place. Every
// acknowledged addition must be in the sum, and every version that was given must be new and greater than the one
// before it.
func Contend(t *testing.T, counters int, stores ...store.Store) {
	t.Helper()
	const writers, additions = 16, 40
	var versions sync.Map
	together(writers, func(i int) {
		s := stores[i%len(stores)]
		for n := range additions {
			k := Key(fmt.Sprint("counter", (i+n)%counters))
			for {
				r, err := s.Load(context.Background(), k)
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Errorf("Load: %v", err)
					return
				}
				sum := uint64(0)
				if len(r.Data) > 0 {
					sum = binary.BigEndian.Uint64(r.Data)
				}
				v, err := s.Swap(context.Background(), store.Write{Key: k, Expect: r.Version, Data: binary.BigEndian.AppendUint64(nil, sum+1)})
				if err == nil {
					if _, before := versions.LoadOrStore(fmt.Sprint(k, v), true); before || v <= r.Version {
						t.Errorf("version %d of %.8s after %d: given before: %t", v, k, r.Version, before)
					}
					break
				}
				if !errors.Is(err, store.ErrConflict) {
					t.Errorf("Swap: %v", err)
					return
				}
			}
		}
	})
	total := uint64(0)
	for c := range counters {
		r, err := stores[0].Load(context.Background(), Key(fmt.Sprint("counter", c)))
		if err != nil || len(r.Data) != 8 {
			t.Fatalf("counter %d: got %v, %v", c, r, err)
		}
		total += binary.BigEndian.Uint64(r.Data)
	}
	if total != writers*additions {
		t.Errorf("the counters sum up to %d, want %d", total, writers*additions)
	}
}

// together calls f with 0 to n-1, all at once, and returns when all have returned.
func together(n int, f func(i int)) {
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	all.Wait()
}
