package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"idem/ledgerd/store"
)

// blocked opens a store whose writer already waits in a transaction that cannot begin: another connection has the
// database's write lock, and one write waits for it in vain. free ends that.
func blocked(t *testing.T, o Options) (s *Store, free func()) {
	t.Helper()
	dir := t.TempDir()
	s = mustOpen(t, dir, o)
	other, err := connect(t.Context(), filepath.Join(dir, databaseFile))
	if err == nil {
		err = other.exec("BEGIN IMMEDIATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	first := swapAsync(s, "first", nil)
	s.waitFor(t, 0)
	return s, func() {
		t.Helper()
		if err := errors.Join(other.exec("COMMIT"), other.close(), <-first); err != nil {
			t.Errorf("the write that waited for the lock: %v", err)
		}
	}
}

// waitFor returns when n requests wait in the queue and the writer has taken the first.
func (s *Store) waitFor(t *testing.T, n int) {
	t.Helper()
	for {
		if now := s.queue.State(); now.Waiting == n && now.Groups > 0 {
			return
		}
		runtime.Gosched()
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func swapAsync(s *Store, name string, data []byte) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := s.Swap(context.Background(), store.Write{Key: hexKey(name), Data: append([]byte("x"), data...)})
		done <- err
	}()
	return done
}

func TestWritesThatWaitShareOneCommit(t *testing.T) {
	s, free := blocked(t, Options{})
	var all []<-chan error
	for i := range 100 {
		all = append(all, swapAsync(s, fmt.Sprint(i), nil))
	}
	s.waitFor(t, 100)
	free()
	for _, done := range all {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if st := s.Stats(); st.Commits != 2 || st.Writes != 101 {
		t.Errorf("got %+v, want 101 writes in 2 commits: the first alone, then all that waited", st)
	}
}

func TestGroupIsBoundedInWritesAndBytes(t *testing.T) {
	for _, c := range []struct {
		o       Options
		commits uint64
	}{{Options{GroupWrites: 5}, 1 + 4}, {Options{GroupBytes: 10_000}, 1 + 2}} {
		s, free := blocked(t, c.o)
		var all []<-chan error
		for i := range 20 {
			all = append(all, swapAsync(s, fmt.Sprint(i), make([]byte, 1000)))
		}
		s.waitFor(t, 20)
		free()
		for _, done := range all {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if st := s.Stats(); st.Commits != c.commits {
			t.Errorf("%+v: 20 writes of 1 kB that waited took %d commits, want %d", c.o, st.Commits-1, c.commits-1)
		}
	}
}

func TestWritesOfOneRecordInOneGroupAreCheckedOneByOne(t *testing.T) {
	s, free := blocked(t, Options{})
	var all []<-chan error
	for range 10 {
		all = append(all, swapAsync(s, "same", nil))
	}
	all = append(all, swapAsync(s, "another", nil))
	s.waitFor(t, 11)
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
	if won != 2 || lost != 9 {
		t.Errorf("%d won and %d had a conflict, want 2 and 9", won, lost)
	}
}

func TestFullQueueRefusesAtOnceAndWritesTheRest(t *testing.T) {
	s, free := blocked(t, Options{QueueWrites: 3})
	waiting := []<-chan error{swapAsync(s, "1", nil), swapAsync(s, "2", nil), swapAsync(s, "3", nil)}
	s.waitFor(t, 3)
	if err := <-swapAsync(s, "4", nil); !errors.Is(err, store.ErrOverloaded) {
		t.Errorf("the fourth: got %v, want ErrOverloaded", err)
	}
	if err := s.SetSetting(t.Context(), "grace", "x"); !errors.Is(err, store.ErrOverloaded) {
		t.Errorf("a setting: got %v, want ErrOverloaded", err)
	}
	if _, err := s.Load(t.Context(), hexKey("1")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("readers do not wait for the writer: got %v, want ErrNotFound", err)
	}
	free()
	for _, done := range waiting {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Load(t.Context(), hexKey("4")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the refused one: got %v, want ErrNotFound", err)
	}
}

func TestQueueIsBoundedInBytes(t *testing.T) {
	s, free := blocked(t, Options{QueueBytes: 10_000})
	one := swapAsync(s, "1", make([]byte, 6000))
	s.waitFor(t, 1)
	if err := <-swapAsync(s, "2", make([]byte, 6000)); !errors.Is(err, store.ErrOverloaded) {
		t.Errorf("got %v, want ErrOverloaded", err)
	}
	free()
	if err := <-one; err != nil {
		t.Error(err)
	}
	if err := <-swapAsync(s, "3", make([]byte, 20_000)); err != nil {
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
	if err := <-swapAsync(s, "left", nil); err != nil {
		t.Errorf("creating that record afterwards: %v", err)
	}
}

func TestCallerWhoLeavesTheWriterMayHaveWritten(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	other, err := connect(t.Context(), filepath.Join(dir, databaseFile))
	if err == nil {
		err = other.exec("BEGIN IMMEDIATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := s.Swap(ctx, store.Write{Key: hexKey("a"), Data: []byte("x")})
		left <- err
	}()
	s.waitFor(t, 0)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if err := errors.Join(other.exec("COMMIT"), other.close()); err != nil {
		t.Fatal(err)
	}
	if err := <-swapAsync(s, "a", nil); !errors.Is(err, store.ErrConflict) { // it stood before this one in the queue
		t.Errorf("got %v, want ErrConflict: the write that was left has happened", err)
	}
}
