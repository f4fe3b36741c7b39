package linearizable

import (
	"fmt"
	"strings"
)

// String shows where the history may be, for people.
func (s *set) String() string {
	var b strings.Builder
	for _, p := range s.places {
		b.WriteString("{")
		for _, r := range p.rec.Rows {
			fmt.Fprintf(&b, "%.4s %s %s runs=%q", r.Fingerprint, r.State, r.Attempt, r.Runs)
			if r.Question != nil {
				fmt.Fprintf(&b, " hold=%s v%d", r.Question.ID, r.Question.Version)
			}
			b.WriteString("; ")
		}
		for _, e := range p.rec.Ended {
			fmt.Fprintf(&b, "ended %s; ", e.Attempt)
		}
		if p.open != "" {
			fmt.Fprintf(&b, "may happen: %s", p.open)
		}
		b.WriteString("} ")
	}
	return b.String()
}

// String shows an event, for people.
func (e event) String() string {
	switch e.kind {
	case opens:
		return fmt.Sprintf("from here %d× perhaps: %v", e.effects, e.call)
	case shuts:
		return "to here"
	}
	return e.call.String()
}
