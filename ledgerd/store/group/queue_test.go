package group

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"idem/ledgerd/store"
)

var errClosed = errors.New("closed")

// desk is a queue with one worker, which is held up by its first request until free is called. Every request is
// answered with twice its number.
type desk struct {
	*Queue[int, int]
	groups [][]int // that were worked on, the first without company
	first  <-chan error
	free   func()
	ended  chan struct{} // closed when the worker has returned
}

func held(t *testing.T, c Config) *desk {
	t.Helper()
	c.Name, c.Asked, c.Closed = "store/test", "writes", errClosed
	d := &desk{Queue: New[int, int](c), ended: make(chan struct{})}
	gate := make(chan struct{})
	d.free = sync.OnceFunc(func() { close(gate) })
	go func() {
		defer close(d.ended)
		d.Serve(func(group []*Request[int, int]) {
			<-gate
			var asks []int
			for _, r := range group {
				asks = append(asks, r.Ask)
			}
			d.groups = append(d.groups, asks)
			for _, r := range group {
				r.Answer = 2 * r.Ask
				r.Done()
			}
		})
	}()
	d.first = d.ask(context.Background(), 0, 0)
	d.until(func(s State) bool { return s.Groups == 1 })
	t.Cleanup(func() {
		d.Close()
		d.free()
		<-d.ended
	})
	return d
}

// until waits for a state of the queue.
func (d *desk) until(there func(State) bool) {
	for !there(d.State()) {
		runtime.Gosched()
	}
}

// ask asks for something, and returns once it waits or has its answer, which must be the right one.
func (d *desk) ask(ctx context.Context, ask int, size int64) <-chan error {
	done := make(chan error, 1)
	go func() {
		answer, err := d.Do(ctx, ask, size)
		if err == nil && answer != 2*ask {
			err = fmt.Errorf("the answer to %d is %d", ask, answer)
		}
		done <- err
	}()
	return done
}

// line asks for 1 to n, one after the other.
func (d *desk) line(n int, size int64) (all []<-chan error) {
	for i := range n {
		all = append(all, d.ask(context.Background(), i+1, size))
		d.until(func(s State) bool { return s.Waiting == i+1 })
	}
	return all
}

// end lets the worker finish everything.
func (d *desk) end(t *testing.T, all ...<-chan error) {
	t.Helper()
	d.free()
	for _, done := range append(all, d.first) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	d.Close()
	<-d.ended
}

func TestWhatWaitsIsServedInOrderInGroupsOfBoundedNumberAndBytes(t *testing.T) {
	for name, c := range map[string]struct {
		Config
		want string
	}{
		"all at once":      {Config{Requests: 10, Bytes: 1000, Group: 10, GroupBytes: 1000}, "[[0] [1 2 3 4 5]]"},
		"two by two":       {Config{Requests: 10, Bytes: 1000, Group: 2, GroupBytes: 1000}, "[[0] [1 2] [3 4] [5]]"},
		"full at 25 bytes": {Config{Requests: 10, Bytes: 1000, Group: 10, GroupBytes: 25}, "[[0] [1 2 3] [4 5]]"},
		"alone at 1 byte":  {Config{Requests: 10, Bytes: 1000, Group: 10, GroupBytes: 1}, "[[0] [1] [2] [3] [4] [5]]"},
	} {
		t.Run(name, func(t *testing.T) {
			d := held(t, c.Config)
			d.end(t, d.line(5, 10)...)
			if got := fmt.Sprint(d.groups); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestRequestsThatCarryNothingNeedNoBoundInBytes(t *testing.T) {
	d := held(t, Config{Requests: 10, Group: 10})
	d.end(t, d.line(3, 0)...)
	if got := fmt.Sprint(d.groups); got != "[[0] [1 2 3]]" {
		t.Errorf("got %s, want one group of all that waited", got)
	}
}

func TestFullQueueSaysHowFullItIs(t *testing.T) {
	d := held(t, Config{Requests: 2, Bytes: 100, Group: 10, GroupBytes: 100})
	all := d.line(1, 60)
	if err := <-d.ask(context.Background(), 2, 41); !errors.Is(err, store.ErrOverloaded) || !strings.Contains(err.Error(), "60 bytes, the limit is 100") {
		t.Errorf("more bytes than there is room for: got %v", err)
	}
	all = append(all, d.ask(context.Background(), 2, 40))
	d.until(func(s State) bool { return s.Waiting == 2 })
	if err := <-d.ask(context.Background(), 3, 0); !errors.Is(err, store.ErrOverloaded) || !strings.Contains(err.Error(), "2 writes, the limit") {
		t.Errorf("more requests than there is room for: got %v", err)
	}
	d.end(t, all...)
}

func TestOneRequestAloneMayBeLargerThanTheQueueAndTheGroup(t *testing.T) {
	d := held(t, Config{Requests: 2, Bytes: 10, Group: 10, GroupBytes: 10})
	d.end(t, d.line(1, 1000)...)
}

func TestCallerWhoLeavesWhileWaitingIsServedNoMoreAndMakesRoom(t *testing.T) {
	d := held(t, Config{Requests: 10, Bytes: 100, Group: 10, GroupBytes: 100})
	ctx, leave := context.WithCancel(t.Context())
	left := d.ask(ctx, 1, 90)
	d.until(func(s State) bool { return s.Waiting == 1 })
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "store/test: nothing was written") {
		t.Errorf("got %v, want to be told that nothing was written", err)
	}
	d.end(t)
	if got := fmt.Sprint(d.groups); got != "[[0]]" {
		t.Errorf("got %s, want nothing but the first", got)
	}
	if s := d.State(); s.Waiting != 0 {
		t.Errorf("got %+v, want none to wait", s)
	}
}

func TestCallerWhoLeavesTheWorkerIsNotToldThatNothingHappened(t *testing.T) {
	for reads, want := range map[bool]string{false: "store/test: the write may still happen: ", true: "store/test: context"} {
		q := New[int, int](Config{Requests: 1, Group: 1, Name: "store/test", Reads: reads, Closed: errClosed})
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan struct{})
		var worker sync.WaitGroup
		worker.Go(func() {
			q.Serve(func(group []*Request[int, int]) {
				leave()
				<-left
				group[0].Done() // to nobody; it must not wait
			})
		})
		if _, err := q.Do(ctx, 1, 0); !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("reads %t: got %v, want %q", reads, err, want)
		}
		close(left)
		q.Close()
		worker.Wait()
	}
}

func TestContextThatHasEndedAsksForNothing(t *testing.T) {
	d := held(t, Config{Requests: 10, Group: 10})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := d.Do(ctx, 1, 0); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if s := d.State(); s.Waiting != 0 {
		t.Errorf("got %+v, want none to wait", s)
	}
	d.end(t)
}

func TestCloseServesWhatWasAcceptedAndNothingElse(t *testing.T) {
	d := held(t, Config{Requests: 10, Group: 2})
	all := d.line(5, 0)
	d.Close()
	d.Close()
	if !d.State().Closed {
		t.Error("the queue does not say that it is closed")
	}
	if err := <-d.ask(context.Background(), 6, 0); !errors.Is(err, errClosed) {
		t.Errorf("got %v, want the error that is told after Close", err)
	}
	d.end(t, all...)
	if got := slices.Concat(d.groups...); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
		t.Errorf("served were %v, want 0 to 5", got)
	}
}

