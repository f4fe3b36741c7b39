package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/storetest"
)

// Whoever drops the schema, restores another backup or leads the address elsewhere leaves the nodes that run with a
// ledger that knows nothing of what was executed. The first thing that any of them asks is refused, and so is all else,
// until it is started again; and the store that is there now is not touched.
func TestAnotherStoreIsNotTakenForTheOneThatWasOpened(t *testing.T) {
	server := pgtest.Shared(t)
	for first, request := range storetest.Requests {
		t.Run(first, func(t *testing.T) {
			schema := pgtest.NewSchema()
			var log storetest.Log
			s := mustOpen(t, server.URL(schema), Options{Log: log.Logger(), Clock: time.Now}) // no one looks while it is idle
			defer s.Close()
			mustSwap(t, s, "a", 0)
			server.Do(t, "DROP SCHEMA "+schema+" CASCADE")
			other := mustOpen(t, server.URL(schema), Options{})
			defer other.Close()
			version := mustSwap(t, other, "other", 0)
			if err := request(t.Context(), s); !errors.Is(err, store.ErrUnfit) || !strings.Contains(err.Error(), other.ID()) || !strings.Contains(err.Error(), s.ID()) {
				t.Errorf("the first that was asked: got %v, want ErrUnfit and both ids", err)
			}
			storetest.WantUnfit(t, s)
			log.WantHas(t, "level=ERROR", "refuses everything", other.ID())
			if r, err := other.Load(t.Context(), hexKey("other")); err != nil || r.Version != version {
				t.Errorf("the store that is there now was changed: %+v, %v", r, err)
			}
			if _, err := other.Load(t.Context(), hexKey("a")); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the store that is there now has a write that was not its own: %v", err)
			}
			again, err := Open(t.Context(), server.URL(schema), Options{})
			if err != nil {
				t.Fatalf("once it is started again: %v", err)
			}
			defer again.Close()
			mustSwap(t, again, "later", 0)
		})
	}
}

func TestIdleNodeNoticesAnotherStore(t *testing.T) {
	server, schema := pgtest.Shared(t), pgtest.NewSchema()
	s := mustOpen(t, server.URL(schema), Options{})
	defer s.Close()
	server.Do(t, "DROP SCHEMA "+schema+" CASCADE")
	other := mustOpen(t, server.URL(schema), Options{})
	defer other.Close()
	eventually(t, func() bool { _, err := s.Now(t.Context()); return errors.Is(err, store.ErrUnfit) })
}

// Every write is either in the store that was opened, or refused: while the schema is replaced under load none slips
// into the new one.
func TestNoWriteSlipsIntoAnotherStoreUnderLoad(t *testing.T) {
	server, schema := pgtest.Shared(t), pgtest.NewSchema()
	s := mustOpen(t, server.URL(schema), Options{})
	defer s.Close()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for {
				_, err := s.Swap(context.Background(), store.Write{Key: hexKey(pgtest.NewSchema()), Data: []byte("x")})
				if errors.Is(err, store.ErrUnfit) && s.gone() != nil {
					return
				}
			}
		})
	}
	eventually(t, func() bool { return s.Stats().Writes > 100 })
	server.Do(t, "ALTER SCHEMA "+schema+" RENAME TO "+schema+"_old")
	other := mustOpen(t, server.URL(schema), Options{})
	defer other.Close()
	all.Wait()
	if list, err := other.Newest(t.Context(), 10); len(list) != 0 || err != nil {
		t.Errorf("the new store has %d records of the former one's node, %v", len(list), err)
	}
}

// A backup of the store itself has its id. What tells it is that it does not know of decisions that were durable.
func TestStoreThatWentBackIsRefused(t *testing.T) {
	server, schema := pgtest.Shared(t), pgtest.NewSchema()
	for _, accepted := range []bool{false, true} {
		var log storetest.Log
		url := server.URL(schema)
		if accepted {
			url += "&accept_loss=true"
		}
		s := mustOpen(t, url, Options{Log: log.Logger()})
		defer s.Close()
		server.Do(t, "CREATE TABLE "+schema+".backup AS SELECT * FROM "+schema+".clock")
		now := time.Now()
		if _, err := s.Swap(t.Context(), store.Write{Key: hexKey(pgtest.NewSchema()), Data: []byte("x"), Now: now.Add(time.Second)}); err != nil {
			t.Fatal(err)
		}
		server.Do(t, "UPDATE "+schema+".clock SET ceiling = backup.ceiling FROM "+schema+".backup; DROP TABLE "+schema+".backup")
		if _, err := s.Load(t.Context(), hexKey("a")); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnfit) == accepted || !strings.Contains(err.Error(), "went back") {
			t.Errorf("accept_loss %t: got %v, want ErrUnavailable that says so", accepted, err)
		}
		log.WantHas(t, "went back")
		if _, err := s.Load(t.Context(), hexKey("a")); errors.Is(err, store.ErrNotFound) != accepted {
			t.Errorf("accept_loss %t: afterwards got %v", accepted, err)
		}
	}
}

// A role that may not is told what it lacks, in statements that grant it.
func TestRoleIsToldWhatItLacks(t *testing.T) {
	server, schema, role := pgtest.Shared(t), pgtest.NewSchema(), pgtest.NewSchema()
	mustOpen(t, server.URL(schema), Options{}).Close()
	server.Do(t, "CREATE ROLE "+role+" LOGIN")
	url := strings.Replace(server.URL(schema), "ledgerd@", role+"@", 1)
	for i := 0; ; i++ {
		s, err := Open(t.Context(), url, Options{})
		if err == nil {
			mustSwap(t, s, "a", 0)
			s.Close()
			return
		}
		_, statements, found := strings.Cut(err.Error(), ": GRANT ")
		if !errors.Is(err, ErrPrivilege) || !found || i == 2 {
			t.Fatalf("got %v, want ErrPrivilege and the statements", err)
		}
		statements, _, _ = strings.Cut("GRANT "+statements, ", and what")
		server.Do(t, statements)
	}
}

// eventually ends the test where something does not become true.
func eventually(t *testing.T, is func() bool) {
	t.Helper()
	tick, deadline := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it never came true")
		}
	}
}
