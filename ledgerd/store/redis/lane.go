package redis

import (
	"context"
	"fmt"
	"sync"
)

// lane is what stands before one master: a queue of writes and one of reads, and the workers that take from them. A
// master that does not answer holds up its own lane only.
type lane struct{ writes, reads *queue }

// lanes are made when a master is first met.
type lanes struct {
	mu     sync.Mutex
	all    map[string]*lane // by the master's address
	closed bool
	work   sync.WaitGroup
}

// lane gives the lane of the master that has a shard. Should the shard have moved by the time it is served, whoever
// serves it finds its new master.
func (s *Store) lane(ctx context.Context, shard int) (*lane, error) {
	master, err := s.topology.master(ctx, shard)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("store/redis: nothing was written: %w", ctx.Err())
		}
		return nil, unavailable("finding the master of a slot", err)
	}
	address := master.Options().Addr
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	if s.lanes.closed {
		return nil, closed()
	}
	l := s.lanes.all[address]
	if l == nil {
		l = &lane{
			writes: newQueue(&s.options, false),
			reads:  newQueue(&s.options, true),
		}
		s.lanes.all[address] = l
		for range s.options.Writers {
			s.lanes.work.Go(func() { s.serve(l.writes, true) })
		}
		for range s.options.Readers {
			s.lanes.work.Go(func() { s.serve(l.reads, false) })
		}
	}
	return l, nil
}

// serve takes groups from a queue until it is closed and empty.
func (s *Store) serve(q *queue, writes bool) {
	q.Serve(func(group []*asked) { s.conduct(s.calls(group), writes) })
}

// close finishes what the lanes have, and lets nothing further in.
func (l *lanes) close() {
	l.mu.Lock()
	l.closed = true
	for _, lane := range l.all {
		lane.writes.Close()
		lane.reads.Close()
	}
	l.mu.Unlock()
	l.work.Wait()
}

// waiting is how many writes wait in all lanes.
func (l *lanes) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, lane := range l.all {
		n += lane.writes.State().Waiting
	}
	return n
}
