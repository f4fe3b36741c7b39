package intent

import (
	"slices"
	"time"
)

// Moment is when a command happens, by the store's clock.
type Moment struct {
	Now time.Time
	// Resumed is when the ledger as a whole was last found to work again after an outage; zero: it never failed. While
	// it was away no attempt could extend its lease, so every lease that is still open then gets one more full term:
	// it counts from Resumed where its last sign of life is older. The ledger keeps Resumed in the store, sets it
	// before it decides anything after an outage, and every node gives the same one.
	Resumed time.Time
}

// Step says what a command does to a record at a moment, and what its sender is told. First time passes: whatever
// lease, term or retention ended by then has its effect, at the very moment that it ended, so it does not matter how
// often or how late a record is looked at. Then the command happens.
//
// The new record may share memory with the old one; neither is ever written to. Where the verdict says Changed, the
// new record must be durable before the verdict is sent, together with the bytes that Keep names.
func Step(rec Record, cmd Command, at Moment) (Record, Verdict) {
	s := step{rec: rec, now: at.Now.Round(0).UTC(), resumed: at.Resumed.Round(0).UTC()}
	s.pass()
	v := s.do(cmd)
	v.Changed, v.Changes = s.changed, s.changes
	return s.rec, v
}

func (s *step) do(cmd Command) Verdict {
	switch c := cmd.(type) {
	case Arrive:
		return s.arrive(c)
	case Extend:
		return s.extend(c)
	case Commit:
		return s.commit(c)
	case Fail:
		return s.fail(c)
	case AnswerHold:
		return s.answerHold(c)
	case Resolve:
		return s.resolve(c)
	default: // Tick
		return Verdict{Kind: OK}
	}
}

// step is one call of Step under way: the record as it becomes, and what was done to it.
type step struct {
	rec          Record
	now, resumed time.Time
	owned        bool // rec.Rows is this step's own copy
	changed      bool
	changes      []Change
}

// row gives a row to write to. Its slices and pointers are still shared: they are replaced, never written through.
func (s *step) row(i int) *Row {
	s.ownRows()
	return &s.rec.Rows[i]
}

func (s *step) ownRows() {
	s.changed = true
	if !s.owned {
		s.owned, s.rec.Rows = true, append(make([]Row, 0, len(s.rec.Rows)+1), s.rec.Rows...)
	}
}

// add puts a new row at the end; from is the state that it had as a part of another row.
func (s *step) add(r Row, from State, why Why) int {
	s.ownRows()
	r.Since = s.now
	s.rec.Rows = append(s.rec.Rows, r)
	i := len(s.rec.Rows) - 1
	s.note(i, from, why, s.now)
	return i
}

// become moves a row to another state at a moment.
func (s *step) become(i int, to State, why Why, at time.Time) {
	r := s.row(i)
	from := r.State
	r.State, r.Since = to, at
	s.note(i, from, why, at)
	if !(from.live() && to.live()) {
		s.touchHoldsOf(i)
	}
}

// note writes a change of row i into its history and into the step's changes.
func (s *step) note(i int, from State, why Why, at time.Time) {
	r := s.row(i)
	r.History = remember(r.History, Event{At: at, State: r.State, Why: why})
	s.changes = append(s.changes, change(r, from, r.State, why, at))
}

func change(r *Row, from, to State, why Why, at time.Time) Change {
	c := Change{Fingerprint: r.Fingerprint, Attempt: r.Attempt, Tool: r.Tool, Rule: r.Rule.Name,
		From: from, To: to, Why: why, At: at}
	if r.Question != nil {
		c.Hold = r.Question.ID
	}
	return c
}

// remember appends to a history; a full one forgets its second event: how a row began stays known.
func remember(h []Event, e Event) []Event {
	if len(h) >= MaxHistory {
		h = slices.Concat(h[:1], h[len(h)-MaxHistory+2:])
	}
	return append(slices.Clip(h), e)
}

// remove takes a row out. Where its attempt's reserve may still be under way, that it has ended stays known.
func (s *step) remove(i int, why Why, end End, at time.Time) {
	s.ownRows()
	r := s.rec.Rows[i]
	s.changes = append(s.changes, change(&r, r.State, "", why, at))
	s.rec.Rows = slices.Delete(s.rec.Rows, i, i+1)
	if r.Attempt == "" {
		return
	}
	if e := ended(&r, end); e.Until.After(at) {
		s.entomb(e)
	}
}

// room makes room for one more row, and says whether there is any.
func (s *step) room() bool {
	if len(s.rec.Rows) < MaxRows {
		return true
	}
	oldest := slices.IndexFunc(s.rec.Rows, func(r Row) bool { return r.State == Released })
	if oldest < 0 {
		return false
	}
	s.remove(oldest, WhyEvicted, s.rec.Rows[oldest].End, s.now)
	return true
}
