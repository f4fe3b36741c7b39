package redis

import (
	"context"
	"sync"
	"sync/atomic"

	"idem/ledgerd/store"
	"idem/ledgerd/store/group"
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
	size    int64     // bytes that it carries

	asked *asked       // a worker has it
	left  atomic.Int32 // answers that it still waits for
	mu    sync.Mutex
	reply outcome // what it will be told; the first error stays
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

// asked is a request in the hands of a worker.
type asked = group.Request[*request, outcome]

// answer counts one answer in; the last one is told to whoever waits.
func (r *request) answer(o outcome) {
	r.mu.Lock()
	if r.reply.err == nil {
		r.reply = o
	}
	o = r.reply
	r.mu.Unlock()
	if r.left.Add(-1) == 0 {
		r.asked.Answer = o
		r.asked.Done()
	}
}

// queue is what stands before the workers of a lane.
type queue = group.Queue[*request, outcome]

// do asks a lane for something and waits for the outcome.
func do(ctx context.Context, q *queue, r *request) (outcome, error) {
	o, err := q.Do(ctx, r, r.size)
	if err != nil {
		return outcome{}, err
	}
	return o, o.err
}

func newQueue(o *Options, reads bool) *queue {
	c := group.Config{
		Requests: o.QueueWrites, Bytes: o.QueueBytes, Group: o.GroupWrites, GroupBytes: o.GroupBytes,
		Name: "store/redis", Asked: "writes", Closed: closed(),
	}
	if reads {
		c.Asked, c.Reads = "reads", true
	}
	return group.New[*request, outcome](c)
}
