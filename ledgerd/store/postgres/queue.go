package postgres

import (
	"context"
	"fmt"

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
	o, err := s.queue.Do(ctx, w, size)
	if err != nil {
		return 0, err
	}
	return o.version, o.err
}
