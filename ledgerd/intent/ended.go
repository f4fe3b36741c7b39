package intent

import (
	"slices"
	"time"
)

// What is known of attempts that have no row: those whose row is gone, and those that ended before their reserve came.
// A reserve that comes after its NotAfter is late, so an ended attempt need be known until then and no longer. Beyond
// MaxEnded of them the record keeps a moment instead of names: Past. A reserve whose NotAfter is before it may be that
// of an ended attempt and is told so; whoever reserves anew is later than that and gets through.

// bound is the first moment at which a reserve with this NotAfter is late, whatever fractions are cut off on the way.
func bound(notAfter time.Time) time.Time { return notAfter.Add(time.Millisecond) }

// ended is what stays known of a row's attempt once the row is gone.
func ended(r *Row, end End) Ended {
	e := Ended{Attempt: r.Attempt, End: end, Class: r.Class}
	if e.Bound = !r.NotAfter.IsZero(); e.Bound {
		e.Until = bound(r.NotAfter)
	} else {
		e.Until = r.Since.Add(r.Rule.keep())
	}
	return e
}

// tombstoneTerm is how long an attempt is known to have ended whose reserve, and so its NotAfter, has not been seen. A
// reserve that was sent before its attempt ended is late a ledger timeout after that, which is a minute at most; the
// rest is for a link's idea of the ledger's clock.
const tombstoneTerm = 90 * time.Second

// tombstone is what stays known of an attempt that ended before its reserve came.
func (s *step) tombstone(attempt string, end End, class Class) Ended {
	return Ended{Attempt: attempt, End: end, Class: class, Until: s.now.Add(tombstoneTerm)}
}

// entomb remembers an ended attempt that has no row.
func (s *step) entomb(e Ended) {
	s.changed = true
	s.rec.Ended = append(slices.Clip(s.rec.Ended), e)
	if !e.Bound || s.rec.bounded() <= MaxEnded {
		return
	}
	first := -1
	for i := range s.rec.Ended {
		if e := &s.rec.Ended[i]; e.Bound && (first < 0 || e.Until.Before(s.rec.Ended[first].Until)) {
			first = i
		}
	}
	if until := s.rec.Ended[first].Until; until.After(s.rec.Past) {
		s.rec.Past = until
	}
	s.rec.Ended = slices.Delete(s.rec.Ended, first, first+1) // a copy of this step's own: entomb has just made it
}

// bounded is how many ended attempts are remembered by name whose NotAfter is known.
func (rec *Record) bounded() int {
	n := 0
	for i := range rec.Ended {
		if rec.Ended[i].Bound {
			n++
		}
	}
	return n
}

// crowded says that no further attempt can be remembered whose NotAfter is not known.
func (rec *Record) crowded() bool { return len(rec.Ended)-rec.bounded() >= MaxUnbound }

// ended finds an ended attempt that has no row.
func (rec *Record) ended(attempt string) int {
	return slices.IndexFunc(rec.Ended, func(e Ended) bool { return e.Attempt == attempt })
}

// passed says whether an arrival may be the reserve of an attempt that ended and is no longer known by name.
func (rec *Record) passed(a *Arrive) bool {
	return !a.NotAfter.IsZero() && a.NotAfter.Before(rec.Past)
}

// keepNewestFailed lets a fingerprint have so many failed rows; those who waited for the others have been told. The
// attempt that has just failed stays.
func (s *step) keepNewestFailed(fingerprint, attempt string) {
	for {
		n, first := 0, -1
		for i := range s.rec.Rows {
			r := &s.rec.Rows[i]
			if r.Fingerprint != fingerprint || r.State != Released || r.End != ByFailure {
				continue
			}
			n++
			if r.Attempt != attempt && (first < 0 || r.Since.Before(s.rec.Rows[first].Since)) {
				first = i
			}
		}
		if n <= MaxFailed {
			return
		}
		s.remove(first, WhyEvicted, ByFailure, s.now)
	}
}
