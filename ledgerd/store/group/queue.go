package group

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"idem/ledgerd/store"
)

// Config says how a queue is bounded and how it speaks.
type Config struct {
	Requests   int   // that may wait; at least 1
	Bytes      int64 // that they may carry; 0: they carry none
	Group      int   // requests in one group at most; at least 1
	GroupBytes int64 // bytes from which on a group takes in no further request; 0: they carry none

	Name   string // the driver's, which begins its errors: "store/sqlite"
	Asked  string // what waits, as an error counts it: "writes"
	Reads  bool   // nothing is written by what is asked
	Closed error  // what is told after Close
}

// Queue holds requests of type Q, each of which gets an answer of type A.
type Queue[Q, A any] struct {
	config Config

	mu     sync.Mutex
	filled sync.Cond
	list   []*Request[Q, A]
	bytes  int64
	groups int // how many were taken
	closed bool

	used sync.Pool // requests are used again; one that its caller abandoned is left to the collector
}

// Request is something that was asked for, in the hands of a worker.
type Request[Q, A any] struct {
	Ask    Q
	Answer A // what the caller will be told; the worker's until Done

	size int64
	fate atomic.Int32 // waiting, taken, abandoned
	left *atomic.Bool // the worker's note that it has not told this one yet
	done chan told[A] // has room for one
}

// told is what a caller hears: an answer, or the queue's own error.
type told[A any] struct {
	answer A
	err    error
}

// The fates of a request: a worker takes it, or its caller goes away before that.
const (
	waiting int32 = iota
	taken
	abandoned
)

// Done tells the caller its Answer. It is called once; from then on the request is somebody else's.
func (r *Request[Q, A]) Done() {
	r.left.Store(false)
	r.done <- told[A]{answer: r.Answer}
}

// New gives an empty queue.
func New[Q, A any](c Config) *Queue[Q, A] {
	q := &Queue[Q, A]{config: c}
	q.filled.L = &q.mu
	q.used.New = func() any { return &Request[Q, A]{done: make(chan told[A], 1)} }
	return q
}

// Do asks for something that carries so many bytes, and waits for the answer. An error is the queue's own: it was full
// or closed, or the context ended.
func (q *Queue[Q, A]) Do(ctx context.Context, ask Q, size int64) (answer A, err error) {
	if err := ctx.Err(); err != nil {
		return answer, q.left(waiting, err)
	}
	r := q.used.Get().(*Request[Q, A])
	r.Ask, r.size = ask, size
	if err = q.add(r); err == nil {
		select {
		case heard := <-r.done:
			answer, err = heard.answer, heard.err
		case <-ctx.Done():
			if r.fate.CompareAndSwap(waiting, abandoned) {
				return answer, q.left(waiting, ctx.Err())
			}
			return answer, q.left(taken, ctx.Err())
		}
	}
	*r = Request[Q, A]{done: r.done}
	q.used.Put(r)
	return answer, err
}

// left is what a caller is told whose context has ended.
func (q *Queue[Q, A]) left(fate int32, err error) error {
	switch {
	case q.config.Reads:
		return fmt.Errorf("%s: %w", q.config.Name, err)
	case fate == taken:
		return fmt.Errorf("%s: the write may still happen: %w", q.config.Name, err)
	}
	return fmt.Errorf("%s: nothing was written: %w", q.config.Name, err)
}

// add puts a request at the end, or says why not.
func (q *Queue[Q, A]) add(r *Request[Q, A]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return q.config.Closed
	case len(q.list) >= q.config.Requests:
		return fmt.Errorf("%w: %d %s, the limit", store.ErrOverloaded, len(q.list), q.config.Asked)
	case len(q.list) > 0 && q.bytes+r.size > q.config.Bytes:
		return fmt.Errorf("%w: %d bytes, the limit is %d", store.ErrOverloaded, q.bytes, q.config.Bytes)
	}
	q.list = append(q.list, r)
	q.bytes += r.size
	q.filled.Signal()
	return nil
}

// Serve is a worker: it gives work one group after the other, and returns once the queue is closed and empty. Work
// answers every request of its group ([Request.Done]) and keeps neither them nor the slice. Should it panic, those that
// it has not answered are told that nothing is known of their effect, and the worker goes on: one group that a driver
// stumbles over does not end all that the process is doing for others.
func (q *Queue[Q, A]) Serve(work func(group []*Request[Q, A])) {
	var group []*Request[Q, A]
	var left []atomic.Bool
	for {
		group = q.take(group[:0])
		if len(group) == 0 {
			return
		}
		if len(left) < len(group) {
			left = make([]atomic.Bool, max(len(group), 2*len(left)))
		}
		for i, r := range group {
			left[i].Store(true)
			r.left = &left[i]
		}
		q.do(work, group, left)
		clear(group)
		// Those who were just answered go first: what they ask next then shares the next group. This waits for nobody.
		runtime.Gosched()
	}
}

// do does one group.
func (q *Queue[Q, A]) do(work func(group []*Request[Q, A]), group []*Request[Q, A], left []atomic.Bool) {
	defer func() {
		what := recover()
		if what == nil {
			return
		}
		err := store.Panicked(q.config.Name+": a group of "+q.config.Asked, what)
		for i, r := range group {
			if left[i].Swap(false) { // whoever was answered may use the request for something else by now
				r.done <- told[A]{err: err}
			}
		}
	}()
	work(group)
}

// take waits until something is there, and moves from the front to group what one group may carry. It gives an empty
// group only once the queue is closed and empty.
func (q *Queue[Q, A]) take(group []*Request[Q, A]) []*Request[Q, A] {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(group) == 0 {
		for len(q.list) == 0 && !q.closed {
			q.filled.Wait()
		}
		if len(q.list) == 0 {
			return group
		}
		n, bytes := 0, int64(0)
		for n < len(q.list) && n < q.config.Group && (q.config.GroupBytes == 0 || bytes < q.config.GroupBytes) {
			r := q.list[n]
			n++
			q.bytes -= r.size
			if r.fate.CompareAndSwap(waiting, taken) {
				group = append(group, r)
				bytes += r.size
			}
		}
		q.groups++
		rest := copy(q.list, q.list[n:])
		clear(q.list[rest:])
		q.list = q.list[:rest]
	}
	if len(q.list) > 0 {
		q.filled.Signal() // for another worker
	}
	return group
}

// Close lets nothing further in. A second Close does nothing.
func (q *Queue[Q, A]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Broadcast()
}

// State is where a queue stands.
type State struct {
	Waiting int  // requests that no worker has taken yet
	Groups  int  // groups that were taken
	Closed  bool // nothing further is let in
}

// State gives where the queue stands now.
func (q *Queue[Q, A]) State() State {
	q.mu.Lock()
	defer q.mu.Unlock()
	return State{Waiting: len(q.list), Groups: q.groups, Closed: q.closed}
}
