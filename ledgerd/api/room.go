package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

// roomTime is how long a batch waits for room before it is refused.
const roomTime = time.Second

// room bounds the bytes of all batches that are under way together, from before they are read until they are answered.
// Without it a few large batches at once would take as much memory as there are connections for them.
type room struct {
	limits Limits
	free   *semaphore.Weighted
}

func newRoom(l Limits) *room { return &room{l, semaphore.NewWeighted(l.UnderWayBytes)} }

// take makes room for a request's body, and gives what frees it: all but read bytes once the body is read, and the rest
// at the end. A body whose length is not announced takes the room of the largest until it is read.
func (m *room) take(r *http.Request) (read func(size int), done func(), err error) {
	size := r.ContentLength
	switch {
	case size > m.limits.BatchBytes:
		return nil, nil, &refusal{code: "body_too_large", detail: fmt.Sprintf("at most %d bytes are read, this are %d", m.limits.BatchBytes, size)}
	case size < 0:
		size = m.limits.BatchBytes
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), roomTime)
	defer cancel()
	if err := m.free.Acquire(ctx, size); err != nil {
		return nil, nil, &refusal{code: "overloaded", after: roomTime,
			detail: fmt.Sprintf("batches of %d bytes are under way, as many as may be; nothing of this one was read", m.limits.UnderWayBytes)}
	}
	read = func(body int) {
		if surplus := size - int64(body); surplus > 0 {
			m.free.Release(surplus)
			size -= surplus
		}
	}
	return read, func() { m.free.Release(size) }, nil
}
