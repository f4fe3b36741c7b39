package store

import (
	"sync/atomic"
	"time"
)

// Clock is the part of Store.Now that every driver shares: a clock that is never read before a moment that it was
// read at, or raised to, earlier. The zero Clock reads time.Now.
type Clock struct {
	read  func() time.Time
	floor atomic.Int64 // Unix µs
}

// NewClock gives a Clock over read (nil: time.Now) that begins no earlier than floor.
func NewClock(read func() time.Time, floor time.Time) *Clock {
	c := &Clock{read: read}
	c.Raise(floor)
	return c
}

// Now gives the moment, to the microsecond, in UTC.
func (c *Clock) Now() time.Time {
	read := c.read
	if read == nil {
		read = time.Now
	}
	return time.UnixMicro(c.raise(read().UnixMicro())).UTC()
}

// Raise says that the moment t was decided by: no later Now is before it.
func (c *Clock) Raise(t time.Time) { c.raise(CeilMicro(t)) }

// raise lifts the floor to at least us and gives the floor.
func (c *Clock) raise(us int64) int64 {
	for {
		floor := c.floor.Load()
		if us <= floor {
			return floor
		}
		if c.floor.CompareAndSwap(floor, us) {
			return us
		}
	}
}

// CeilMicro gives t in Unix microseconds, rounded up: what a driver keeps of the greatest Write.Now, so that the
// clock is not before it after a restart. No time at all is 0.
func CeilMicro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	us := t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		us++
	}
	return us
}
