package intent

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// extend is a sign of life. It renews the lease, and revives a row that silence had put in doubt; an ended attempt,
// and one that another has been granted after, is fenced.
func (s *step) extend(c Extend) Verdict {
	i := s.rec.byAttempt(c.Attempt)
	if i < 0 || s.rec.Rows[i].End != "" || s.rec.overtaken(i) {
		return Verdict{Kind: Fenced, Attempt: c.Attempt}
	}
	s.row(i).Renewed = s.now
	if s.rec.Rows[i].State != InFlight {
		s.become(i, InFlight, WhyExtended, s.now)
	}
	return Verdict{Kind: OK, Attempt: c.Attempt, Lease: s.rec.Rows[i].Rule.Lease}
}

// commit is an attempt's success. It is true whenever it comes: onto a live row, one in doubt, and one released, unless
// a newer attempt of its fingerprint may have happened or may yet. A commit that is not taken is evidence of a second
// execution.
func (s *step) commit(c Commit) Verdict {
	i := s.rec.byAttempt(c.Attempt)
	if i < 0 {
		return s.fenceUnknown(c)
	}
	r := &s.rec.Rows[i]
	switch {
	case r.State == Committed && r.End == ByCommit && r.Result.Digest == c.Result.Digest:
		return Verdict{Kind: OK, Attempt: c.Attempt} // repeated: it brought the stored result
	case r.State == Committed && r.End == ByAnswer:
		return s.fence(c, r.Rule.Retention, false, "a person had resolved the call as committed, and that stays its result")
	case r.State == Committed:
		return s.fence(c, r.Rule.Retention, true, "the attempt brought another result before: it was executed twice, most likely")
	case r.End == ByRetry:
		return s.fence(c, r.Rule.Retention, true, "a retry of the call under the same provider key was committed before: both happened, and are one effect only if the provider keeps the key")
	case !r.State.live() && s.rec.overtaken(i):
		return s.fence(c, r.Rule.Retention, true, "a newer attempt of the call executes or has executed: it was executed twice, most likely")
	}
	result := c.Result
	result.Attempt = c.Attempt
	s.succeed(i, result, ByCommit, WhyCommitted)
	return Verdict{Kind: OK, Attempt: c.Attempt, Keep: keep(&result)}
}

// succeed makes row i committed and settles what depended on its not having happened.
func (s *step) succeed(i int, result Result, end End, why Why) {
	r := s.row(i)
	approvedBy, released := r.ApprovedBy, r.State == Released
	r.End, r.Class, r.Failure, r.Result = end, "", nil, &result
	s.become(i, Committed, why, s.now)
	s.settleRetried(i)
	if released && approvedBy != "" {
		s.useUp(approvedBy)
	}
}

// fail is an attempt's end without success. It is repeated until it is acknowledged. One that comes before its reserve
// leaves a tombstone.
func (s *step) fail(c Fail) Verdict {
	i := s.rec.byAttempt(c.Attempt)
	if i < 0 {
		return s.failUnknown(c)
	}
	r := &s.rec.Rows[i]
	switch {
	case r.End == ByFailure && r.State == Released:
		return Verdict{Kind: OK, Attempt: c.Attempt} // repeated
	case !r.State.live() && r.State != InDoubt:
		return Verdict{Kind: Fenced, Attempt: c.Attempt} // committed, or a human or a newer attempt has ended it
	case c.Class == NotSent || c.Class == Definite:
		return s.release(i, c)
	case r.End == ByFailure:
		return Verdict{Kind: OK, Attempt: c.Attempt} // repeated
	}
	r = s.row(i)
	r.End, r.Class = ByFailure, Unknown
	if r.State.live() {
		s.become(i, InDoubt, WhyFailed, s.now)
	}
	return Verdict{Kind: OK, Attempt: c.Attempt}
}

// release ends an attempt that surely had no effect. Its failure is kept for those who wait; an approval that it was
// executed under holds again while its term lasts.
func (s *step) release(i int, c Fail) Verdict {
	r := s.row(i)
	r.End, r.Class = ByFailure, c.Class
	v := Verdict{Kind: OK, Attempt: c.Attempt}
	if c.Failure != nil && c.Class == Definite {
		failure := *c.Failure
		failure.Attempt = c.Attempt + "-failure"
		r.Failure, v.Keep = &failure, keep(&failure)
	}
	fingerprint := r.Fingerprint
	if r.Question != nil && s.now.Before(r.Question.Until) && !s.rec.overtaken(i) {
		s.giveBack(i)
	} else {
		s.become(i, Released, WhyFailed, s.now)
	}
	s.keepNewestFailed(fingerprint, c.Attempt)
	return v
}

var tooManyTombstones = fmt.Sprintf("%d attempts of this intent that ended before their reserve came are remembered, as many as may be (a fixed limit)", MaxUnbound)

func (s *step) failUnknown(c Fail) Verdict {
	i := s.rec.ended(c.Attempt)
	switch {
	case i >= 0 && s.rec.Ended[i].End == ByFailure:
		return Verdict{Kind: OK, Attempt: c.Attempt} // repeated
	case i >= 0:
		return Verdict{Kind: Fenced, Attempt: c.Attempt}
	case s.rec.crowded():
		return s.refuse(tooManyTombstones)
	}
	s.entomb(s.tombstone(c.Attempt, ByFailure, c.Class))
	return Verdict{Kind: OK, Attempt: c.Attempt}
}

// fenceUnknown fences the commit of an attempt that the record does not know, and ends the attempt: its reserve, should
// it still come, grants nothing.
func (s *step) fenceUnknown(c Commit) Verdict {
	if s.rec.ended(c.Attempt) < 0 {
		if s.rec.crowded() {
			return s.refuse(tooManyTombstones)
		}
		s.entomb(s.tombstone(c.Attempt, ByCommit, ""))
	}
	return s.fence(c, evidenceTerm, false, "the ledger knows no execution of this attempt: its row is gone, or another store or state of it granted it; whether something was executed twice is not known")
}

// evidenceTerm is how long the fenced commit of an attempt is kept whose rule is not known.
const evidenceTerm = 24 * time.Hour

// fence refuses a commit, says why, and keeps it as evidence. The same one again adds nothing.
func (s *step) fence(c Commit, term time.Duration, twice bool, why string) Verdict {
	v := Verdict{Kind: Fenced, Attempt: c.Attempt, Twice: twice, Why: why}
	if slices.ContainsFunc(s.rec.Evidence, func(e Evidence) bool {
		return e.Attempt == c.Attempt && e.Result.Digest == c.Result.Digest
	}) {
		return v
	}
	s.changed = true
	s.rec.Fenced++
	if len(s.rec.Evidence) >= MaxEvidence {
		return v
	}
	result := c.Result
	result.Attempt = c.Attempt + "-fenced-" + strconv.FormatInt(s.rec.Fenced, 10)
	s.rec.Evidence = append(slices.Clip(s.rec.Evidence),
		Evidence{At: s.now, Attempt: c.Attempt, Result: result, Until: s.now.Add(term)})
	v.Keep = keep(&result)
	return v
}

// keep is the key that a result's bytes must be stored under; empty where there are none.
func keep(r *Result) string {
	if r.Missing != "" {
		return ""
	}
	return r.Attempt
}
