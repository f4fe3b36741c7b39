package ledger

import (
	"container/list"
	"sync"
)

// cache keeps what was used last, up to a size.
type cache[V any] struct {
	limit int64

	mu    sync.Mutex
	epoch int64 // grows with each flush
	size  int64
	used  list.List // of *cached[V], the one used last first
	byKey map[string]*list.Element
}

type cached[V any] struct {
	key   string
	value V
	size  int64 // what value takes, and what the cache needs for it
}

func newCache[V any](limit int64) *cache[V] {
	return &cache[V]{limit: limit, byKey: map[string]*list.Element{}}
}

func (c *cache[V]) get(key string) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return value, false
	}
	c.used.MoveToFront(e)
	return e.Value.(*cached[V]).value, true
}

// now gives the epoch. What is read from the store is put with the epoch from before it was read, so that it does not
// outlive a flush that came in between.
func (c *cache[V]) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.epoch
}

// put keeps a value that takes so many bytes.
func (c *cache[V]) put(epoch int64, key string, value V, size int64) {
	size += piece(len(key)) + perCached
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch != c.epoch || size > c.limit/4 {
		c.remove(key)
		return
	}
	if e := c.byKey[key]; e != nil {
		old := e.Value.(*cached[V])
		c.size += size - old.size
		old.value, old.size = value, size
		c.used.MoveToFront(e)
	} else {
		c.byKey[key] = c.used.PushFront(&cached[V]{key, value, size})
		c.size += size
	}
	for c.size > c.limit {
		c.remove(c.used.Back().Value.(*cached[V]).key)
	}
}

func (c *cache[V]) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

func (c *cache[V]) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	c.size = 0
	c.used.Init()
	clear(c.byKey)
}

// remove forgets a key. The caller holds mu.
func (c *cache[V]) remove(key string) {
	if e := c.byKey[key]; e != nil {
		c.size -= e.Value.(*cached[V]).size
		c.used.Remove(e)
		delete(c.byKey, key)
	}
}
