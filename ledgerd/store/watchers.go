package store

import (
	"context"
	"sync"
	"sync/atomic"
)

// Watchers is the part of Store.Watch that drivers of a single process share: who listens, and telling them. The zero
// Watchers is ready.
type Watchers struct {
	mu   sync.Mutex
	next int
	all  map[int]func(key string)
	told atomic.Pointer[[]func(key string)] // all, as Tell reads it: replaced whole whenever all changes
}

// Add calls changed for each key that is told from now on, until ctx ends.
func (w *Watchers) Add(ctx context.Context, changed func(key string)) {
	w.mu.Lock()
	if w.all == nil {
		w.all = map[int]func(string){}
	}
	id := w.next
	w.next++
	w.all[id] = changed
	w.publish()
	w.mu.Unlock()

	context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, id)
		w.publish()
	})
}

// publish gives Tell all that listen now. The caller holds mu.
func (w *Watchers) publish() {
	list := make([]func(string), 0, len(w.all))
	for _, f := range w.all {
		list = append(list, f)
	}
	w.told.Store(&list)
}

// Tell says that the record of key was written.
func (w *Watchers) Tell(key string) {
	if list := w.told.Load(); list != nil {
		for _, f := range *list {
			f(key)
		}
	}
}
