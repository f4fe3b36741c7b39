package linearizable

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/ledgerd/store"
)

// broken is a store that breaks its contract in one way.
type broken struct {
	store.Store
	mu     sync.Mutex
	random *rand.Rand
	swap   func(ctx context.Context, b *broken, w store.Write) (uint64, error)
	load   func(ctx context.Context, b *broken, key string) (store.Record, error)
	read   map[string][]store.Record
}

func (b *broken) Swap(ctx context.Context, w store.Write) (uint64, error) {
	if b.swap == nil {
		return b.Store.Swap(ctx, w)
	}
	return b.swap(ctx, b, w)
}

func (b *broken) Load(ctx context.Context, key string) (store.Record, error) {
	if b.load == nil {
		return b.Store.Load(ctx, key)
	}
	return b.load(ctx, b, key)
}

// once is true once in n times.
func (b *broken) once(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.random.IntN(n) == 0
}

// unchecked writes whatever the record's version is.
func unchecked(ctx context.Context, b *broken, w store.Write) (uint64, error) {
	for {
		rec, err := b.Store.Load(ctx, w.Key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return 0, err
		}
		if w.Expect = rec.Version; w.Expect == 0 && w.Data == nil {
			return 0, nil
		}
		if version, err := b.Store.Swap(ctx, w); !errors.Is(err, store.ErrConflict) {
			return version, err
		}
	}
}

// forgetful acknowledges some writes and does not do them.
func forgetful(ctx context.Context, b *broken, w store.Write) (uint64, error) {
	if b.once(10) {
		return w.Expect + 1, nil
	}
	return b.Store.Swap(ctx, w)
}

// modest says of some writes that they were refused, and has done them.
func modest(ctx context.Context, b *broken, w store.Write) (uint64, error) {
	version, err := b.Store.Swap(ctx, w)
	if err == nil && b.once(8) {
		return 0, fmt.Errorf("%w: not really", store.ErrOverloaded)
	}
	return version, err
}

// bare keeps records without the results that they name.
func bare(ctx context.Context, b *broken, w store.Write) (uint64, error) {
	w.Put = nil
	return b.Store.Swap(ctx, w)
}

// stale reads some records as they were when it read them before.
func stale(ctx context.Context, b *broken, key string) (store.Record, error) {
	rec, err := b.Store.Load(ctx, key)
	if err != nil {
		return rec, err
	}
	old := b.once(4)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.read == nil {
		b.read = map[string][]store.Record{}
	}
	if before := b.read[key]; old && len(before) > 0 {
		return before[len(before)-1], nil
	}
	b.read[key] = append(b.read[key], rec)
	return rec, nil
}

// Every way in which a store can break its contract is noticed: a checker that finds nothing must be able to find
// something.
func TestABrokenStoreIsNoticed(t *testing.T) {
	for _, way := range []struct {
		name    string
		broken  *broken
		witness bool // something is executed twice, or a wrong result is given: whoever knows nothing of the machine sees it
	}{
		{"that does not check versions", &broken{swap: unchecked}, true},
		{"that loses writes which it acknowledged", &broken{swap: forgetful}, true},
		{"that refuses writes which it has done", &broken{swap: modest}, false},
		{"that loses results", &broken{swap: bare}, false},
		{"that reads what is no longer true", &broken{load: stale}, false},
	} {
		t.Run(way.name, func(t *testing.T) {
			seed := uint64(envoytest.Setting(t, "IDEM_HISTORY_SEED", time.Now().UnixNano()))
			t.Logf("IDEM_HISTORY_SEED=%d", seed)
			m := NewMaker(t, inMemory, Options{Seed: seed, Break: func(s store.Store, random *rand.Rand) store.Store {
				return &broken{Store: s, random: random, swap: way.broken.swap, load: way.broken.load}
			}})
			const most = 300
			noticed, witnessed := 0, 0
			for n := 1; n <= most && (noticed == 0 || way.witness && witnessed == 0); n++ {
				h := m.Make()
				if noticed == 0 && h.Linearizable() != nil {
					noticed = n
				}
				if witnessed == 0 && h.Witness() != nil {
					witnessed = n
				}
			}
			if noticed == 0 {
				t.Errorf("%d histories over it were found to be linearizable", most)
			}
			if way.witness && witnessed == 0 {
				t.Errorf("the witness found nothing in %d histories", most)
			}
			t.Logf("noticed in history %d; the witness: %d", noticed, witnessed)
		})
	}
}
