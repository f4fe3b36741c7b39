package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/storetest"
)

func TestGroups(t *testing.T) { storetest.RunGroups(t, storetest.Groups{Hold: hold, Shares: 1}) }

// hold opens a store whose only writer will wait for a row that somebody has locked.
func hold(t *testing.T, b storetest.Bounds) storetest.Held {
	t.Helper()
	server := pgtest.Shared(t)
	s := mustOpen(t, server.URL(pgtest.NewSchema()), Options{
		Writers: 1, QueueWrites: b.QueueWrites, QueueBytes: b.QueueBytes, GroupWrites: b.GroupWrites, GroupBytes: b.GroupBytes,
	})
	t.Cleanup(func() { _ = s.Close() }) // where the test has closed it already
	version := mustSwap(t, s, "first", 0)
	other := lock(t, server, s, "first")
	return storetest.Held{
		Store: s, First: store.Write{Key: hexKey("first"), Expect: version, Data: []byte("x")}, Queue: s.queue.State,
		Stats: func() (uint64, uint64) { st := s.Stats(); return st.Commits, st.Writes },
		Free: func() {
			t.Helper()
			if _, err := other.Exec(t.Context(), "COMMIT"); err != nil {
				t.Errorf("letting the row go: %v", err)
			}
		},
	}
}

// lock locks the row of a record, until the connection that it gives commits.
func lock(t *testing.T, server *pgtest.Server, s *Store, name string) *pgx.Conn {
	t.Helper()
	conn := server.Connect(t)
	if _, err := conn.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "SELECT FROM "+s.schema+".records WHERE key = $1 FOR UPDATE", pack(hexKey(name))); err != nil {
		t.Fatal(err)
	}
	return conn
}

func hexKey(name string) string { return storetest.Key(name) }

func mustSwap(t *testing.T, s *Store, name string, expect uint64) uint64 {
	t.Helper()
	version, err := s.Swap(t.Context(), store.Write{Key: hexKey(name), Expect: expect, Data: []byte("x")})
	if err != nil {
		t.Fatalf("Swap of %s: %v", name, err)
	}
	return version
}

func swapAsync(s *Store, name string, expect uint64) <-chan error {
	return storetest.SwapAsync(context.Background(), s, store.Write{Key: hexKey(name), Expect: expect, Data: []byte("x")})
}

// A write that the server cannot take (its key does not fit an index) fails alone.
func TestWriteThatCannotBeTakenSpoilsNobodyElse(t *testing.T) {
	s := hold(t, storetest.Bounds{}).Begin(t.Context(), t)
	huge := make([]byte, 10_000)
	rand.Read(huge) // random, or it would be compressed until it fits
	bad := storetest.SwapAsync(context.Background(), s, store.Write{Key: string(huge), Data: []byte("x")})
	s.WaitFor(1)
	good := []<-chan error{s.Create("1", 0), s.Create("2", 0)}
	s.WaitFor(3)
	s.End()
	storetest.WantNoErrors(t, good...)
	if err := <-bad; !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

// Two transactions that wait for each other: the server ends ours, nothing of it is there, and it is done again.
func TestDeadlockWithAnotherClientIsTriedAgain(t *testing.T) {
	busy := hold(t, storetest.Bounds{}).Begin(t.Context(), t)
	s, server := busy.Store.(*Store), pgtest.Shared(t)
	low, high := "a", "b"
	if hexKey(low) > hexKey(high) {
		low, high = high, low
	}
	// The only writer is held up, so the two are made by another store.
	maker := mustOpen(t, server.URL(s.schema), Options{})
	defer maker.Close()
	vLow, vHigh := mustSwap(t, maker, low, 0), mustSwap(t, maker, high, 0)
	other := lock(t, server, s, high)
	// The other one does not look for deadlocks for so long that ours does.
	if _, err := other.Exec(t.Context(), "SET deadlock_timeout = '1h'"); err != nil {
		t.Fatal(err)
	}
	swaps := []<-chan error{swapAsync(s, low, vLow), swapAsync(s, high, vHigh)}
	busy.WaitFor(2)
	busy.End()
	// Once ours has the lower one it waits for the higher one, and the other for the lower one.
	for got := true; got; {
		err := server.Connect(t).QueryRow(t.Context(), "SELECT count(*) > 0 FROM "+s.schema+".records WHERE key = $1 AND key IN (SELECT key FROM "+
			s.schema+".records WHERE key = $1 FOR UPDATE SKIP LOCKED)", pack(hexKey(low))).Scan(&got)
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := other.Exec(t.Context(), "SELECT FROM "+s.schema+".records WHERE key = $1 FOR UPDATE", pack(hexKey(low))); err != nil {
		t.Fatalf("ours should have been ended: %v", err)
	}
	if _, err := other.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	storetest.WantNoErrors(t, swaps...)
	for name, before := range map[string]uint64{low: vLow, high: vHigh} {
		if r, err := s.Load(t.Context(), hexKey(name)); err != nil || r.Version <= before {
			t.Errorf("%s: got version %d after %d, and %v: it is not written", name, r.Version, before, err)
		}
	}
	// A busy server may end it a second time.
	if st := s.Stats(); st.Retries < 1 || st.Retries >= mostTries || st.Failures != 0 {
		t.Errorf("got %+v, want a retry or a few, and no failure", st)
	}
}
