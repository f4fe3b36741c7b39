package sqlite

import (
	"sync"
)

// state is what the writer knows of a record.
type state struct {
	id      int64 // row of the table records
	version uint64
	due     int64 // Unix µs; noDue
	named   int   // rows in the table entries
	data    []byte
}

const noDue = -1 << 63

// recent remembers the records that were written last, in bounded memory: a call is usually reserved, extended and
// committed within seconds, and then neither Load nor Swap has to read it back. Only the writer puts records in, and
// takes them out before it commits a change of them, so that what is found here is always what the database says.
//
// It has two generations: when the young one is full it becomes the old one and the former old one is dropped; what
// is used again moves to the young one. That keeps about the last used half of the bound without a list to maintain.
type recent struct {
	mu         sync.Mutex
	half       int64
	young, old map[string]state
	bytes      int64 // of young
}

func newRecent(bytes int64) *recent {
	r := &recent{half: bytes / 2}
	r.clear()
	return r
}

// overhead is about what an entry takes in memory beside its key and data.
const overhead = 160

func (r *recent) get(key string) (state, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st, ok := r.young[key]
	if ok {
		return st, true
	}
	if st, ok = r.old[key]; ok {
		delete(r.old, key)
		r.put(key, st)
	}
	return st, ok
}

// put adds a record that is in neither generation. The caller holds mu.
func (r *recent) put(key string, st state) {
	size := int64(len(key)+len(st.data)) + overhead
	if size > r.half {
		return
	}
	if r.bytes+size > r.half {
		r.old, r.young, r.bytes = r.young, map[string]state{}, 0
	}
	r.young[key] = st
	r.bytes += size
}

// forget takes out every record that staged is about to change.
func (r *recent) forget(staged map[string]state) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range staged {
		if st, ok := r.young[key]; ok {
			r.bytes -= int64(len(key)+len(st.data)) + overhead
			delete(r.young, key)
		}
		delete(r.old, key)
	}
}

// keep puts in what has been committed; removed records (version 0) have nothing to keep. forget came before.
func (r *recent) keep(staged map[string]state) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, st := range staged {
		if st.version != 0 {
			r.put(key, st)
		}
	}
}

// clear takes out everything.
func (r *recent) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.young, r.old, r.bytes = map[string]state{}, map[string]state{}, 0
}
