// Package seldom keeps warnings that a burst of calls brings about, or that anyone can, from filling the log: after one,
// the next are only counted for a while.
package seldom

import (
	"sync"
	"time"
)

// Warning is one kind of warning. The zero value is ready.
type Warning struct {
	mu     sync.Mutex
	last   time.Time
	missed int
}

// Quiet is how long after a warning the next ones are only counted.
const Quiet = 30 * time.Second

// Due says whether to warn now, and how many times it was not done since the last time.
func (w *Warning) Due(now time.Time) (missed int, due bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.last.IsZero() && now.Sub(w.last) < Quiet {
		w.missed++
		return 0, false
	}
	missed, w.last, w.missed = w.missed, now, 0
	return missed, true
}
