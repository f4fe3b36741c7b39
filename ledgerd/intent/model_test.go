package intent

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The reference model reads the specification in another way: no attempts, no leases, no retention; one list of rows, and
// every execution ends as it is told to. It is written apart from Step and agrees with it wherever both speak.
type model struct{ rows []*modelRow }

type modelRow struct {
	fingerprint  string
	firstArrival time.Time
	runs         map[string]bool
	state        State
	of           *modelRow // of a held row: what it may repeat
	approved     bool      // executes by a person's approval
	attempt      string
	hold         string
}

// arrive is the table of arrivals. Its second result is the row that decides.
func (m *model) arrive(fingerprint, run, attempt, hold string, now time.Time) (VerdictKind, *modelRow) {
	newest := func(states ...State) *modelRow {
		for i := len(m.rows) - 1; i >= 0; i-- {
			if m.rows[i].fingerprint == fingerprint && slices.Contains(states, m.rows[i].state) {
				return m.rows[i]
			}
		}
		return nil
	}
	execute := func(r *modelRow) (VerdictKind, *modelRow) {
		r.state, r.firstArrival, r.attempt, r.runs[run] = Reserved, now, attempt, true
		return Granted, r
	}
	add := func(state State) *modelRow {
		r := &modelRow{fingerprint: fingerprint, firstArrival: now, runs: map[string]bool{run: true}, state: state}
		m.rows = append(m.rows, r)
		return r
	}
	ask := func(of *modelRow) (VerdictKind, *modelRow) {
		r := add(HeldRow)
		r.of, r.hold = of, hold
		if of.state == Alias {
			r.of = of.of
		}
		return Held, r
	}
	join := func(r *modelRow, kind VerdictKind) (VerdictKind, *modelRow) {
		r.runs[run] = true
		return kind, r
	}
	told := map[State]VerdictKind{Reserved: Wait, Committed: Replay, Alias: Replay, InDoubt: Doubt, HeldRow: Held,
		DeniedRow: Denied}

	for _, states := range [][]State{{Reserved}, {InDoubt}, {Committed, Alias}, {HeldRow, Approved, DeniedRow}} {
		for _, own := range slices.Backward(m.rows) { // 1
			if own.fingerprint == fingerprint && own.runs[run] && slices.Contains(states, own.state) {
				if own.state == Approved {
					return execute(own)
				}
				return told[own.state], own
			}
		}
	}
	if r := newest(Reserved); r != nil { // 2
		return join(r, Wait)
	}
	if r := newest(InDoubt); r != nil { // 3
		return Doubt, r
	}
	committed := newest(Committed, Alias)
	if run == "" && committed != nil { // 4
		return Replay, committed
	}
	if r := newest(HeldRow); r != nil { // 5
		return join(r, Held)
	}
	if r := newest(Approved); r != nil { // 6
		return execute(r)
	}
	if r := newest(DeniedRow); r != nil { // 7
		return Denied, r
	}
	if committed != nil && !now.After(committed.firstArrival.Add(5*time.Second)) { // 8
		return join(committed, Replay)
	}
	if committed != nil { // 9
		return ask(committed)
	}
	var near *modelRow
	known := false
	for _, r := range m.rows {
		if r.fingerprint == fingerprint {
			continue
		}
		if r.state == InDoubt { // 10
			return ask(r)
		}
		if near == nil && slices.Contains([]State{Reserved, Committed, Approved}, r.state) &&
			!now.After(r.firstArrival.Add(time.Hour)) {
			near = r
		}
		known = known || (r.state == Reserved || r.state == Committed) && r.runs[run]
	}
	if near != nil && run != "" && !known { // 11
		return ask(near)
	}
	return execute(add(Reserved)) // 12
}

// ends says how a reserved row ended, or a row in doubt as a person resolved it.
func (m *model) ends(r *modelRow, as State) {
	r.state = as
	if as == Released && r.approved {
		r.state = Approved
	}
	m.rows = slices.DeleteFunc(m.rows, func(r *modelRow) bool { return r.state == Released })
}

func (m *model) answer(r *modelRow, d Decision) bool {
	if d == Duplicate && r.of.state != Committed {
		return false
	}
	r.state = map[Decision]State{Release: Approved, Duplicate: Alias, Deny: DeniedRow}[d]
	r.approved = d == Release
	return true
}

func TestAgreesWithTheReferenceModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	rule := usual()
	const ever = 1e6 * time.Hour
	rule.Lease, rule.Retention, rule.HoldTerm, rule.ApprovalTerm, rule.Horizon = ever, ever, ever, ever, time.Hour
	for range 1000 {
		m, rec, at, log := &model{}, Record{}, Moment{Now: start}, []string{}
		for n := range 60 {
			at.Now = at.Now.Add(pick(random, 0, time.Second, 3*time.Second, 10*time.Minute))
			var v Verdict
			var cmd Command
			want, row := OK, (*modelRow)(nil)
			pickRow := func(states ...State) bool {
				rows := slices.DeleteFunc(slices.Clone(m.rows), func(r *modelRow) bool { return !slices.Contains(states, r.state) })
				if len(rows) > 0 {
					row = pick(random, rows...)
				}
				return row != nil
			}
			switch random.IntN(8) {
			case 0:
				if !pickRow(Reserved, InDoubt) {
					continue
				}
				cmd = Commit{Attempt: row.attempt}
				m.ends(row, Committed)
			case 1:
				if !pickRow(Reserved, InDoubt) {
					continue
				}
				cmd = Fail{Attempt: row.attempt, Class: pick(random, NotSent, Definite)}
				m.ends(row, Released)
			case 2:
				if !pickRow(Reserved) {
					continue
				}
				cmd = Fail{Attempt: row.attempt, Class: Unknown}
				m.ends(row, InDoubt)
			case 3:
				if !pickRow(HeldRow) {
					continue
				}
				d := pick(random, Release, Duplicate, Deny)
				cmd = AnswerHold{Hold: row.hold, Decision: d}
				if !m.answer(row, d) {
					want = Conflict
				}
			default:
				a := Arrive{Attempt: fmt.Sprintf("a%d", n), HoldID: fmt.Sprintf("h%d", n), Rule: rule,
					Fingerprint: pick(random, "f", "f", "g", "e"), Run: pick(random, "", "r", "s", "t", "u", "v")}
				cmd = a
				want, row = m.arrive(a.Fingerprint, a.Run, a.Attempt, a.HoldID, at.Now)
			}
			log = append(log, fmt.Sprintf("%s %+v", at.Now.Sub(start), cmd))
			rec, v = Step(rec, cmd, at)
			if v.Kind != want || v.Kind == Granted && v.Attempt != row.attempt || v.Kind == Held && v.Hold.ID != row.hold {
				t.Fatalf("%v\nStep says %s, the model says %s of %+v", log, (&story{at: at}).verdict(v), want, row)
			}
			for _, r := range m.rows {
				if got, ok := rec.Row(r.attempt); r.attempt != "" && r.state != Approved && (!ok || got.State != r.state) {
					t.Fatalf("%v\nStep has %s in state %q, the model %q", log, r.attempt, got.State, r.state)
				}
			}
		}
	}
}
