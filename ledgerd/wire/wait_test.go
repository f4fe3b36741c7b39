package wire

import (
	"testing"
	"time"
)

func TestWaitIsNeverToldTooShort(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		0: 0, time.Nanosecond: 1, time.Millisecond - 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, 7500 * time.Millisecond: 7500,
	} {
		if got := WaitMS(d); got != want {
			t.Errorf("%s is told as %d ms, want %d", d, got, want)
		}
	}
}
