package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
)

// The life of a record in this test: it is created, gets a result, and is removed with it. Its content says how far
// it is.
const (
	created = 1 + iota
	committed
	removed
)

// acknowledged is what a writer was told: the record's stage is durable, at that version.
type acknowledged struct {
	key     string
	stage   int
	version uint64
}

// TestNothingAcknowledgedIsLostWhenTheServerIsKilled lets writers take records through their life, kills the server's
// processes (SIGKILL) after a random number of acknowledged writes, starts it again and looks at every record that was
// acknowledged. The store stays open over all cycles. IDEM_CRASH_CYCLES sets their number, IDEM_CRASH_SEED repeats a
// run.
func TestNothingAcknowledgedIsLostWhenTheServerIsKilled(t *testing.T) {
	cycles, seed := number(t, "IDEM_CRASH_CYCLES", 4), number(t, "IDEM_CRASH_SEED", time.Now().UnixNano())
	t.Logf("%d cycles, IDEM_CRASH_SEED=%d", cycles, seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	server := pgtest.Start(t)
	s := mustOpen(t, server.URL(pgtest.NewSchema()), Options{})
	defer s.Close()
	newest := uint64(0) // the greatest version that was given before the last kill
	for cycle := range cycles {
		var mu sync.Mutex
		var acks []acknowledged
		enough, after := make(chan struct{}), 1+random.IntN(3000)
		var writers sync.WaitGroup
		for g := range 32 {
			writers.Go(func() {
				for n := 0; ; n++ {
					err := live(s, hexKey(fmt.Sprint(cycle, "/", g, "/", n)), n%3 == 0, func(a acknowledged) {
						mu.Lock()
						defer mu.Unlock()
						if acks = append(acks, a); len(acks) == after {
							close(enough)
						}
					})
					if err != nil {
						if !errors.Is(err, store.ErrUnavailable) {
							t.Errorf("cycle %d: a write that was cut off: got %v, want ErrUnavailable", cycle, err)
						}
						return
					}
				}
			})
		}
		<-enough
		server.Kill9(t)
		writers.Wait()
		server.Restart(t)

		last, greatest := map[string]acknowledged{}, newest
		for _, a := range acks {
			if a.version != 0 && a.version <= newest {
				t.Errorf("cycle %d: version %d was given after %d, over a crash", cycle, a.version, newest)
			}
			greatest = max(greatest, a.version)
			last[a.key] = a // a key's come in the order of its stages: one goroutine writes them
		}
		newest = greatest
		for _, a := range last {
			if err := a.holds(s); err != nil {
				t.Errorf("cycle %d: %v", cycle, err)
			}
		}
		if err := indexesAgree(s); err != nil {
			t.Errorf("cycle %d: %v", cycle, err)
		}
		t.Logf("cycle %d: %d writes were acknowledged, to %d records", cycle, len(acks), len(last))
		if t.Failed() {
			return
		}
	}
}

// live takes one record through its life, and to its removal if remove.
func live(s *Store, key string, remove bool, tell func(acknowledged)) error {
	var version uint64
	for stage := created; stage <= committed || (remove && stage == removed); stage++ {
		w := store.Write{Key: key, Expect: version, Now: time.Now()}
		if stage != removed {
			w.Data = []byte(strconv.Itoa(stage))
			w.Entries = []store.Entry{{Index: store.Due, At: time.UnixMicro(int64(1e15 + 1e6*stage))}}
		}
		switch stage {
		case created:
			w.Entries = append(w.Entries, store.Entry{Index: store.Holds, ID: key, At: time.UnixMicro(1e15)})
		case committed:
			w.Put = []store.Result{{Attempt: key[:32], Data: []byte("result of " + key)}}
		case removed:
			w.Drop = []string{key[:32]}
		}
		var err error
		if version, err = s.Swap(context.Background(), w); err != nil {
			return err
		}
		tell(acknowledged{key, stage, version})
	}
	return nil
}

// holds looks whether what was acknowledged is there. The next stage may be there too: its answer was lost.
func (a acknowledged) holds(s *Store) error {
	ctx := context.Background()
	stage := removed
	rec, err := loadPatiently(s, a.key)
	switch {
	case err == nil:
		if stage, err = strconv.Atoi(string(rec.Data)); err != nil {
			return fmt.Errorf("record %.8s has the content %q, which was never written", a.key, rec.Data)
		}
	case !errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("record %.8s: %w", a.key, err)
	}
	switch {
	case stage < a.stage || stage > a.stage+1:
		return fmt.Errorf("record %.8s is at stage %d, acknowledged was %d", a.key, stage, a.stage)
	case stage == a.stage && rec.Version != a.version:
		return fmt.Errorf("record %.8s has version %d, acknowledged was %d", a.key, rec.Version, a.version)
	case stage != a.stage && stage != removed && rec.Version <= a.version:
		return fmt.Errorf("record %.8s went on from version %d to %d", a.key, a.version, rec.Version)
	}
	data, err := s.Result(ctx, a.key[:32])
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("result of %.8s: %w", a.key, err)
	}
	if want := map[int]string{committed: "result of " + a.key}[stage]; string(data) != want {
		return fmt.Errorf("record %.8s is at stage %d and its result is %q, want %q", a.key, stage, data, want)
	}
	return nil
}

// loadPatiently loads over connections that may be from before the crash: each says so once.
func loadPatiently(s *Store, key string) (r store.Record, err error) {
	for range 10 {
		if r, err = s.Load(context.Background(), key); !errors.Is(err, store.ErrUnavailable) {
			break
		}
	}
	return r, err
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
	stages := map[string]string{}
	open := 0
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
