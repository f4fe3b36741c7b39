package seldom

import (
	"testing"
	"time"
)

func TestAWarningThatIsHeldBackIsCounted(t *testing.T) {
	var s Warning
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if missed, due := s.Due(at); !due || missed != 0 {
		t.Errorf("the first: %d, %v", missed, due)
	}
	for i := range 3 {
		if _, due := s.Due(at.Add(time.Duration(i) * time.Second)); due {
			t.Error("a second one within the quiet time")
		}
	}
	if missed, due := s.Due(at.Add(Quiet)); !due || missed != 3 {
		t.Errorf("after the quiet time: %d missed, %v", missed, due)
	}
}
