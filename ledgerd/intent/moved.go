package intent

import (
	"fmt"
	"slices"
	"time"
)

// moved sends an arrival that no row of its fingerprint decides on to the record that a mark names. A mark that is met
// stays for another term.
func (s *step) moved(a Arrive) (Verdict, bool) {
	i := slices.IndexFunc(s.rec.Marks, func(m Mark) bool { return m.Fingerprint == a.Fingerprint })
	if i < 0 {
		return Verdict{}, false
	}
	if a.Stay {
		s.changed = true
		s.rec.Marks = slices.Delete(slices.Clone(s.rec.Marks), i, i+1)
		return Verdict{}, false
	}
	m := s.rec.Marks[i]
	if s.now.After(m.Met.Add(m.Until.Sub(m.Met) / 2)) {
		s.changed = true
		s.rec.Marks = slices.Clone(s.rec.Marks)
		s.rec.Marks[i] = mark(a.Fingerprint, m.To, a.Rule, s.now)
	}
	return Verdict{Kind: Moved, To: m.To}, true
}

// leaveMark says that nothing here speaks against the call, and that it is decided under its new name from now on.
func (s *step) leaveMark(a Arrive) Verdict {
	if len(s.rec.Marks) >= MaxMarks {
		return s.refuse(fmt.Sprintf("%d fingerprints of this record have moved to another since the configuration changed, as many as may be remembered (a fixed limit)", MaxMarks))
	}
	s.changed = true
	s.rec.Marks = append(slices.Clip(s.rec.Marks), mark(a.Fingerprint, *a.MovesTo, a.Rule, s.now))
	return Verdict{Kind: Moved, To: *a.MovesTo}
}

// mark lasts longer than any row that it can lead to, doubts apart.
func mark(fingerprint string, to Identity, rule Rule, now time.Time) Mark {
	term := rule.HoldTerm + rule.ApprovalTerm + rule.keep() + rule.Retention
	return Mark{Fingerprint: fingerprint, To: to, Met: now, Until: now.Add(term)}
}
