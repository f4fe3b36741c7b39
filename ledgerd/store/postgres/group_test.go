package postgres

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/jackc/pgx/v5"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
)

// blocked opens a store whose only writer waits for a row that somebody has locked. free ends that.
func blocked(t *testing.T, o Options) (s *Store, free func()) {
	t.Helper()
	o.Writers = 1
	server := pgtest.Shared(t)
	s = mustOpen(t, server.URL(pgtest.NewSchema()), o)
	t.Cleanup(func() { _ = s.Close() }) // where the test has closed it already
	version := mustSwap(t, s, "first", 0)
	other := lock(t, server, s, "first")
	first := swapAsync(s, "first", version, nil)
	s.waitFor(t, 0)
	return s, func() {
		t.Helper()
		if _, err := other.Exec(t.Context(), "COMMIT"); err != nil {
			t.Errorf("%v", err)
		}
		if err := <-first; err != nil {
			t.Errorf("the write that waited for the lock: %v", err)
		}
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

// waitFor returns when n requests wait in the queue, and the writers have taken all before them.
func (s *Store) waitFor(t *testing.T, n int) {
	t.Helper()
	for {
		if now := s.queue.State(); now.Waiting == n && now.Groups > 1 {
			return
		}
		runtime.Gosched()
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func hexKey(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

func mustSwap(t *testing.T, s *Store, name string, expect uint64) uint64 {
	t.Helper()
	version, err := s.Swap(t.Context(), store.Write{Key: hexKey(name), Expect: expect, Data: []byte("x")})
	if err != nil {
		t.Fatalf("Swap of %s: %v", name, err)
	}
	return version
}

func swapAsync(s *Store, name string, expect uint64, data []byte) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := s.Swap(context.Background(), store.Write{Key: hexKey(name), Expect: expect, Data: append([]byte("x"), data...)})
		done <- err
	}()
	return done
}

func wantNoErrors(t *testing.T, all []<-chan error) {
	t.Helper()
	for _, done := range all {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestWritesThatWaitShareOneCommit(t *testing.T) {
	s, free := blocked(t, Options{})
	var all []<-chan error
	for i := range 100 {
		all = append(all, swapAsync(s, fmt.Sprint(i), 0, nil))
	}
	s.waitFor(t, 100)
	free()
	wantNoErrors(t, all)
	if st := s.Stats(); st.Commits != 3 || st.Writes != 102 {
		t.Errorf("got %+v, want 102 writes in 3 commits: two alone, then all that waited", st)
	}
}

func TestGroupIsBoundedInWritesAndBytes(t *testing.T) {
	for _, c := range []struct {
		o       Options
		commits uint64
	}{{Options{GroupWrites: 5}, 2 + 4}, {Options{GroupBytes: 10_000}, 2 + 2}} {
		s, free := blocked(t, c.o)
		var all []<-chan error
		for i := range 20 {
			all = append(all, swapAsync(s, fmt.Sprint(i), 0, make([]byte, 1000)))
		}
		s.waitFor(t, 20)
		free()
		wantNoErrors(t, all)
		if st := s.Stats(); st.Commits != c.commits {
			t.Errorf("%+v: 20 writes of 1 kB that waited took %d commits, want %d", c.o, st.Commits-2, c.commits-2)
		}
	}
}

func TestWritesOfOneRecordInOneGroupAreCheckedOneByOne(t *testing.T) {
	s, free := blocked(t, Options{})
	var all []<-chan error
	for range 10 {
		all = append(all, swapAsync(s, "same", 0, nil))
	}
	s.waitFor(t, 10)
	free()
	won, lost := 0, 0
	for _, done := range all {
		switch err := <-done; {
		case err == nil:
			won++
		case errors.Is(err, store.ErrConflict):
			lost++
		default:
			t.Error(err)
		}
	}
	if won != 1 || lost != 9 {
		t.Errorf("%d won and %d had a conflict, want 1 and 9", won, lost)
	}
}

// A write that the server cannot take (its key does not fit an index) fails alone.
func TestWriteThatCannotBeTakenSpoilsNobodyElse(t *testing.T) {
	s, free := blocked(t, Options{})
	huge := make([]byte, 10_000)
	rand.Read(huge) // random, or it would be compressed until it fits
	bad := make(chan error, 1)
	go func() {
		_, err := s.Swap(context.Background(), store.Write{Key: string(huge), Data: []byte("x")})
		bad <- err
	}()
	s.waitFor(t, 1)
	good := []<-chan error{swapAsync(s, "1", 0, nil), swapAsync(s, "2", 0, nil)}
	s.waitFor(t, 3)
	free()
	wantNoErrors(t, good)
	if err := <-bad; !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

func TestFullQueueRefusesAtOnceAndWritesTheRest(t *testing.T) {
	s, free := blocked(t, Options{QueueWrites: 3})
	waiting := []<-chan error{swapAsync(s, "1", 0, nil), swapAsync(s, "2", 0, nil), swapAsync(s, "3", 0, nil)}
	s.waitFor(t, 3)
	if err := <-swapAsync(s, "4", 0, nil); !errors.Is(err, store.ErrOverloaded) {
		t.Errorf("the fourth: got %v, want ErrOverloaded", err)
	}
	if _, err := s.Load(t.Context(), hexKey("1")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("readers do not wait for writers: got %v, want ErrNotFound", err)
	}
	free()
	wantNoErrors(t, waiting)
	if _, err := s.Load(t.Context(), hexKey("4")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the refused one: got %v, want ErrNotFound", err)
	}
}

func TestQueueIsBoundedInBytes(t *testing.T) {
	s, free := blocked(t, Options{QueueBytes: 10_000})
	one := swapAsync(s, "1", 0, make([]byte, 6000))
	s.waitFor(t, 1)
	if err := <-swapAsync(s, "2", 0, make([]byte, 6000)); !errors.Is(err, store.ErrOverloaded) {
		t.Errorf("got %v, want ErrOverloaded", err)
	}
	free()
	wantNoErrors(t, []<-chan error{one})
	if err := <-swapAsync(s, "3", 0, make([]byte, 20_000)); err != nil {
		t.Errorf("one alone may be larger than the queue: %v", err)
	}
}

func TestCallerWhoLeavesTheQueueWritesNothing(t *testing.T) {
	s, free := blocked(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := s.Swap(ctx, store.Write{Key: hexKey("left"), Data: []byte("x")})
		left <- err
	}()
	s.waitFor(t, 1)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	free()
	mustSwap(t, s, "left", 0)
}

func TestCloseFinishesWhatWasAccepted(t *testing.T) {
	s, free := blocked(t, Options{})
	accepted := []<-chan error{swapAsync(s, "1", 0, nil), swapAsync(s, "2", 0, nil)}
	s.waitFor(t, 2)
	ended := make(chan error, 1)
	go func() { ended <- s.Close() }()
	for {
		if s.queue.State().Closed {
			break
		}
		runtime.Gosched()
	}
	free()
	wantNoErrors(t, append(accepted, ended))
}

// Two transactions that wait for each other: the server ends ours, nothing of it is there, and it is done again.
func TestDeadlockWithAnotherClientIsTriedAgain(t *testing.T) {
	s, free := blocked(t, Options{})
	server := pgtest.Shared(t)
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
	swaps := []<-chan error{swapAsync(s, low, vLow, nil), swapAsync(s, high, vHigh, nil)}
	s.waitFor(t, 2)
	free()
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
	wantNoErrors(t, swaps)
	if st := s.Stats(); st.Retries != 1 {
		t.Errorf("got %+v, want one retry", st)
	}
}
