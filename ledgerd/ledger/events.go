package ledger

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Event is one thing that the ledger did, for the live log.
type Event struct {
	At          time.Time `json:"at"`
	Kind        string    `json:"kind"` // arrive, extend, commit, fail, hold_answer, resolve, expire, reset
	Outcome     string    `json:"outcome"`
	Fingerprint string    `json:"fingerprint,omitempty"`
	Intent      string    `json:"intent,omitempty"`
	Attempt     string    `json:"attempt,omitempty"`
	Hold        string    `json:"hold,omitempty"`
	Run         string    `json:"run,omitempty"`
	Tool        string    `json:"tool,omitempty"`
	Rule        string    `json:"rule,omitempty"`
}

// backlog is how many events a subscriber may be behind; then the oldest go.
const backlog = 1024

// hub gives events to subscribers, and waits for none of them.
type hub struct {
	many atomic.Int32 // subscribers: without any, nothing is made
	mu   sync.Mutex
	all  map[chan Event]struct{}
}

// Subscribe gives what the ledger does from now on, until ctx or the ledger ends; then the channel is closed. Whoever
// is too slow misses the oldest events.
func (l *Ledger) Subscribe(ctx context.Context) <-chan Event {
	h := &l.events
	c := make(chan Event, backlog)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[chan Event]struct{}{}
	}
	h.all[c] = struct{}{}
	h.many.Add(1)
	end := func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, there := h.all[c]; there {
			delete(h.all, c)
			h.many.Add(-1)
			close(c)
		}
	}
	context.AfterFunc(ctx, end)
	context.AfterFunc(l.ctx, end)
	return c
}

func (h *hub) publish(e Event) {
	if h.many.Load() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.all {
		for sent := false; !sent; {
			select {
			case c <- e:
				sent = true
			default:
				select {
				case <-c: // the oldest
				default:
				}
			}
		}
	}
}
