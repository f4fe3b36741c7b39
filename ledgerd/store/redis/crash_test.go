package redis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
)

// The life of a record in this test: it is created, gets a result, and is removed with it. Its content says how far
// it is.
const (
	created = 1 + iota
	committed
	removed
)

// life is what is known of one record: the last stage that was acknowledged, and the next one where that was sent
// without an answer.
type life struct {
	key     string
	stage   int
	version uint64
	asked   int
}

// TestNothingAcknowledgedIsLostInAKill takes records through their life under load, kills the server (SIGKILL) after a
// random number of acknowledged writes, starts it again on its append-only file, and looks at every record. The store
// stays open all the time: it finds its way back by itself. IDEM_CRASH_CYCLES sets the number of kills,
// IDEM_CRASH_SEED repeats a run.
func TestNothingAcknowledgedIsLostInAKill(t *testing.T) {
	cycles, seed := number(t, "IDEM_CRASH_CYCLES", 6), number(t, "IDEM_CRASH_SEED", time.Now().UnixNano())
	t.Logf("%d cycles, IDEM_CRASH_SEED=%d", cycles, seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	server := redistest.Start(t)
	s := mustOpen(t, server.URL(), Options{})
	defer s.Close()
	var newest uint64
	for cycle := range cycles {
		lives := liveUntilKilled(t, server, s, int64(1+random.IntN(3000)), fmt.Sprint(cycle))
		server.Restart(t)
		other := mustOpen(t, server.URL(), Options{}) // a process that remembers nothing
		eventually(t, func() error { _, err := s.Newest(t.Context(), 1); return err })
		greatest := newest
		for _, l := range lives {
			if l.version != 0 && l.version <= newest {
				t.Errorf("cycle %d: version %d was given after %d, over a restart", cycle, l.version, newest)
			}
			greatest = max(greatest, l.version)
			for name, from := range map[string]*Store{"the store that lived through it": s, "a new one": other} {
				if err := l.holds(from); err != nil {
					t.Errorf("cycle %d, as %s has it: %v", cycle, name, err)
				}
			}
		}
		newest = greatest
		if err := errors.Join(indexesAgree(other), other.Close()); err != nil {
			t.Errorf("cycle %d: %v", cycle, err)
		}
		t.Logf("cycle %d: %d records", cycle, len(lives))
		if t.Failed() {
			return
		}
	}
}

// liveUntilKilled takes records through their life until so many writes were acknowledged, kills the server then, and
// gives what is known of each record.
func liveUntilKilled(t *testing.T, server *redistest.Server, s *Store, writes int64, name string) (lives []*life) {
	t.Helper()
	var left atomic.Int64
	left.Store(writes)
	enough := make(chan struct{})
	var mu sync.Mutex
	var all sync.WaitGroup
	for g := range 32 {
		all.Go(func() {
			for n := 0; ; n++ {
				l := &life{key: hexKey(fmt.Sprint(name, "/", g, "/", n))}
				mu.Lock()
				lives = append(lives, l)
				mu.Unlock()
				for l.asked = created; l.asked <= committed || l.asked == removed && n%3 == 0; l.asked++ {
					version, err := s.Swap(context.Background(), l.next())
					if errors.Is(err, store.ErrUnavailable) {
						return // the server is gone; whether this one happened is not known
					}
					if err != nil {
						t.Errorf("record %.8s at stage %d: %v", l.key, l.asked, err)
						return
					}
					l.stage, l.version = l.asked, version
					if left.Add(-1) == 0 {
						close(enough)
					}
				}
			}
		})
	}
	<-enough
	server.Kill(t)
	all.Wait()
	return lives
}

// next is the write that takes a record to the stage that is asked for.
func (l *life) next() store.Write {
	w := store.Write{Key: l.key, Expect: l.version, Now: time.Now()}
	if l.asked != removed {
		w.Data = []byte(strconv.Itoa(l.asked))
		w.Entries = []store.Entry{{Index: store.Due, At: time.UnixMicro(int64(1e15 + 1e6*l.asked))}}
	}
	switch l.asked {
	case created:
		w.Entries = append(w.Entries, store.Entry{Index: store.Holds, ID: l.key, At: time.UnixMicro(1e15)})
	case committed:
		w.Put = []store.Result{{Attempt: l.key[:32], Data: []byte("result of " + l.key)}}
	case removed:
		w.Drop = []string{l.key[:32]}
	}
	return w
}

// holds looks whether what was acknowledged is there. What was asked for last may be there too: its answer was lost.
func (l *life) holds(s *Store) error {
	ctx := context.Background()
	stage := 0
	rec, err := s.Load(ctx, l.key)
	switch {
	case err == nil:
		if stage, err = strconv.Atoi(string(rec.Data)); err != nil {
			return fmt.Errorf("record %.8s has the content %q, which was never written", l.key, rec.Data)
		}
	case !errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("record %.8s: %w", l.key, err)
	case l.stage == removed || l.stage == committed && l.asked == removed:
		stage = removed
	}
	switch {
	case stage != l.stage && stage != l.asked:
		return fmt.Errorf("record %.8s is at stage %d, acknowledged was %d, asked for %d", l.key, stage, l.stage, l.asked)
	case stage == l.stage && stage != removed && rec.Version != l.version:
		return fmt.Errorf("record %.8s has version %d, acknowledged was %d", l.key, rec.Version, l.version)
	case stage != l.stage && stage != removed && rec.Version <= l.version:
		return fmt.Errorf("record %.8s went on from version %d to %d", l.key, l.version, rec.Version)
	}
	data, err := s.Result(ctx, l.key[:32])
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("result of %.8s: %w", l.key, err)
	}
	if want := map[int]string{committed: "result of " + l.key}[stage]; string(data) != want {
		return fmt.Errorf("record %.8s is at stage %d and its result is %q, want %q", l.key, stage, data, want)
	}
	return nil
}

// indexesAgree looks whether exactly the records that should be due are due, and every hold leads to its record.
func indexesAgree(s *Store) error {
	ctx := context.Background()
	records, err := s.Newest(ctx, 1<<20)
	if err != nil {
		return err
	}
	due, err := s.Scan(ctx, store.Due, time.UnixMicro(1<<60), nil, 1<<20)
	if err != nil {
		return err
	}
	holds, err := s.Scan(ctx, store.Holds, time.UnixMicro(1<<60), nil, 1<<20)
	if err != nil {
		return err
	}
	stages, open := map[string]string{}, 0
	for _, r := range records {
		stages[r.Key] = string(r.Data)
		if string(r.Data) == strconv.Itoa(created) {
			open++
		}
	}
	if len(due) != len(records) || len(holds) != open {
		return fmt.Errorf("there are %d records, %d of them due, and %d open ones with %d holds", len(records), len(due), open, len(holds))
	}
	for _, h := range holds {
		if stages[h.Key] != strconv.Itoa(created) {
			return fmt.Errorf("hold %.8s leads to a record at stage %q", h.ID, stages[h.Key])
		}
		if e, err := s.Lookup(ctx, store.Holds, h.ID); err != nil || e.Key != h.Key {
			return fmt.Errorf("looking up hold %.8s: got %v, %w", h.ID, e, err)
		}
	}
	return nil
}

func number(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q, want a whole number", name, v)
	}
	return n
}
