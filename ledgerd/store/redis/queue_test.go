package redis

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
)

// paused opens a store whose one writer is under way with a write that the server does not take yet: it is paused. free
// ends that.
func paused(t *testing.T, o Options) (s *Store, free func()) {
	t.Helper()
	server := redistest.Start(t)
	o.Writers = 1
	s = mustOpen(t, server.URL(), o)
	t.Cleanup(func() { s.Close() })
	server.Do(t, "CLIENT", "PAUSE", "60000", "WRITE")
	first := swapAsync(s, "first", nil)
	s.waitFor(t, 0)
	return s, func() {
		t.Helper()
		server.Do(t, "CLIENT", "UNPAUSE")
		must(t, <-first)
	}
}

// waitFor returns when n writes wait in the queue and the writer is under way with others.
func (s *Store) waitFor(t *testing.T, n int) {
	t.Helper()
	for {
		l, err := s.lane(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if now := l.writes.State(); now.Waiting == n && now.Groups > 0 {
			return
		}
		runtime.Gosched()
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

func TestWritesThatWaitShareCalls(t *testing.T) {
	s, free := paused(t, Options{})
	var all []<-chan error
	for i := range 200 {
		all = append(all, swapAsync(s, fmt.Sprint(i), nil))
	}
	s.waitFor(t, 200)
	free()
	for _, done := range all {
		must(t, <-done)
	}
	if st := s.Stats(); st.Writes != 201 || st.Groups != 1+shards {
		t.Errorf("got %+v, want 201 writes in %d calls: the first alone, then one for each shard", st, 1+shards)
	}
}

func TestWritesOfOneRecordInOneGroupAreCheckedOneByOne(t *testing.T) {
	s, free := paused(t, Options{})
	var all []<-chan error
	for range 10 {
		all = append(all, swapAsync(s, "same", nil))
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

func TestFullQueueRefusesAtOnceAndWritesTheRest(t *testing.T) {
	s, free := paused(t, Options{QueueWrites: 3})
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
		must(t, <-done)
	}
	if _, err := s.Load(t.Context(), hexKey("4")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the refused one: got %v, want ErrNotFound", err)
	}
}

func TestQueueIsBoundedInBytes(t *testing.T) {
	s, free := paused(t, Options{QueueBytes: 10_000})
	one := swapAsync(s, "1", make([]byte, 6000))
	s.waitFor(t, 1)
	if err := <-swapAsync(s, "2", make([]byte, 6000)); !errors.Is(err, store.ErrOverloaded) {
		t.Errorf("got %v, want ErrOverloaded", err)
	}
	free()
	must(t, <-one, <-swapAsync(s, "3", make([]byte, 20_000))) // one alone may be larger than the queue
}

func TestCallerWhoLeavesTheQueueWritesNothing(t *testing.T) {
	s, free := paused(t, Options{})
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

func TestCloseFinishesWhatWasAccepted(t *testing.T) {
	s, free := paused(t, Options{})
	var all []<-chan error
	for i := range 20 {
		all = append(all, swapAsync(s, fmt.Sprint(i), nil))
	}
	s.waitFor(t, 20)
	ended := make(chan error, 1)
	go func() { ended <- s.Close() }()
	free()
	for _, done := range all {
		must(t, <-done)
	}
	must(t, <-ended)
}
