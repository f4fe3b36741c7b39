package api

import (
	"sync"
	"time"
)

// seldom keeps a warning that anyone can bring about from filling the log.
type seldom struct {
	mu     sync.Mutex
	last   time.Time
	missed int
}

// quiet is how long after a warning the next ones are only counted.
const quiet = 30 * time.Second

// due says whether to warn now, and how many times it was not done since the last time.
func (s *seldom) due(now time.Time) (missed int, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.last.IsZero() && now.Sub(s.last) < quiet {
		s.missed++
		return 0, false
	}
	missed, s.last, s.missed = s.missed, now, 0
	return missed, true
}
