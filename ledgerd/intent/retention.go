package intent

import (
	"slices"
	"time"
)

// Due is the earliest moment at which a Tick would change the record, given when the ledger resumed after its last
// outage (Moment.Resumed); zero: none ever would.
func (rec Record) Due(resumed time.Time) time.Time {
	_, due := rec.next(resumed)
	sooner := func(t time.Time) {
		if due.IsZero() || t.Before(due) {
			due = t
		}
	}
	for i := range rec.Ended {
		sooner(rec.Ended[i].Until)
	}
	if !rec.Past.IsZero() {
		sooner(rec.Past)
	}
	for i := range rec.Marks {
		sooner(rec.Marks[i].Until)
	}
	for i := range rec.Evidence {
		sooner(rec.Evidence[i].Until)
	}
	return due
}

// next finds the row that time changes next, and when; -1 where there is none.
func (rec Record) next(resumed time.Time) (int, time.Time) {
	first, at := -1, time.Time{}
	for i := range rec.Rows {
		due := rec.Rows[i].due(resumed)
		if due.IsZero() || first >= 0 && !due.Before(at) || rec.Rows[i].State == Committed && rec.pinned(i) {
			continue
		}
		first, at = i, due
	}
	return first, at
}

// due is when time changes a row by itself; zero: never.
func (r *Row) due(resumed time.Time) time.Time {
	switch r.State {
	case Reserved, InFlight:
		return r.leaseEnd(resumed)
	case HeldRow, Approved:
		return r.Question.Until
	case Committed, Alias, DeniedRow:
		return r.Since.Add(r.Rule.Retention)
	case Released:
		return r.Since.Add(r.Rule.keep())
	default: // InDoubt stays until somebody knows
		return time.Time{}
	}
}

// leaseEnd is when a live attempt has been silent for too long.
func (r *Row) leaseEnd(resumed time.Time) time.Time {
	from := r.Renewed
	if resumed.After(from) {
		from = resumed
	}
	return from.Add(r.Rule.Lease)
}

// pinned says that an open hold or an alias refers to the committed row i, which must stay as long as they do.
func (rec Record) pinned(i int) bool {
	r := &rec.Rows[i]
	return slices.ContainsFunc(rec.Rows, func(other Row) bool {
		return other.State == HeldRow && r.is(other.Question.Of) || other.State == Alias && other.AliasOf == r.Attempt
	})
}

// pass lets time pass until now: one expiry after the other, each at its own moment.
func (s *step) pass() {
	for at := (time.Time{}); ; {
		i, due := s.rec.next(s.resumed)
		if i < 0 || due.After(s.now) {
			break
		}
		if due.After(at) {
			at = due // a row that was pinned goes when what pinned it does
		}
		s.expire(i, at)
	}
	if past := s.rec.Past; !past.IsZero() && !past.After(s.now) {
		s.changed, s.rec.Past = true, time.Time{} // every reserve that it stands for is late
	}
	forget(s, &s.rec.Ended, func(e Ended) time.Time { return e.Until })
	forget(s, &s.rec.Marks, func(m Mark) time.Time { return m.Until })
	forget(s, &s.rec.Evidence, func(e Evidence) time.Time { return e.Until })
}

// expire is what the end of a row's lease, term or retention does to it.
func (s *step) expire(i int, at time.Time) {
	switch r := &s.rec.Rows[i]; r.State {
	case Reserved, InFlight:
		s.become(i, InDoubt, WhySilent, at)
	case HeldRow:
		s.nextVersion(i)
		s.become(i, DeniedRow, WhyExpired, at)
	default: // Approved, Committed, Alias, DeniedRow, Released
		s.remove(i, WhyExpired, r.End, at)
	}
}

// forget drops the entries of a list whose time is over.
func forget[E any](s *step, list *[]E, until func(E) time.Time) {
	over := func(e E) bool { return !until(e).After(s.now) }
	if slices.ContainsFunc(*list, over) {
		s.changed = true
		*list = slices.DeleteFunc(slices.Clone(*list), over)
	}
}
