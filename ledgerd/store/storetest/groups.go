package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/group"
)

// Groups is a driver whose writers take whatever waits in a queue (package group), and what it takes to watch them.
type Groups struct {
	// Hold opens a store with one writer, within bounds, and makes sure that the next write, First, is held up half-way.
	Hold func(t *testing.T, b Bounds) Held
	// Shares is how many transactions or calls a large group makes: 1, or one for each shard.
	Shares int
	// Settings says that a setting waits in the queue of the writes.
	Settings bool
}

// Bounds are the driver's options of these names. A zero member means the driver's default.
type Bounds struct {
	QueueWrites int
	QueueBytes  int64
	GroupWrites int
	GroupBytes  int64
}

// Held is a store whose writer is about to be held up.
type Held struct {
	store.Store
	First store.Write
	Free  func()                         // lets the first write go on
	Queue func() group.State             // of the writers' queue
	Stats func() (groups, writes uint64) // transactions or calls that the store made, and the writes in them
}

// RunGroups runs the suite of what drivers promise that group writes.
func RunGroups(t *testing.T, g Groups) {
	for name, test := range groups {
		t.Run(name, func(t *testing.T) { test(t, g) })
	}
}

// SwapAsync begins a write, and gives where its error will come.
func SwapAsync(ctx context.Context, s store.Store, w store.Write) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := s.Swap(ctx, w)
		done <- err
	}()
	return done
}

