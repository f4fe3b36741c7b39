//go:build unix

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"idem/ledgerd/store"
)

// fill writes records until one fails, and gives how many were acknowledged and the failure.
func fill(s *Store) (acknowledged int, err error) {
	for ; ; acknowledged++ {
		w := store.Write{Key: hexKey(fmt.Sprint("r", acknowledged)), Data: make([]byte, 2000)}
		if _, err := s.Swap(context.Background(), w); err != nil {
			return acknowledged, err
		}
	}
}

// wantAll looks whether exactly the first n records of fill are there; the one after them, whose write failed, may be.
func wantAll(t *testing.T, s *Store, n int) {
	t.Helper()
	for i := range n {
		if _, err := s.Load(t.Context(), hexKey(fmt.Sprint("r", i))); err != nil {
			t.Fatalf("record %d of %d that were acknowledged: %v", i, n, err)
		}
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFullDatabaseRefusesAndGoesOnWhenThereIsRoom(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{RecentBytes: -1})
	limit := func(pages int) {
		t.Helper()
		if _, err := s.writer.conn.number(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(100) // the writer waits for its queue: its connection is free
	n, err := fill(s)
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "the disk is full") {
		t.Fatalf("got %v, want ErrUnavailable that says that the disk is full", err)
	}
	wantAll(t, s, n)
	limit(1 << 30)
	mustCreate(t, s, "there is room again")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantAll(t, mustOpen(t, dir, Options{}), n)
}

func TestFailingDiskRefusesAndGoesOnWhenItWorksAgain(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{RecentBytes: -1})
	// The system refuses to let any file of this process grow past a size: the log's write fails halfway through.
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limited := before
	limited.Cur = 1 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
		t.Fatal(err)
	}
	n, err := fill(s)
	_, second := s.Swap(t.Context(), store.Write{Key: hexKey("second"), Data: make([]byte, 2000)})
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if n == 0 || !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "the disk fails") {
		t.Fatalf("after %d writes: got %v, want ErrUnavailable that says that the disk fails", n, err)
	}
	if !errors.Is(second, store.ErrUnavailable) {
		t.Errorf("while it still fails: got %v, want ErrUnavailable", second)
	}
	if st := s.Stats(); st.Failures != 2 {
		t.Errorf("got %+v, want 2 failures", st)
	}
	wantAll(t, s, n)
	mustCreate(t, s, "it works again")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantAll(t, mustOpen(t, dir, Options{}), n)
}
