package intent

import (
	"fmt"
	"slices"
	"time"
)

// arrive decides what a call gets: what concerns its attempt comes first, then the table.
func (s *step) arrive(a Arrive) Verdict {
	a.Run = RecordedRun(a.Run)
	if !a.NotAfter.IsZero() && s.now.After(a.NotAfter) {
		return Verdict{Kind: Late}
	}
	if v, known := s.repeated(a); known {
		return v
	}
	return s.decide(a)
}

// repeated answers an arrival whose attempt is known. The same live attempt gets the same grant, so a lost answer costs
// nothing; an ended one is never granted again.
func (s *step) repeated(a Arrive) (Verdict, bool) {
	if i := s.rec.byAttempt(a.Attempt); i >= 0 {
		switch r := &s.rec.Rows[i]; {
		case r.Fingerprint != a.Fingerprint:
			return Verdict{Kind: Over, Attempt: a.Attempt, Why: "the attempt belongs to another fingerprint"}, true
		case r.State.live():
			return r.granted(), true
		case r.State == InDoubt:
			return r.doubt(), true
		default:
			return Verdict{Kind: Over, Attempt: a.Attempt, Why: "the attempt has ended: reserve with a new one"}, true
		}
	}
	if s.rec.ended(a.Attempt) >= 0 {
		return Verdict{Kind: Over, Attempt: a.Attempt, Why: "the attempt has ended: reserve with a new one"}, true
	}
	if s.rec.passed(&a) {
		return Verdict{Kind: Over, Attempt: a.Attempt, Why: "attempts that were reserved as early have ended: reserve with a new one"}, true
	}
	return Verdict{}, false
}

// decide is the table of arrivals in the package comment: each line is one case here. A fingerprint that is decided in
// another record goes there once no row of its own has decided here.
func (s *step) decide(a Arrive) Verdict {
	line, i := s.rec.line(a, s.now)
	if line > 9 {
		if v, moved := s.moved(a); moved {
			return v
		}
	}
	switch line {
	case 1:
		return s.byState(i, a)
	case 2:
		return s.joinLive(i, a)
	case 3:
		return s.stayInDoubt(i, a)
	case 4:
		return s.rec.replay(i)
	case 5:
		return s.joinHold(i, a)
	case 6:
		return s.consume(i, a)
	case 7:
		return s.rec.Rows[i].denied()
	case 8:
		return s.joinCommitted(i, a)
	case 9:
		return s.ask(a, ReasonNewRun, i)
	case 10:
		return s.ask(a, ReasonInDoubt, i)
	case 11:
		if a.Run == "" {
			return s.ask(a, ReasonAbsentRun, i)
		}
		return s.ask(a, ReasonSameIntent, i)
	default: // 12
		if a.MovesTo != nil { // but under the call's new name
			return s.leaveMark(a)
		}
		return s.reserve(a)
	}
}

// line finds the first line of the table that fits an arrival, and the row that the line is about (-1: of line 12).
func (rec Record) line(a Arrive, now time.Time) (line, row int) {
	absent := a.Run == ""
	own := rec.own(a.Fingerprint, a.Run)
	live := rec.newest(a.Fingerprint, Reserved, InFlight)
	doubt := rec.newest(a.Fingerprint, InDoubt)
	committed := rec.newest(a.Fingerprint, Committed, Alias)
	held := rec.newest(a.Fingerprint, HeldRow)
	approved := rec.newest(a.Fingerprint, Approved)
	denied := rec.newest(a.Fingerprint, DeniedRow)
	switch {
	case own >= 0 && (live < 0 || rec.Rows[own].State != InDoubt): // a retry that had no room for the run is live all the same
		return 1, own
	case live >= 0:
		return 2, live
	case doubt >= 0:
		return 3, doubt
	case absent && committed >= 0:
		return 4, committed
	case held >= 0:
		return 5, held
	case approved >= 0:
		return 6, approved
	case denied >= 0:
		return 7, denied
	case committed >= 0 && rec.joinsCommitted(committed, a.Rule, now):
		return 8, committed
	case committed >= 0 && a.Rule.OnNewRun != Execute:
		return 9, committed
	}
	doubtful, near := rec.doubtful(a.Fingerprint), rec.near(a, now)
	switch {
	case doubtful >= 0:
		return 10, doubtful
	case near >= 0 && absent && a.Rule.OnAbsentRun == Hold:
		return 11, near
	case near >= 0 && !absent && a.Rule.OnSameIntent != Execute && !rec.knows(a.Run):
		return 11, near
	default:
		return 12, -1
	}
}

