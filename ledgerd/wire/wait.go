package wire

import "time"

// WaitMS gives a time to wait in whole milliseconds, rounded up: who waits that long does not come too early, and a
// wait that is left is never told as none.
func WaitMS(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
