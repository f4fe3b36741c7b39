package intent

import (
	"slices"
	"time"
)

// The methods below read a record as it stands. For what holds now, ask the record that Step gave for this moment:
// Step(rec, Tick{}, at).

// Empty says that nothing is known of the intent: the record need not be stored.
func (rec Record) Empty() bool {
	return len(rec.Rows) == 0 && len(rec.Ended) == 0 && rec.Past.IsZero() && len(rec.Marks) == 0 && len(rec.Evidence) == 0
}

// Attempt answers whoever awaits an attempt: Wait (it executes, Since its grant), Replay (its Result), Failed (its
// Class and the tool's own failure), Doubt (Since), Gone (nothing is known of it, or a human said that it did not
// happen: reserve anew).
func (rec Record) Attempt(attempt string) Verdict {
	i := rec.byAttempt(attempt)
	if i < 0 {
		return Verdict{Kind: Gone, Attempt: attempt}
	}
	r := &rec.Rows[i]
	switch {
	case r.State.live():
		return r.wait()
	case r.State == Committed:
		return rec.replay(i)
	case r.State == InDoubt:
		return r.doubt()
	case r.State == Released && r.End == ByFailure:
		return Verdict{Kind: Failed, Attempt: attempt, Class: r.Class, Result: r.Failure}
	default:
		return Verdict{Kind: Gone, Attempt: attempt}
	}
}

// HoldState answers whoever awaits a hold: Held (it is open), Answered (reserve anew), Gone (nothing is known of it).
func (rec Record) HoldState(hold string) Verdict {
	i := rec.byHold(hold)
	switch {
	case i < 0:
		return Verdict{Kind: Gone, Hold: HoldRef{ID: hold}}
	case rec.Rows[i].State == HeldRow:
		return rec.Rows[i].held()
	default:
		return Verdict{Kind: Answered, Hold: rec.Rows[i].hold()}
	}
}

// Row gives the row of an attempt.
func (rec Record) Row(attempt string) (Row, bool) { return rec.at(rec.byAttempt(attempt)) }

// RowOfHold gives the row that a hold asks about, whatever became of it.
func (rec Record) RowOfHold(hold string) (Row, bool) { return rec.at(rec.byHold(hold)) }

// RowOf gives the row that an open hold may repeat, as its Question names it. There may be none any more.
func (rec Record) RowOf(q Question) (Row, bool) { return rec.at(rec.referred(q.Of)) }

// OpenHolds gives the rows that ask a human; each has a Question.
func (rec Record) OpenHolds() []Row { return rec.in(HeldRow) }

// Doubts gives the rows in doubt.
func (rec Record) Doubts() []Row { return rec.in(InDoubt) }

// Results names the keys of all bytes that the record counts on: results, kept failures, fenced commits. What the
// former record named and the new one does not may be dropped.
func (rec Record) Results() []string {
	var keys []string
	name := func(r *Result) {
		if r != nil && r.Missing == "" {
			keys = append(keys, r.Attempt)
		}
	}
	for i := range rec.Rows {
		name(rec.Rows[i].Result)
		name(rec.Rows[i].Failure)
	}
	for i := range rec.Evidence {
		name(&rec.Evidence[i].Result)
	}
	return keys
}

// ReleasableAfter is when a human may resolve the row as released: no execution can be under way any more.
func (r Row) ReleasableAfter() time.Time {
	return r.Granted.Add(r.Rule.ExecutionTimeout + r.Rule.Lease/2)
}

func (rec Record) at(i int) (Row, bool) {
	if i < 0 {
		return Row{}, false
	}
	return rec.Rows[i], true
}

func (rec Record) in(state State) []Row {
	var rows []Row
	for _, r := range rec.Rows {
		if r.State == state {
			rows = append(rows, r)
		}
	}
	return rows
}

func (rec Record) byAttempt(attempt string) int {
	return slices.IndexFunc(rec.Rows, func(r Row) bool { return attempt != "" && r.Attempt == attempt })
}

func (rec Record) byHold(hold string) int {
	return slices.IndexFunc(rec.Rows, func(r Row) bool { return r.Question != nil && r.Question.ID == hold })
}

// referred finds the row that a hold refers to: by its attempt, or by its own hold where it had no attempt yet.
func (rec Record) referred(of string) int {
	return slices.IndexFunc(rec.Rows, func(r Row) bool { return r.is(of) })
}

// is says whether a hold or an alias that refers to of refers to this row.
func (r *Row) is(of string) bool {
	return of != "" && (r.Attempt == of || r.Question != nil && r.Question.ID == of)
}

// newest finds the last row of a fingerprint in one of some states.
func (rec Record) newest(fingerprint string, states ...State) int {
	for i := len(rec.Rows) - 1; i >= 0; i-- {
		if r := &rec.Rows[i]; r.Fingerprint == fingerprint && slices.Contains(states, r.State) {
			return i
		}
	}
	return -1
}

// overtaken says whether a newer attempt of row i's fingerprint is live, in doubt or committed.
func (rec Record) overtaken(i int) bool {
	row := &rec.Rows[i]
	return slices.ContainsFunc(rec.Rows, func(r Row) bool {
		return r.Fingerprint == row.Fingerprint && r.Grant > row.Grant && r.State.counts()
	})
}

// What a caller is told of a row.

func (r *Row) granted() Verdict {
	return Verdict{Kind: Granted, Attempt: r.Attempt, Lease: r.Rule.Lease, Recorded: r.Fingerprint, Since: r.Granted, ApprovedBy: r.ApprovedBy}
}

func (r *Row) wait() Verdict  { return Verdict{Kind: Wait, Attempt: r.Attempt, Since: r.Granted} }
func (r *Row) doubt() Verdict { return Verdict{Kind: Doubt, Attempt: r.Attempt, Since: r.Since} }
func (r *Row) held() Verdict  { return Verdict{Kind: Held, Hold: r.hold()} }

func (r *Row) hold() HoldRef {
	return HoldRef{ID: r.Question.ID, Reason: r.Question.Reason, Of: r.Question.Of, Version: r.Question.Version}
}

// replay tells the result of row i, which is committed or an alias. The row that an alias names is there as long as
// the alias is.
func (rec Record) replay(i int) Verdict {
	r := &rec.Rows[i]
	if r.State == Alias {
		r = &rec.Rows[rec.byAttempt(r.AliasOf)]
	}
	return Verdict{Kind: Replay, Attempt: r.Attempt, Result: r.Result}
}