// own finds the row of line 1: of the fingerprint, with the run; of several the live one, then the one in doubt, then
// the committed one or alias, then the newest.
func (rec Record) own(fingerprint, run string) int {
	best, rank := -1, 0
	for i := range rec.Rows {
		r := &rec.Rows[i]
		if r.Fingerprint != fingerprint || r.State == Released || !slices.Contains(r.Runs, run) {
			continue
		}
		if k := r.State.rank(); k >= rank {
			best, rank = i, k
		}
	}
	return best
}

func (s State) rank() int {
	switch s {
	case Reserved, InFlight:
		return 4
	case InDoubt:
		return 3
	case Committed, Alias:
		return 2
	default:
		return 1
	}
}

// doubtful finds what line 10 asks for: another fingerprint of the intent, in doubt.
func (rec Record) doubtful(fingerprint string) int {
	return slices.IndexFunc(rec.Rows, func(r Row) bool { return r.Fingerprint != fingerprint && r.State == InDoubt })
}

// near finds what line 11 asks for: another fingerprint of the intent that executes, was committed or may execute,
// within the horizon.
func (rec Record) near(a Arrive, now time.Time) int {
	return slices.IndexFunc(rec.Rows, func(r Row) bool {
		return r.Fingerprint != a.Fingerprint && (r.State.live() || r.State == Committed || r.State == Approved) &&
			!now.After(r.Arrived.Add(a.Rule.horizon()))
	})
}

// knows says whether a run is among those of a row of the intent that executes or was committed: such a run means what
// it says when it spells the call otherwise.
func (rec Record) knows(run string) bool {
	return slices.ContainsFunc(rec.Rows, func(r Row) bool {
		return (r.State.live() || r.State == Committed) && slices.Contains(r.Runs, run)
	})
}

// byState is line 1: the run's own row decides by its state.
func (s *step) byState(i int, a Arrive) Verdict {
	switch r := &s.rec.Rows[i]; r.State {
	case Reserved, InFlight:
		return r.wait()
	case Committed, Alias:
		return s.rec.replay(i)
	case InDoubt:
		return s.stayInDoubt(i, a)
	case HeldRow:
		return r.held()
	case DeniedRow:
		return r.denied()
	default: // Approved
		return s.consume(i, a)
	}
}

func (s *step) joinLive(i int, a Arrive) Verdict {
	s.join(i, a.Run)
	return s.rec.Rows[i].wait()
}

func (s *step) joinHold(i int, a Arrive) Verdict {
	s.join(i, a.Run)
	return s.rec.Rows[i].held()
}

// joinsCommitted says whether a new run belongs to a committed row or alias: within the window, which never slides, or
// where the rule joins all.
func (rec Record) joinsCommitted(i int, rule Rule, now time.Time) bool {
	return rule.OnNewRun == Join || !now.After(rec.Rows[i].Arrived.Add(rule.Window))
}

func (s *step) joinCommitted(i int, a Arrive) Verdict {
	s.join(i, a.Run)
	return s.rec.replay(i)
}

// reserve is line 12: nothing speaks against the call, it executes.
func (s *step) reserve(a Arrive) Verdict {
	if v, full := s.full(&a); full {
		return v
	}
	return s.rec.Rows[s.add(s.fresh(a), "", WhyArrived)].granted()
}

// fresh is a row for an arrival that executes.
func (s *step) fresh(a Arrive) Row {
	return Row{
		Fingerprint: a.Fingerprint, State: Reserved, Arrived: s.now, Attempt: a.Attempt, Grant: s.nextGrant(),
		Granted: s.now, Renewed: s.now, NotAfter: a.bound(), Runs: []string{a.Run}, Tool: cut(a.Tool, MaxName),
		Action: s.action(a.Action), Rule: a.Rule.kept(),
	}
}

// bound is NotAfter as a record keeps it.
func (a *Arrive) bound() time.Time { return a.NotAfter.Round(0).UTC() }

func (s *step) nextGrant() int64 {
	s.rec.Grants++
	return s.rec.Grants
}

// full refuses an arrival for which the record has no room.
func (s *step) full(a *Arrive) (Verdict, bool) {
	if a.NotAfter.IsZero() && s.rec.crowded() {
		return s.refuse(fmt.Sprintf("%d attempts of this intent that ended are remembered, as many as may be for a reserve without a not_after", MaxUnbound)), true
	}
	if !s.room() {
		return s.refuse(fmt.Sprintf("the intent has %d rows, as many as it may have (a fixed limit), and none is released: a row goes when its retention ends", MaxRows)), true
	}
	return Verdict{}, false
}

// refuse says when it may be tried again: when something in the record goes, at the latest after a while.
func (s *step) refuse(why string) Verdict {
	const soon, late = time.Second, time.Minute
	retry := late
	if due := s.rec.Due(s.resumed); !due.IsZero() {
		retry = min(max(due.Sub(s.now), soon), late)
	}
	return Verdict{Kind: Full, Why: why, RetryAfter: retry}
}
