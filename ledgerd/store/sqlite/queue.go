package sqlite

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"idem/ledgerd/store"
)

// request is one thing that the writer is asked to do.
type request struct {
	kind    kind
	swap    store.Write
	setting [2]string // name, value

	size  int64        // bytes that it carries
	fate  atomic.Int32 // waiting, taken, abandoned
	reply outcome      // what it will be told; the writer's until done
	done  chan outcome // has room for one
}

type outcome struct {
	version uint64
	err     error
}

// kind is what a request asks for.
type kind int8

const (
	swap kind = iota
	setSetting
	reset
)

// The fates of a request: the writer takes it, or its caller goes away before that.
const (
	waiting int32 = iota
	taken
	abandoned
)

// queue is what stands before the writer: bounded, in order.
type queue struct {
	maxWrites int
	maxBytes  int64

	mu     sync.Mutex
	filled sync.Cond
	list   []*request
	bytes  int64
	groups int // how many were taken
	closed bool
}

func newQueue(writes int, bytes int64) *queue {
	q := &queue{maxWrites: writes, maxBytes: bytes}
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
	case len(q.list) >= q.maxWrites:
		return fmt.Errorf("%w: %d writes, the limit", store.ErrOverloaded, len(q.list))
	case len(q.list) > 0 && q.bytes+r.size > q.maxBytes:
		return fmt.Errorf("%w: %d bytes, the limit is %d", store.ErrOverloaded, q.bytes, q.maxBytes)
	}
	q.list = append(q.list, r)
	q.bytes += r.size
	if len(q.list) == 1 {
		q.filled.Signal()
	}
	return nil
}

// take waits until something is there, and moves from the front to group what one transaction may carry. It gives an
// empty group only once the queue is closed and empty.
func (q *queue) take(group []*request, maxWrites int, maxBytes int64) []*request {
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
		for n < len(q.list) && n < maxWrites && bytes < maxBytes {
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

// requests are used again; one that its caller abandoned is left to the collector.
var requests = sync.Pool{New: func() any { return &request{done: make(chan outcome, 1)} }}

// do queues what fill says and waits for its outcome.
func (s *Store) do(ctx context.Context, fill func(*request)) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("store/sqlite: nothing was written: %w", err)
	}
	r := requests.Get().(*request)
	fill(r)
	err := s.queue.add(r)
	var o outcome
	if err == nil {
		select {
		case o = <-r.done:
		case <-ctx.Done():
			if r.fate.CompareAndSwap(waiting, abandoned) {
				return 0, fmt.Errorf("store/sqlite: nothing was written: %w", ctx.Err())
			}
			return 0, fmt.Errorf("store/sqlite: the write may still happen: %w", ctx.Err())
		}
	}
	*r = request{done: r.done}
	requests.Put(r)
	if err != nil {
		return 0, err
	}
	return o.version, o.err
}