// WantNoErrors waits for the ends of writes.
func WantNoErrors(t *testing.T, all ...<-chan error) {
	t.Helper()
	for _, done := range all {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Busy is a store whose writer is held up by a first write, so that further ones wait.
type Busy struct {
	Held
	t                     *testing.T
	first                 <-chan error
	groups, writes, taken uint64 // before the first write
}

// Begin begins the first write, and returns once the writer has it.
func (h Held) Begin(ctx context.Context, t *testing.T) *Busy {
	t.Helper()
	b := &Busy{Held: h, t: t, taken: uint64(h.Queue().Groups)}
	b.groups, b.writes = h.Stats()
	b.first = SwapAsync(ctx, h, h.First)
	b.WaitFor(0)
	return b
}

// WaitFor returns when n writes wait in the queue and the writer has taken the first.
func (b *Busy) WaitFor(n int) {
	b.t.Helper()
	for {
		if now := b.Queue(); now.Waiting == n && uint64(now.Groups) > b.taken {
			return
		}
		if err := b.t.Context().Err(); err != nil {
			b.t.Fatal(err)
		}
		runtime.Gosched()
	}
}

// Create begins to create a record of so many bytes, and one.
func (b *Busy) Create(name string, bytes int) <-chan error {
	return SwapAsync(context.Background(), b, store.Write{Key: Key(name), Data: append([]byte("x"), make([]byte, bytes)...)})
}

// End lets the first write end, and waits for it.
func (b *Busy) End() {
	b.t.Helper()
	b.Free()
	if err := <-b.first; err != nil {
		b.t.Errorf("the write that was held up: %v", err)
	}
}

func (g Groups) busy(t *testing.T, b Bounds) *Busy {
	t.Helper()
	return g.Hold(t, b).Begin(context.Background(), t)
}

var groups = map[string]func(*testing.T, Groups){
	"WritesThatWaitShareOneCommit": func(t *testing.T, g Groups) {
		const n = 200
		b := g.busy(t, Bounds{})
		var all []<-chan error
		for i := range n {
			all = append(all, b.Create(fmt.Sprint(i), 0))
		}
		b.WaitFor(n)
		b.End()
		WantNoErrors(t, all...)
		groups, writes := b.Stats()
		if groups, writes = groups-b.groups, writes-b.writes; groups != uint64(1+g.Shares) || writes != n+1 {
			t.Errorf("got %d writes in %d groups, want %d in %d: the first alone, then all that waited", writes, groups, n+1, 1+g.Shares)
		}
	},
	"GroupIsBoundedInWritesAndBytes": func(t *testing.T, g Groups) {
		for _, c := range []struct {
			Bounds
			groups int
		}{{Bounds{GroupWrites: 5}, 4}, {Bounds{GroupBytes: 10_000}, 2}} {
			b := g.busy(t, c.Bounds)
			var all []<-chan error
			for i := range 20 {
				all = append(all, b.Create(fmt.Sprint(i), 1000))
			}
			b.WaitFor(20)
			b.End()
			WantNoErrors(t, all...)
			if got := b.Queue().Groups - int(b.taken) - 1; got != c.groups {
				t.Errorf("%+v: 20 writes of 1 kB that waited were taken in %d groups, want %d", c.Bounds, got, c.groups)
			}
			if groups, _ := b.Stats(); g.Shares == 1 && groups-b.groups-1 != uint64(c.groups) {
				t.Errorf("%+v: 20 writes of 1 kB that waited took %d commits, want %d", c.Bounds, groups-b.groups-1, c.groups)
			}
		}
	},
	"WritesOfOneRecordInOneGroupAreCheckedOneByOne": func(t *testing.T, g Groups) {
		b := g.busy(t, Bounds{})
		var all []<-chan error
		for range 10 {
			all = append(all, b.Create("same", 0))
		}
		all = append(all, b.Create("another", 0))
		b.WaitFor(11)
		b.End()
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
	},
	"FullQueueRefusesAtOnceAndWritesTheRest": func(t *testing.T, g Groups) {
		b := g.busy(t, Bounds{QueueWrites: 3})
		waiting := []<-chan error{b.Create("1", 0), b.Create("2", 0), b.Create("3", 0)}
		b.WaitFor(3)
		if err := <-b.Create("4", 0); !errors.Is(err, store.ErrOverloaded) {
			t.Errorf("the fourth: got %v, want ErrOverloaded", err)
		}
		if g.Settings {
			if err := b.SetSetting(t.Context(), "grace", "x"); !errors.Is(err, store.ErrOverloaded) {
				t.Errorf("a setting: got %v, want ErrOverloaded", err)
			}
		}
		if _, err := b.Load(t.Context(), Key("1")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("readers do not wait for the writer: got %v, want ErrNotFound", err)
		}
		b.End()
		WantNoErrors(t, waiting...)
		if _, err := b.Load(t.Context(), Key("4")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the refused one: got %v, want ErrNotFound", err)
		}
	},
	"QueueIsBoundedInBytes": func(t *testing.T, g Groups) {
		b := g.busy(t, Bounds{QueueBytes: 10_000})
		one := b.Create("1", 6000)
		b.WaitFor(1)
		if err := <-b.Create("2", 6000); !errors.Is(err, store.ErrOverloaded) {
			t.Errorf("got %v, want ErrOverloaded", err)
		}
		b.End()
		WantNoErrors(t, one)
		if err := <-b.Create("3", 20_000); err != nil {
			t.Errorf("one alone may be larger than the queue: %v", err)
		}
	},
	"CallerWhoLeavesTheQueueWritesNothing": func(t *testing.T, g Groups) {
		b := g.busy(t, Bounds{})
		ctx, cancel := context.WithCancel(t.Context())
		left := SwapAsync(ctx, b, store.Write{Key: Key("left"), Data: []byte("x")})
		b.WaitFor(1)
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		b.End()
		if err := <-b.Create("left", 0); err != nil {
			t.Errorf("creating that record afterwards: %v", err)
		}
	},
	"CallerWhoLeavesTheWriterMayHaveWritten": func(t *testing.T, g Groups) {
		ctx, cancel := context.WithCancel(t.Context())
		b := g.Hold(t, Bounds{}).Begin(ctx, t)
		cancel()
		if err := <-b.first; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		b.Free()
		// It stood before this one in the queue.
		if err := <-SwapAsync(t.Context(), b, b.First); !errors.Is(err, store.ErrConflict) {
			t.Errorf("got %v, want ErrConflict: the write that was left has happened", err)
		}
	},
	"CloseFinishesWhatWasAccepted": func(t *testing.T, g Groups) {
		b := g.busy(t, Bounds{})
		var all []<-chan error
		for i := range 20 {
			all = append(all, b.Create(fmt.Sprint(i), 0))
		}
		b.WaitFor(20)
		ended := make(chan error, 1)
		go func() { ended <- b.Close() }()
		for !b.Queue().Closed {
			runtime.Gosched()
		}
		b.End()
		WantNoErrors(t, append(all, ended)...)
	},
}
