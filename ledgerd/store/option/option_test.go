package option

import (
	"testing"
	"time"
)

func TestDefaultReplacesOnlyZero(t *testing.T) {
	n, d, negative := 0, 5*time.Second, int64(-1)
	Default(&n, 7)
	Default(&d, time.Second)
	Default(&negative, 7)
	if n != 7 || d != 5*time.Second || negative != -1 {
		t.Errorf("got %d, %v, %d, want 7, 5s, -1", n, d, negative)
	}
}

func TestEveryMistakeIsToldAtOnce(t *testing.T) {
	c := NewCheck("store/test")
	c.Queue(-1, 1, 1, 0)
	c.Number("Readers", 2, 1)
	c.Duration("Timeout", time.Microsecond, time.Millisecond)
	const want = "store/test: option QueueWrites is -1, want at least 1\n" +
		"store/test: option GroupBytes is 0, want at least 1\n" +
		"store/test: option Timeout is 1µs, want at least 1ms"
	if err := c.Err(); err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if err := NewCheck("store/test").Err(); err != nil {
		t.Errorf("without a mistake: got %v", err)
	}
}
