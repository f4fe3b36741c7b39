package intent

import (
	"fmt"
	"slices"
)

// stayInDoubt is line 3, and line 1 for a row in doubt: it is not executed again by itself. Only a rule whose calls
// carry a provider key may ask for that, once the execution's time is over.
func (s *step) stayInDoubt(i int, a Arrive) Verdict {
	r := &s.rec.Rows[i]
	if !a.Rule.RetryInDoubt || s.now.Before(r.Granted.Add(r.Rule.ExecutionTimeout)) {
		return r.doubt()
	}
	return s.retry(i, a)
}

// retry executes a row in doubt again under the same provider key. The doubt stays a row of its own until one of the
// two is committed: a failure of the retry says nothing about the attempt before it.
func (s *step) retry(i int, a Arrive) Verdict {
	attempt := s.rec.Rows[i].Attempt
	if v, full := s.full(&a); full {
		return v
	}
	i = s.rec.byAttempt(attempt) // making room may have moved it
	s.join(i, a.Run)
	row := s.fresh(a)
	row.ApprovedBy, row.Runs = s.rec.Rows[i].ApprovedBy, s.copied(s.rec.Rows[i].Runs)
	if !slices.Contains(row.Runs, a.Run) {
		row.Runs = replacing(row.Runs, a.Run)
	}
	return s.rec.Rows[s.add(row, "", WhyRetried)].granted()
}

// settleRetried ends what was in doubt beside row i, now committed: under one provider key they are one effect.
func (s *step) settleRetried(i int) {
	committed := s.rec.Rows[i]
	for j := range s.rec.Rows {
		r := &s.rec.Rows[j]
		if r.Fingerprint != committed.Fingerprint || r.State != InDoubt {
			continue
		}
		s.row(j).End = ByRetry
		s.become(j, Released, WhySuperseded, s.now)
		for _, run := range s.rec.Rows[j].Runs {
			s.join(i, run)
		}
		s.redirectHolds(s.rec.Rows[j].Attempt, committed.Attempt)
	}
}

// redirectHolds lets open holds that refer to a superseded attempt refer to the one that was committed instead.
func (s *step) redirectHolds(from, to string) {
	for j := range s.rec.Rows {
		if r := &s.rec.Rows[j]; r.State == HeldRow && r.Question.Of == from {
			q := *r.Question
			q.Of = to
			s.row(j).Question = &q
		}
	}
}

// resolve is a human's answer to a row in doubt.
func (s *step) resolve(c Resolve) Verdict {
	i := s.rec.byAttempt(c.Attempt)
	if i < 0 {
		return Verdict{Kind: Unheard, Why: fmt.Sprintf("no attempt %q", c.Attempt)}
	}
	r := &s.rec.Rows[i]
	conflict := Verdict{Kind: Conflict, Attempt: c.Attempt, Since: r.Since}
	switch {
	case r.State != InDoubt:
		conflict.Why = fmt.Sprintf("the call is not in doubt: its row is %s", r.State)
		return conflict
	case s.rec.newest(r.Fingerprint, Reserved, InFlight) >= 0:
		conflict.Why = "the call executes again, under the same provider key: its end may settle this"
		conflict.RetryAfter = r.Rule.Lease
		return conflict
	case c.As == Released && s.now.Before(r.ReleasableAfter()):
		conflict.Why, conflict.RetryAfter = "the execution may still be under way", r.ReleasableAfter().Sub(s.now)
		return conflict
	case c.As != Released && c.As != Committed:
		conflict.Why = fmt.Sprintf("a call in doubt is resolved as %q; it must be released or committed", c.As)
		return conflict
	}
	s.audit(i, c.By, string(c.As), c.Reason)
	v := Verdict{Kind: OK, Attempt: c.Attempt}
	if c.As == Released {
		s.row(i).End = ByAnswer
		s.become(i, Released, WhyResolved, s.now)
		return v
	}
	result := Result{Missing: MissingResolved}
	if c.Result != nil {
		result = *c.Result
	}
	result.Attempt = c.Attempt + "-resolved"
	s.succeed(i, result, ByAnswer, WhyResolved)
	v.Keep = keep(&result)
	return v
}
