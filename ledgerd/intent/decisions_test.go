package intent

import (
	"fmt"
	"slices"
)

// decisions names the cases of the specification's tables that decide what a command does: "line 9, committed: held
// new_run" is line 9 about a committed row, "commit, released: fenced" a cell of the table of attempts, and "in_doubt ->
// committed, committed" an arrow of the diagram. It decides nothing itself: it looks at what the machine found.
func decisions(rec Record, cmd Command, at Moment) []string {
	if a, ok := cmd.(Arrive); ok {
		a.Run = RecordedRun(a.Run)
		cmd = a
	}
	found, time := Step(rec, Tick{}, at)
	_, v := Step(found, cmd, at)
	names := whatTimeDid(rec, found, at)
	if name := meets(found, cmd, at, v); name != "" {
		names = append(names, name)
	}
	if a, ok := cmd.(Arrive); ok {
		names = append(names, settingsThatCount(found, a, at)...)
	}
	for _, c := range slices.Concat(time.Changes, v.Changes) {
		names = append(names, fmt.Sprintf("%s -> %s, %s", orNone(c.From), orNone(c.To), c.Why))
	}
	return names
}

// meets names what a command found, and what it was told.
func meets(rec Record, cmd Command, at Moment, v Verdict) string {
	var met string
	told := string(v.Kind)
	switch c := cmd.(type) {
	case Arrive:
		met = arrives(rec, c, at)
		if v.Hold.ID == c.HoldID {
			told += " " + v.Hold.Reason
		}
	case Extend:
		met = "extend, " + attemptState(rec, c.Attempt)
	case Commit:
		met = "commit, " + attemptState(rec, c.Attempt)
	case Fail:
		met = fmt.Sprintf("%s, %s", c.Class, attemptState(rec, c.Attempt))
	case AnswerHold:
		met = fmt.Sprintf("%s, %s", c.Decision, holdState(rec, c))
	case Resolve:
		met = fmt.Sprintf("resolve as %s, %s", c.As, doubtState(rec, c.Attempt))
	default: // Tick
		return ""
	}
	return met + ": " + told
}

// arrives says what decides an arrival: what is known of its attempt, or a line of the table.
func arrives(rec Record, a Arrive, at Moment) string {
	run := ""
	if a.Run == "" {
		run = ", no run"
	}
	known := rec.byAttempt(a.Attempt)
	marked := slices.ContainsFunc(rec.Marks, func(m Mark) bool { return m.Fingerprint == a.Fingerprint })
	switch line, row := rec.line(a, at.Now); {
	case !a.NotAfter.IsZero() && at.Now.After(a.NotAfter):
		return "too late"
	case known >= 0 && rec.Rows[known].Fingerprint != a.Fingerprint:
		return "the attempt of another fingerprint"
	case known >= 0 || rec.ended(a.Attempt) >= 0:
		return "the attempt again, " + attemptState(rec, a.Attempt)
	case marked && line > 9 && !a.Stay:
		return "no line up to 9, a mark"
	case line == 12 && a.MovesTo != nil:
		return "line 12, under a former name"
	case line == 12 && rec.newest(a.Fingerprint, Released) >= 0:
		return "line 12, released" + run
	case line == 12:
		return "line 12" + run
	default:
		return fmt.Sprintf("line %d, %s%s", line, rec.Rows[row].State, run)
	}
}

// settingsThatCount names the rule's settings without which another line would have decided.
func settingsThatCount(rec Record, a Arrive, at Moment) (names []string) {
	line, _ := rec.line(a, at.Now)
	for setting, without := range map[string]func(r *Rule){
		"on_new_run=" + string(a.Rule.OnNewRun):         func(r *Rule) { r.OnNewRun = Hold },
		"on_same_intent=" + string(a.Rule.OnSameIntent): func(r *Rule) { r.OnSameIntent = Hold },
		"on_absent_run=" + string(a.Rule.OnAbsentRun):   func(r *Rule) { r.OnAbsentRun = Execute },
	} {
		usual := a
		without(&usual.Rule)
		if by, _ := rec.line(usual, at.Now); by != line {
			names = append(names, fmt.Sprintf("%s: line %d, else %d", setting, line, by))
		}
	}
	return names
}

// attemptState is what is known of an attempt, in the words of the table of attempts.
func attemptState(rec Record, attempt string) string {
	i := rec.byAttempt(attempt)
	if i < 0 {
		if rec.ended(attempt) >= 0 {
			return "only its end is known"
		}
		return "not known"
	}
	switch r := &rec.Rows[i]; {
	case r.State.live():
		return "live"
	case r.State == InDoubt && r.End == "":
		return "in_doubt by silence"
	case r.State == InDoubt:
		return "in_doubt by its report"
	case r.End == ByAnswer:
		return string(r.State) + " by a human"
	default:
		return string(r.State)
	}
}

// doubtState is what a human's resolve finds.
func doubtState(rec Record, attempt string) string {
	row, known := rec.Row(attempt)
	switch {
	case !known:
		return "not known"
	case row.State != InDoubt:
		return "not in doubt"
	case rec.newest(row.Fingerprint, Reserved, InFlight) >= 0:
		return "in_doubt, and executing again"
	default:
		return "in_doubt"
	}
}

// holdState is what a human's answer finds.
func holdState(rec Record, c AnswerHold) string {
	row, known := rec.RowOfHold(c.Hold)
	of, _ := rec.RowOf(question(row))
	switch {
	case !known:
		return "not known"
	case row.State != HeldRow:
		return "answered"
	case c.Version != 0 && c.Version != row.Question.Version:
		return "open, another version"
	case c.Decision == Duplicate && of.State == Committed:
		return "open, for a committed row"
	default:
		return "open"
	}
}

func question(r Row) Question {
	if r.Question == nil {
		return Question{}
	}
	return *r.Question
}

// silent says whether the end of a lease would be noticed at a moment.
func silent(rec Record, at Moment) bool {
	_, v := Step(rec, Tick{}, at)
	return slices.ContainsFunc(v.Changes, func(c Change) bool { return c.Why == WhySilent })
}

func orNone(s State) State {
	if s == "" {
		return "(none)"
	}
	return s
}

// whatTimeDid names what time did beside what it did to rows.
func whatTimeDid(before, after Record, at Moment) (names []string) {
	for what, did := range map[string]bool{
		"an ended attempt is forgotten": len(after.Ended) < len(before.Ended),
		"a mark is forgotten":           len(after.Marks) < len(before.Marks),
		"a fenced commit is forgotten":  len(after.Evidence) < len(before.Evidence),
		"an outage prolongs a lease":    silent(before, Moment{Now: at.Now}) && !silent(before, at),
		"a hold or an alias prolongs retention": slices.ContainsFunc(after.Rows, func(r Row) bool {
			return r.State == Committed && !r.due(at.Resumed).After(at.Now)
		}),
	} {
		if did {
			names = append(names, what)
		}
	}
	return names
}
