package intent

import (
	"fmt"
	"slices"
	"time"
)

// ask opens a hold: lines 9, 10 and 11. Row i is what the call may repeat.
func (s *step) ask(a Arrive, reason string, i int) Verdict {
	of := s.rec.Rows[i].reference() // before room is made: row i may move
	if v, full := s.full(&a); full {
		return v
	}
	row := Row{
		Fingerprint: a.Fingerprint, State: HeldRow, Arrived: s.now, Runs: []string{a.Run},
		Tool: cut(a.Tool, MaxName), Action: s.action(a.Action), Rule: a.Rule.kept(),
		Question: &Question{ID: a.HoldID, Reason: reason, Of: of, Version: 1, Opened: s.now,
			Until: s.now.Add(a.Rule.HoldTerm)},
	}
	return s.rec.Rows[s.add(row, "", WhyArrived)].held()
}

// reference is how a hold names this row: by its attempt; an alias by that of its committed row; an approved row, which
// has no attempt yet, by its own hold.
func (r *Row) reference() string {
	switch {
	case r.State == Alias:
		return r.AliasOf
	case r.Attempt != "":
		return r.Attempt
	default:
		return r.Question.ID
	}
}

func (r *Row) denied() Verdict { return Verdict{Kind: Denied, Hold: r.hold()} }

// consume executes an approved row: lines 1 and 6. The approval is used up unless the execution gives it back.
func (s *step) consume(i int, a Arrive) Verdict {
	s.executes(i, a.Run)
	r := s.row(i)
	r.Attempt, r.ApprovedBy, r.Grant = a.Attempt, r.Question.ID, s.nextGrant()
	r.Arrived, r.Granted, r.Renewed, r.Rule = s.now, s.now, s.now, a.Rule.kept()
	r.NotAfter = a.bound()
	s.become(i, Reserved, WhyArrived, s.now)
	return s.rec.Rows[i].granted()
}

// giveBack makes an executed approval good again after a failure that surely had no effect. The failed attempt becomes
// a row of its own, released: those who waited for it find it there, and so does its late commit. Open holds follow the
// approval, which may execute again.
func (s *step) giveBack(i int) {
	if len(s.rec.Rows) >= MaxRows {
		hold := s.rec.Rows[i].Question.ID
		s.room()
		i = s.rec.byHold(hold)
	}
	runs, action := s.copied(s.rec.Rows[i].Runs), s.action(s.rec.Rows[i].Action)
	r := s.row(i)
	failed, from := *r, r.State
	failed.State, failed.Question, failed.Runs, failed.Action = Released, nil, runs, action
	r.Attempt, r.ApprovedBy, r.End, r.Class, r.Failure = "", "", "", "", nil
	r.Grant, r.Granted, r.Renewed, r.NotAfter = 0, time.Time{}, time.Time{}, time.Time{}
	hold := r.Question.ID
	s.add(failed, from, WhyFailed)
	s.nextVersion(i)
	s.redirectHolds(failed.Attempt, hold)
	s.become(i, Approved, WhyGivenBack, s.now)
}

// useUp ends an approval whose execution was thought to have failed and did happen.
func (s *step) useUp(hold string) {
	if i := s.rec.byHold(hold); i >= 0 && s.rec.Rows[i].State == Approved {
		s.remove(i, WhyUsed, ByCommit, s.now)
	}
}

// answerHold is a human's answer. A hold that is no longer open, or is another question than the human saw, is not
// answered.
func (s *step) answerHold(c AnswerHold) Verdict {
	i := s.rec.byHold(c.Hold)
	if i < 0 {
		return Verdict{Kind: Unheard, Why: fmt.Sprintf("no hold %q", c.Hold)}
	}
	r := &s.rec.Rows[i]
	of := s.rec.referred(r.Question.Of)
	switch {
	case r.State != HeldRow:
		return Verdict{Kind: Conflict, Hold: r.hold(), Why: fmt.Sprintf("the hold is no longer open: its row is %s", r.State)}
	case c.Version != 0 && c.Version != r.Question.Version:
		return Verdict{Kind: Conflict, Hold: r.hold(),
			Why: fmt.Sprintf("the hold has version %d, the answer names %d: look at it again", r.Question.Version, c.Version)}
	case c.Decision == Duplicate && (of < 0 || s.rec.Rows[of].State != Committed):
		return Verdict{Kind: Conflict, Hold: r.hold(), Why: "duplicate needs a committed call, and the one it was held for is not"}
	}
	switch c.Decision {
	case Release:
		s.approve(i)
	case Duplicate:
		s.alias(i, s.rec.Rows[of].Attempt)
	case Deny:
		s.become(i, DeniedRow, WhyAnswered, s.now)
	default:
		return Verdict{Kind: Conflict, Hold: r.hold(),
			Why: fmt.Sprintf("the decision is %q; it must be release, duplicate or deny", c.Decision)}
	}
	s.nextVersion(i)
	s.audit(i, c.By, string(c.Decision), c.Reason)
	return Verdict{Kind: OK, Hold: s.rec.Rows[i].hold()}
}

func (s *step) approve(i int) {
	q := *s.rec.Rows[i].Question
	q.Until = s.now.Add(s.rec.Rows[i].Rule.ApprovalTerm)
	s.row(i).Question = &q
	s.become(i, Approved, WhyAnswered, s.now)
}

func (s *step) alias(i int, attempt string) {
	s.row(i).AliasOf = attempt
	s.become(i, Alias, WhyAnswered, s.now)
}

// audit appends a human's answer. A row gets two at most: to its hold, and to its doubt.
func (s *step) audit(i int, by, what, reason string) {
	r := s.row(i)
	r.Audit = append(slices.Clip(r.Audit), Answer{At: s.now, By: cut(by, MaxName), What: what, Reason: cut(reason, MaxReason)})
}

// touchHoldsOf gives open holds that refer to row i a new version: what they ask about has changed.
func (s *step) touchHoldsOf(i int) {
	for j := range s.rec.Rows {
		if q := s.rec.Rows[j].Question; j != i && s.rec.Rows[j].State == HeldRow && s.rec.Rows[i].is(q.Of) {
			s.nextVersion(j)
		}
	}
}

func (s *step) nextVersion(i int) {
	q := *s.rec.Rows[i].Question
	q.Version++
	s.row(i).Question = &q
}
