package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"idem/ledgerd/store"
)

// request is a Swap that a writer is asked to do.
type request struct {
	write store.Write
	size  int64        // bytes that it carries
	fate  atomic.Int32 // waiting, taken, abandoned
	reply outcome      // what it will be told; the writer's until done
	done  chan outcome // has room for one
}

type outcome struct {
	version uint64
	err     error
}

// The fates of a request: a writer takes it, or its caller goes away before that.
const (
	waiting int32 = iota
	taken
	abandoned
)

// queue is what stands before the writers: bounded, in order.
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
	q.filled.Signal()
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
	if len(q.list) > 0 {
		q.filled.Signal() // for another writer
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

// Swap implements store.Store.
func (s *Store) Swap(ctx context.Context, w store.Write) (uint64, error) {
	if err := w.Check(); err != nil {
		return 0, err
	}
	size := int64(len(w.Key) + len(w.Data))
	for i := range w.Put {
		size += int64(len(w.Put[i].Data))
	}
	if size > maxWrite {
		return 0, fmt.Errorf("%w: the record of %s and its results are %d bytes, want at most %d", store.ErrInvalid, w.Key, size, maxWrite)
	}
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("store/postgres: nothing was written: %w", err)
	}
	r := requests.Get().(*request)
	r.write, r.size = w, size
	if err := s.queue.add(r); err != nil {
		*r = request{done: r.done}
		requests.Put(r)
		return 0, err
	}
	select {
	case o := <-r.done:
		*r = request{done: r.done}
		requests.Put(r)
		return o.version, o.err
	case <-ctx.Done():
		if r.fate.CompareAndSwap(waiting, abandoned) {
			return 0, fmt.Errorf("store/postgres: nothing was written: %w", ctx.Err())
		}
		return 0, fmt.Errorf("store/postgres: the write may still happen: %w", ctx.Err())
	}
}
