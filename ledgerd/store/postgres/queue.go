package postgres

import (
	"context"

	"idem/ledgerd/store"
	"idem/ledgerd/store/group"
)

type outcome struct {
	version uint64
	err     error
}

// asked is a Swap in the hands of a writer.
type asked = group.Request[store.Write, outcome]

// newQueue gives what stands before the writers.
func newQueue(o Options) *group.Queue[store.Write, outcome] {
	return group.New[store.Write, outcome](group.Config{
		Requests: o.QueueWrites, Bytes: o.QueueBytes, Group: o.GroupWrites, GroupBytes: o.GroupBytes,
		Name: "store/postgres", Asked: "writes", Closed: closed(),
	})
}

// Swap implements store.Store.
func (s *Store) Swap(ctx context.Context, w store.Write) (uint64, error) {
	size, err := w.CheckSize(maxWrite)
	if err != nil {
		return 0, err
	}
	o, err := s.queue.Do(ctx, w, size)
	if err != nil {
		return 0, err
	}
	return o.version, o.err
}
