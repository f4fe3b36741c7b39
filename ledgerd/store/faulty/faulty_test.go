package faulty_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/faulty"
	"idem/ledgerd/store/memory"
	"idem/ledgerd/store/storetest"
)

const key = "0f115db062b7c0dd030b16878c99dea5c354b49dc37b38eb8846179c7783e9d7"

func TestContractWithoutFaults(t *testing.T) {
	storetest.Run(t, storetest.Driver{
		New: func(*testing.T) func(func() time.Time) store.Store {
			return func(clock func() time.Time) store.Store {
				return faulty.New(memory.New(memory.Options{Clock: clock}))
			}
		},
	})
}

func newStore(t *testing.T) (*faulty.Store, *memory.Store) {
	inner := memory.New(memory.Options{})
	s := faulty.New(inner)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s, inner
}

// create makes the record at version 0 with that content.
func create(s store.Store, content string) error {
	_, err := s.Swap(context.Background(), store.Write{Key: key, Data: []byte(content)})
	return err
}

// wantContent looks into the store itself, past the faults. Empty: there is no record.
func wantContent(t *testing.T, s store.Store, want string) {
	t.Helper()
	r, err := s.Load(context.Background(), key)
	if string(r.Data) != want || (want == "") != errors.Is(err, store.ErrNotFound) {
		t.Errorf("the store has %q, %v, want %q", r.Data, err, want)
	}
}

func wantUnavailable(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

func TestLostWriteIsNotDone(t *testing.T) {
	s, inner := newStore(t)
	s.Follow(faulty.Script(faulty.Lost))
	wantUnavailable(t, create(s, "one"))
	wantContent(t, inner, "")
	if err := create(s, "two"); err != nil {
		t.Errorf("the write after it: %v", err)
	}
}

func TestUnheardWriteIsDone(t *testing.T) {
	s, inner := newStore(t)
	s.Follow(faulty.Script(faulty.Unheard))
	wantUnavailable(t, create(s, "one"))
	wantContent(t, inner, "one")
	if err := create(s, "two"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("trying again: got %v, want ErrConflict", err)
	}
}

func TestUnheardConflictIsTold(t *testing.T) {
	s, inner := newStore(t)
	if err := create(inner, "before"); err != nil {
		t.Fatal(err)
	}
	s.Follow(faulty.Script(faulty.Unheard))
	if err := create(s, "one"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
}

func TestLateWriteLandsBeforeTheNext(t *testing.T) {
	s, inner := newStore(t)
	s.Follow(faulty.Script(faulty.Late))
	wantUnavailable(t, create(s, "late"))
	wantContent(t, inner, "")
	if err := create(s, "again"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("trying again: got %v, want ErrConflict", err)
	}
	wantContent(t, inner, "late")
}

// It is the race detector that sees a late write reach into a call that is returning.
func TestLateWriteGivesItsVersionToNobody(t *testing.T) {
	s, inner := newStore(t)
	s.Follow(faulty.Script(faulty.Late))
	landed := make(chan error, 1)
	go func() {
		for s.Writes() == 0 {
			runtime.Gosched()
		}
		landed <- s.SetSetting(context.Background(), "grace", "x")
	}()
	version, err := s.Swap(context.Background(), store.Write{Key: key, Data: []byte("late")})
	wantUnavailable(t, err)
	if version != 0 {
		t.Errorf("the caller of a write that is late got version %d", version)
	}
	if err := <-landed; err != nil {
		t.Error(err)
	}
	wantContent(t, inner, "late")
}

func TestEachWriteFailsTwiceThenSucceeds(t *testing.T) {
	s, inner := newStore(t)
	s.Follow(faulty.EachTwice())
	wantUnavailable(t, create(s, "first"))
	wantContent(t, inner, "")
	wantUnavailable(t, create(s, "second"))
	wantContent(t, inner, "second")
	if err := create(s, "third"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("third try: got %v, want ErrConflict, which is the truth", err)
	}
	wantUnavailable(t, s.SetSetting(context.Background(), "grace", "x")) // counted by itself
}

func TestPlanMeetsTheWriteItNames(t *testing.T) {
	s, _ := newStore(t)
	for n := range 3 {
		s.Follow(faulty.At(n, faulty.Lost))
		for i := range 3 {
			err := s.SetSetting(context.Background(), "grace", "x")
			if errors.Is(err, store.ErrUnavailable) != (i == n) {
				t.Errorf("write %d of a plan for write %d: got %v", i, n, err)
			}
		}
		if s.Writes() != 3 {
			t.Errorf("counted %d writes, want 3", s.Writes())
		}
	}
}

func TestCutStoreDoesAndTellsNothingUntilItIsMended(t *testing.T) {
	s, inner := newStore(t)
	told := 0
	if err := s.Watch(t.Context(), func(string) { told++ }); err != nil {
		t.Fatal(err)
	}
	s.Cut()
	wantUnavailable(t, create(s, "one"))
	_, err := s.Load(context.Background(), key)
	wantUnavailable(t, err)
	_, err = s.Now(context.Background())
	wantUnavailable(t, err)
	if err := create(inner, "by another node"); err != nil || told != 0 {
		t.Errorf("got %v, and was told %d times, want 0", err, told)
	}
	s.Mend()
	wantContent(t, s, "by another node")
}

func TestStandingStoreGoesOnOrTheCallerLeaves(t *testing.T) {
	s, inner := newStore(t)
	s.Stand()
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() {
		_, err := s.Load(ctx, key)
		left <- err
	}()
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller who left: got %v, want context.Canceled", err)
	}
	done := make(chan error, 1)
	go func() { done <- create(s, "one") }()
	select {
	case err := <-done:
		t.Errorf("a write while the store stood still: %v", err)
	default:
	}
	wantContent(t, inner, "")
	s.GoOn()
	if err := <-done; err != nil {
		t.Errorf("the caller who waited: %v", err)
	}
	wantContent(t, inner, "one")
}

func TestSlowStoreTakesLongerThanAnImpatientCaller(t *testing.T) {
	s, inner := newStore(t)
	s.Slow(time.Hour)
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := s.Swap(ctx, store.Write{Key: key, Data: []byte("one")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want context.DeadlineExceeded", err)
	}
	wantContent(t, inner, "")
}
