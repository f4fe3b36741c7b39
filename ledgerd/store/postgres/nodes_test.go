package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/storetest"
)

// twoNodes opens two stores in one schema.
func twoNodes(t *testing.T, o Options) (one, two *Store) {
	t.Helper()
	url := pgtest.Shared(t).URL(pgtest.NewSchema())
	one, two = mustOpen(t, url, o), mustOpen(t, url, o)
	t.Cleanup(func() {
		if err := errors.Join(one.Close(), two.Close()); err != nil {
			t.Error(err)
		}
	})
	return one, two
}

func TestNodesThatStartAtOnceMakeOneSchema(t *testing.T) {
	url := pgtest.Shared(t).URL(pgtest.NewSchema())
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			s, err := Open(t.Context(), url, Options{Migrate: true})
			if err != nil {
				t.Errorf("node %d: %v", i, err)
				return
			}
			if _, err := s.Swap(t.Context(), store.Write{Key: hexKey(fmt.Sprint(i)), Data: []byte("x")}); err != nil {
				t.Errorf("node %d: %v", i, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestTwoNodesLoseNoIncrementOfOneRecord(t *testing.T) {
	one, two := twoNodes(t, Options{})
	storetest.Contend(t, 1, one, two)
}

// While one node resets again and again, another one makes and changes records: none is ever found at a version that
// was given before, and each write either happens or conflicts.
func TestResetWithOtherNodesAtOnceGivesNoVersionTwice(t *testing.T) {
	one, two := twoNodes(t, Options{})
	var versions sync.Map
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			version := uint64(0)
			for {
				select {
				case <-stop:
					return
				default:
				}
				v, err := one.Swap(context.Background(), store.Write{Key: hexKey(fmt.Sprint(i)), Expect: version, Data: []byte("x"),
					Entries: []store.Entry{{Index: store.Holds, ID: fmt.Sprint(i), At: time.UnixMicro(1)}},
					Put:     []store.Result{{Attempt: fmt.Sprint(i), Data: []byte("r")}}})
				switch {
				case errors.Is(err, store.ErrConflict): // it was reset
					version = 0
				case err != nil:
					t.Errorf("Swap: %v", err)
					return
				default:
					if _, before := versions.LoadOrStore(v, true); before {
						t.Errorf("version %d was given twice", v)
					}
					version = v
				}
			}
		})
	}
	for range 20 {
		if err := two.Reset(t.Context()); err != nil {
			t.Errorf("Reset: %v", err)
		}
	}
	close(stop)
	all.Wait()
	if err := two.Reset(t.Context()); err != nil {
		t.Fatalf("Reset: %v", err)
	}
	list, err := one.Newest(t.Context(), 10)
	holds, err2 := one.Scan(t.Context(), store.Holds, time.Now(), nil, 10)
	if len(list)+len(holds) != 0 || err != nil || err2 != nil {
		t.Errorf("after the last one there are %v, %v, %v, %v", list, holds, err, err2)
	}
}

// A node that has read what another decided does not decide by an earlier moment, whatever its own clock says.
func TestWhoeverReadsADecisionIsNotBeforeIt(t *testing.T) {
	url := pgtest.Shared(t).URL(pgtest.NewSchema())
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ahead, behind := storetest.NewClock(start.Add(time.Second)), storetest.NewClock(start)
	one, two := mustOpen(t, url, Options{Clock: ahead.Now}), mustOpen(t, url, Options{Clock: behind.Now})
	defer one.Close()
	defer two.Close()
	decided, err := one.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x"), Now: decided}); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Load(t.Context(), hexKey("a")); err != nil {
		t.Fatal(err)
	}
	if now, err := two.Now(t.Context()); err != nil || now.Before(decided) {
		t.Errorf("got %v, %v, want at least %v", now, err, decided)
	}
}

// What another node decided binds a node that starts after it, to within the ceiling's margin.
func TestNodeThatStartsIsNotBeforeWhatWasDecided(t *testing.T) {
	url := pgtest.Shared(t).URL(pgtest.NewSchema())
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := mustOpen(t, url, Options{Clock: storetest.NewClock(start).Now})
	defer s.Close()
	decided := start
	for i := range 100 { // the ceiling is not written with each of them
		decided = decided.Add(10 * time.Millisecond)
		if _, err := s.Swap(t.Context(), store.Write{Key: hexKey(fmt.Sprint(i)), Data: []byte("x"), Now: decided}); err != nil {
			t.Fatal(err)
		}
		if i%20 != 19 {
			continue
		}
		late := mustOpen(t, url, Options{Clock: storetest.NewClock(start).Now})
		now, err := late.Now(t.Context())
		if err != nil || now.Before(decided) || now.After(decided.Add(ceilingAhead)) {
			t.Errorf("decided by %v: a node that starts says %v, %v", decided, now, err)
		}
		if err := late.Close(); err != nil {
			t.Error(err)
		}
	}
}