// Many callers, some of whom leave, and several workers: every caller who stays gets the answer to its own request.
func TestEveryCallerGetsItsOwnAnswer(t *testing.T) {
	q := New[int, int](Config{Requests: 1000, Bytes: 1000, Group: 7, GroupBytes: 20, Closed: errClosed})
	var workers, callers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			q.Serve(func(group []*Request[int, int]) {
				for _, r := range group {
					r.Answer = 2 * r.Ask
					r.Done()
				}
			})
		})
	}
	for c := range 50 {
		callers.Go(func() {
			for n := range 50 {
				ctx, leave := context.WithCancel(context.Background())
				if n%10 == 0 {
					go leave()
				}
				ask := 1000*c + n
				if answer, err := q.Do(ctx, ask, int64(n%5)); err == nil && answer != 2*ask || err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("the answer to %d is %d, %v", ask, answer, err)
				}
				leave()
			}
		})
	}
	callers.Wait()
	q.Close()
	workers.Wait()
	if s := q.State(); s.Waiting != 0 {
		t.Errorf("got %+v, want none to wait", s)
	}
}

// A driver that stumbles over one group answers it by an error, each of its requests once, and goes on with the next.
func TestGroupWhoseWorkPanicsIsUnknownAndTheWorkerGoesOn(t *testing.T) {
	q := New[int, int](Config{Requests: 100, Group: 100, Name: "store/test", Asked: "writes", Closed: errClosed})
	gate, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		q.Serve(func(group []*Request[int, int]) {
			<-gate
			for _, r := range group {
				if r.Ask == 13 {
					panic("stumbled")
				}
				r.Answer = r.Ask
				r.Done()
			}
		})
	}()
	type end struct {
		ask, answer int
		err         error
	}
	ends := make(chan end, 100)
	for ask := range 20 {
		go func() {
			answer, err := q.Do(context.Background(), ask, 0)
			ends <- end{ask, answer, err}
		}()
	}
	close(gate)
	for range 20 {
		switch e := <-ends; {
		case e.err == nil && (e.answer != e.ask || e.ask == 13):
			t.Errorf("%d was answered with %d", e.ask, e.answer)
		case e.err != nil && (!errors.Is(e.err, store.ErrUnavailable) || !strings.Contains(e.err.Error(), "stumbled") || !strings.Contains(e.err.Error(), "queue_test.go")):
			t.Errorf("%d: got %v, want ErrUnavailable that says what happened, and where", e.ask, e.err)
		}
	}
	if answer, err := q.Do(t.Context(), 7, 0); err != nil || answer != 7 {
		t.Errorf("the next one: got %d, %v", answer, err)
	}
	q.Close()
	<-ended
}
