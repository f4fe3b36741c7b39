package linearizable

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/ledgerd/store"
	"idem/ledgerd/store/memory"
	"idem/ledgerd/store/postgres"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/redis"
	"idem/ledgerd/store/redis/redistest"
	"idem/ledgerd/store/sqlite"
)

func inMemory(t testing.TB, clock *Clock, nodes int) []store.Store {
	return views(closed(t, memory.New(memory.Options{Clock: clock.Now})), nodes)
}

func inSQLite(t testing.TB, clock *Clock, nodes int) []store.Store {
	s, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	return views(closed(t, s), nodes)
}

// inPostgres gives every node connections of its own.
func inPostgres(t testing.TB, clock *Clock, nodes int) []store.Store {
	url := pgtest.Start(t).URL(pgtest.NewSchema())
	all := make([]store.Store, nodes)
	for i := range all {
		s, err := postgres.Open(t.Context(), url, postgres.Options{Clock: clock.Now, Migrate: true})
		if err != nil {
			t.Fatal(err)
		}
		all[i] = closed(t, s)
	}
	return all
}

// inRedis gives every node connections of its own.
func inRedis(t testing.TB, clock *Clock, nodes int) []store.Store {
	server := redistest.Start(t)
	all := make([]store.Store, nodes)
	for i := range all {
		s, err := redis.Open(t.Context(), server.URL(), redis.Options{Clock: clock.Now, Migrate: true, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		all[i] = closed(t, s)
	}
	return all
}

// closed closes a store when the test ends.
func closed(t testing.TB, s store.Store) store.Store {
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// views gives one store as often as there are nodes.
func views(s store.Store, nodes int) []store.Store {
	all := make([]store.Store, nodes)
	for i := range all {
		all[i] = s
	}
	return all
}

// Several ledgers over one store of each kind, and one that knows that it is the only one over those kinds that have one.
// IDEM_HISTORY_SECONDS says for how long, IDEM_HISTORY_SEED repeats what can be repeated.
func TestHistoriesAreLinearizable(t *testing.T) {
	several, sole := Options{Faults: true}, Options{Faults: true, SoleOwner: true}
	served := Options{Faults: true, Patience: 150 * time.Millisecond}
	for _, c := range []struct {
		name string
		open Driver
		o    Options
	}{
		{"memory, three ledgers", inMemory, several},
		{"memory, its only ledger", inMemory, sole},
		{"sqlite, three ledgers", inSQLite, several},
		{"sqlite, its only ledger", inSQLite, sole},
		{"postgres, three ledgers", inPostgres, served},
		{"redis, three ledgers", inRedis, served},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Seed = uint64(envoytest.Setting(t, "IDEM_HISTORY_SEED", time.Now().UnixNano()))
			limit := time.Duration(envoytest.Setting(t, "IDEM_HISTORY_SECONDS", 2)) * time.Second
			t.Logf("IDEM_HISTORY_SEED=%d", c.o.Seed)
			checkFor(t, NewMaker(t, c.open, c.o), limit)
		})
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
