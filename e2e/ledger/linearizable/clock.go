package linearizable

import (
	"slices"
	"sync"
	"time"
)

// Clock is what all nodes of a history read. It stands still until it is moved, in whole milliseconds, so that an
// answer's now is exactly the moment of its decision.
type Clock struct {
	mu    sync.Mutex
	moves []int64 // every moment that it has shown, Unix ms
}

// NewClock gives a clock that shows the beginning of 2030.
func NewClock() *Clock {
	return &Clock{moves: []int64{time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()}}
}

// Now reads the clock.
func (c *Clock) Now() time.Time { return time.UnixMilli(c.now()).UTC() }

func (c *Clock) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moves[len(c.moves)-1]
}

// move lets time pass.
func (c *Clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moves = append(c.moves, c.moves[len(c.moves)-1]+d.Milliseconds())
}

// shown gives the moments that the clock showed from one to another.
func (c *Clock) shown(from, to int64) []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, _ := slices.BinarySearch(c.moves, from)
	end, found := slices.BinarySearch(c.moves, to)
	if found {
		end++
	}
	return slices.Clone(c.moves[first:end])
}
