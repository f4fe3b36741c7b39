package ledger

import (
	"sync"

	"idem/ledgerd/intent"
)

// awaited is what somebody waits for: an attempt to end, or a hold to be answered.
type awaited struct{ attempt, hold string }

// look gives what a record says of it, and whether the wait is over.
func (a awaited) look(rec *intent.Record) (v intent.Verdict, over bool) {
	if a.hold != "" {
		v = rec.HoldState(a.hold)
		return v, v.Kind != intent.Held
	}
	v = rec.Attempt(a.attempt)
	return v, v.Kind != intent.Wait
}

// waiter is one await that is under way.
type waiter struct {
	over chan intent.Verdict // gets one verdict, when the wait is over

	// The registry's lock guards these.
	looked bool           // its own first look was decided: what was read before that may be older than the wait
	last   intent.Verdict // what was seen last, while the wait is not over
}

// waiters knows who waits for what. Whoever has seen a record that is true of the store tells it here.
type waiters struct {
	mu    sync.Mutex
	byKey map[string]map[awaited]map[*waiter]struct{}
}

// add registers a waiter, if there may be another.
func (ws *waiters) add(key string, what awaited, most int) (*waiter, bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.byKey[key][what]) >= most {
		return nil, false
	}
	if ws.byKey == nil {
		ws.byKey = map[string]map[awaited]map[*waiter]struct{}{}
	}
	if ws.byKey[key] == nil {
		ws.byKey[key] = map[awaited]map[*waiter]struct{}{}
	}
	if ws.byKey[key][what] == nil {
		ws.byKey[key][what] = map[*waiter]struct{}{}
	}
	w := &waiter{over: make(chan intent.Verdict, 1)}
	ws.byKey[key][what][w] = struct{}{}
	return w, true
}

// remove ends a wait, and gives what was seen last.
func (ws *waiters) remove(key string, what awaited, w *waiter) intent.Verdict {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.byKey[key][what], w)
	ws.prune(key, what)
	return w.last
}

func (ws *waiters) prune(key string, what awaited) {
	if len(ws.byKey[key][what]) == 0 {
		delete(ws.byKey[key], what)
	}
	if len(ws.byKey[key]) == 0 {
		delete(ws.byKey, key)
	}
}

// tell wakes those whose wait a record ends, the waiters of jobs that were decided by it among them.
func (ws *waiters) tell(key string, rec *intent.Record, jobs []*job) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, j := range jobs {
		if j.waiter != nil {
			j.waiter.looked = true
		}
	}
	for what, all := range ws.byKey[key] {
		v, over := what.look(rec)
		for w := range all {
			if !w.looked {
				continue
			}
			w.last = v
			if over {
				w.over <- v
				delete(all, w)
			}
		}
		ws.prune(key, what)
	}
}

func (ws *waiters) waits(key string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return len(ws.byKey[key]) > 0
}

// keys gives the records that somebody waits for.
func (ws *waiters) keys() []string {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	keys := make([]string, 0, len(ws.byKey))
	for key := range ws.byKey {
		keys = append(keys, key)
	}
	return keys
}
