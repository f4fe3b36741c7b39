package redis

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"idem/ledgerd/store"
)

// request is one thing that a lane is asked to do.
type request struct {
	kind    kind
	swap    store.Write
	key     packed
	shard   int
	version uint64    // of kind confirm: what was seen
	setting [2]string // name, value
	reads   []call    // of kind read

	size int64        // bytes that it carries
	fate atomic.Int32 // waiting, taken, abandoned
	left atomic.Int32 // answers that it still waits for

	mu    sync.Mutex
	reply outcome // what it will be told; the first error stays

	done chan outcome // has room for one
}

type outcome struct {
	version uint64
	fresh   bool // the write brought an id that was not the record's own before
	err     error
}

// kind is what a request asks for.
type kind int8

const (
	swap kind = iota
	confirm
	setSetting
	reset
	read
)

// The fates of a request: a lane takes it, or its caller goes away before that.
const (
	waiting int32 = iota
	taken
	abandoned
)

// answer counts one answer in; the last one is told to whoever waits.
func (r *request) answer(o outcome) {
	r.mu.Lock()
	if r.reply.err == nil {
		r.reply = o
	}
	o = r.reply
	r.mu.Unlock()
	if r.left.Add(-1) == 0 {
		r.done <- o
	}
}

// queue is what stands before the workers of a lane: bounded, in order.
type queue struct {
	maxRequests int
	maxBytes    int64

	mu     sync.Mutex
	filled sync.Cond
	list   []*request
	bytes  int64
	groups int // how many were taken
	closed bool
}

func newQueue(requests int, bytes int64) *queue {
	q := &queue{maxRequests: requests, maxBytes: bytes}
	q.filled.L = &q.mu
	return q
}

// add puts a request at the end, or says why not.
func (q *queue) add(r *request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return closed()
	case len(q.list) >= q.maxRequests:
		return fmt.Errorf("%w: %d, the limit", store.ErrOverloaded, len(q.list))
	case len(q.list) > 0 && q.bytes+r.size > q.maxBytes:
		return fmt.Errorf("%w: %d bytes, the limit is %d", store.ErrOverloaded, q.bytes, q.maxBytes)
	}
	q.list = append(q.list, r)
	q.bytes += r.size
	q.filled.Signal()
	return nil
}

// take waits until something is there, and moves from the front to group what one round trip may carry. It gives an
// empty group only once the queue is closed and empty.
func (q *queue) take(group []*request, maxRequests int, maxBytes int64) []*request {
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
		for n < len(q.list) && n < maxRequests && bytes < maxBytes {
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
		if rest > 0 {
			q.filled.Signal()
		}
	}
	return group
}

// close lets no further request in.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Broadcast()
}

// length is how many requests wait.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list)
}

// do queues a request and waits for its outcome.
func (q *queue) do(ctx context.Context, r *request) (outcome, error) {
	if err := ctx.Err(); err != nil {
		return outcome{}, fmt.Errorf("store/redis: %w", err)
	}
	r.done = make(chan outcome, 1)
	if err := q.add(r); err != nil {
		return outcome{}, err
	}
	select {
	case o := <-r.done:
		return o, o.err
	case <-ctx.Done():
		if r.fate.CompareAndSwap(waiting, abandoned) || r.kind == read {
			return outcome{}, fmt.Errorf("store/redis: nothing was written: %w", ctx.Err())
		}
		return outcome{}, fmt.Errorf("store/redis: the write may still happen: %w", ctx.Err())
	}
}
