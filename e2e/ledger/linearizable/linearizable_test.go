package linearizable

import (
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/memory"
	"idem/ledgerd/store/sqlite"
)

func inMemory(t testing.TB, clock *Clock, nodes int) []store.Store {
	s := memory.New(memory.Options{Clock: clock.Now})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return views(s, nodes)
}

func inSQLite(t testing.TB, clock *Clock, nodes int) []store.Store {
	s, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return views(s, nodes)
}

// views gives one store as often as there are nodes.
func views(s store.Store, nodes int) []store.Store {
	all := make([]store.Store, nodes)
	for i := range all {
		all[i] = s
	}
	return all
}

// number reads a setting of the test from the environment.
func number(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q, want a whole number", name, text)
	}
	return n
}

func TestHistoriesAreLinearizable(t *testing.T) {
	for name, open := range map[string]Driver{"memory": inMemory, "sqlite": inSQLite} {
		for _, setup := range []struct {
			name string
			o    Options
		}{
			{"three ledgers", Options{Faults: true}},
			{"one ledger that is the only one", Options{Faults: true, SoleOwner: true}},
		} {
			t.Run(name+"/"+setup.name, func(t *testing.T) {
				o := setup.o
				o.Seed = uint64(number(t, "IDEM_HISTORY_SEED", time.Now().UnixNano()))
				limit := time.Duration(number(t, "IDEM_HISTORY_SECONDS", 3)) * time.Second
				t.Logf("IDEM_HISTORY_SEED=%d", o.Seed)
				checkFor(t, NewMaker(t, open, o), limit)
			})
		}
	}
}

// checkFor makes and checks histories until a time is over.
func checkFor(t *testing.T, m *Maker, limit time.Duration) {
	t.Helper()
	var made, undecided, calls, unknowns, perhaps int
	var making, searching time.Duration
	for began := time.Now(); made == 0 || time.Since(began) < limit; made++ {
		at := time.Now()
		h := m.Make()
		making += time.Since(at)
		at = time.Now()
		if err := h.Linearizable(); errors.Is(err, ErrUndecided) {
			t.Log(err)
			undecided++
		} else if err != nil {
			t.Error(err)
			var v *Violation
			if errors.As(err, &v) {
				t.Log(v.Draw())
			}
			return
		}
		searching += time.Since(at)
		if err := h.Witness(); err != nil {
			t.Fatal(err)
		}
		c, u, p := h.Size()
		calls, unknowns, perhaps = calls+c, unknowns+u, perhaps+p
	}
	t.Logf("%d histories of %d calls, %d of unknown outcome, %d that may have happened besides; made in %v, checked in %v",
		made, calls, unknowns, perhaps, making.Round(time.Millisecond), searching.Round(time.Millisecond))
	if undecided > 1+made/10 {
		t.Errorf("%d of %d histories were too wild to be decided: the test shows too little", undecided, made)
	}
}
