package store

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestWriteThatIsTooLargeIsRefusedWithItsSize(t *testing.T) {
	w := Write{
		Key: "key", Data: make([]byte, 10), Entries: []Entry{{Index: Holds, ID: "four"}, {Index: Due}},
		Put: []Result{{Attempt: "att", Data: make([]byte, 20)}},
	}
	const size = 3 + 10 + 4 + 3 + 20
	if got, err := w.CheckSize(size); got != size || err != nil {
		t.Errorf("got %d, %v, want %d", got, err, size)
	}
	if _, err := w.CheckSize(size - 1); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "are 40 bytes, want at most 39") {
		t.Errorf("one byte too many: got %v", err)
	}
	w.Key = ""
	if _, err := w.CheckSize(size); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "key is empty") {
		t.Errorf("a write that contradicts itself: got %v", err)
	}
}

func TestMomentsAreRoundedUpAndNoTimeIsZero(t *testing.T) {
	for _, c := range []struct {
		t    time.Time
		want int64
	}{{time.Time{}, 0}, {time.UnixMicro(7), 7}, {time.UnixMicro(7).Add(1), 8}, {time.UnixMicro(7).Add(999), 8}} {
		if got := CeilMicro(c.t); got != c.want {
			t.Errorf("%v: got %d, want %d", c.t, got, c.want)
		}
	}
}
