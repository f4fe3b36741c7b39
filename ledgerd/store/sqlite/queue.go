package sqlite

import (
	"context"

	"idem/ledgerd/store"
	"idem/ledgerd/store/group"
)

// request is one thing that the writer is asked to do.
type request struct {
	kind    kind
	swap    store.Write
	setting [2]string // name, value
}

// kind is what a request asks for.
type kind int8

const (
	swap kind = iota
	setSetting
	reset
)

type outcome struct {
	version uint64
	err     error
}

// asked is a request in the hands of the writer.
type asked = group.Request[request, outcome]

// newQueue gives what stands before the writer.
func newQueue(o Options) *group.Queue[request, outcome] {
	return group.New[request, outcome](group.Config{
		Requests: o.QueueWrites, Bytes: o.QueueBytes, Group: o.GroupWrites, GroupBytes: o.GroupBytes,
		Name: "store/sqlite", Asked: "writes", Closed: closed(),
	})
}

// do asks the writer for something that carries so many bytes, and waits for its outcome.
func (s *Store) do(ctx context.Context, r request, size int64) (uint64, error) {
	o, err := s.queue.Do(ctx, r, size)
	if err != nil {
		return 0, err
	}
	return o.version, o.err
}
