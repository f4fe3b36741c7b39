package linearizable

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"idem/ledgerd/intent"
	"idem/ledgerd/wire"
)

// model is the state machine as porcupine's specification of one intent's record. It remembers every step that it took:
// the search comes to the same ones again and again.
//
// What may have taken effect without anybody having been told stands beside the record (see [place]) and takes effect
// when something that was answered needs it. Porcupine therefore only orders what was answered; it would otherwise try
// every order of operations that nobody saw.
type model struct {
	clock *Clock
	exact bool // answers say the moments of their decisions, and moments count

	states  map[string]*state // by how they are stored: equal texts are equal records
	places  map[placeKey]*place
	sets    map[string]*set
	steps   map[stepKey]*set
	grown   map[*set]*set
	decided map[decision]*state
}

// state is one thing that the record may be.
type state struct {
	id  int
	rec intent.Record
}

// place is a state, and what may take effect from there on.
type place struct {
	id int
	*state
	open string // for each call its id and how often it may take effect: see opened
}

// set is where the history may be, for all that is known, at some place of an order.
type set struct {
	id     int
	places []*place
}

// kind is what an event stands for.
type kind int

const (
	told  kind = iota // the call took effect, and its answer is the machine's
	opens             // from here on the call may take effect without having been answered
	shuts             // and from here on no longer
)

// event is what porcupine orders.
type event struct {
	*call
	kind kind
}

type placeKey struct {
	state int
	open  string
}

type stepKey struct {
	set, call int
	kind      kind
}

// decision is one step of the machine that was taken.
type decision struct {
	state, call int
	told        bool
	at          int64
}

func newModel(clock *Clock, exact bool) *model {
	return &model{
		clock: clock, exact: exact, states: map[string]*state{}, places: map[placeKey]*place{}, sets: map[string]*set{},
		steps: map[stepKey]*set{}, grown: map[*set]*set{}, decided: map[decision]*state{},
	}
}

// porcupine gives the model in porcupine's terms, for a history of these calls.
func (m *model) porcupine(calls map[int]*call) porcupine.Model {
	nothing := m.set(m.place(m.state(intent.Record{}), ""))
	return porcupine.Model{
		Init: func() any { return nothing },
		Step: func(s, in, _ any) (bool, any) {
			next := m.step(s.(*set), in.(event), calls)
			return len(next.places) > 0, next
		},
		Equal:             func(a, b any) bool { return a == b },
		Hash:              func(s any) uint64 { return uint64(s.(*set).id) },
		DescribeOperation: func(in, _ any) string { return in.(event).String() },
		DescribeState:     func(s any) string { return s.(*set).String() },
	}
}

// step gives where the history may be after an event. Nowhere: the answer is none that the machine could have given.
func (m *model) step(s *set, e event, calls map[int]*call) *set {
	key := stepKey{s.id, e.id, e.kind}
	if next, known := m.steps[key]; known {
		return next
	}
	var after []*place
	switch e.kind {
	case opens:
		for _, p := range s.places {
			after = append(after, m.place(p.state, opened(p.open, e.id, e.effects)))
		}
	case shuts:
		for _, p := range s.places {
			after = append(after, m.place(p.state, opened(p.open, e.id, 0)))
		}
	default:
		for _, p := range m.grow(s, calls).places {
			for _, at := range m.moments(e.call, true) {
				if next := m.decide(p.state, e.call, true, at); next != nil {
					after = append(after, m.place(next, p.open))
				}
			}
			if e.remembered(&p.rec) || e.unlisted(&p.rec) {
				after = append(after, p)
			}
		}
	}
	next := m.set(after...)
	m.steps[key] = next
	return next
}

// grow gives a set with everything that it may come to by what may take effect without having been answered.
func (m *model) grow(s *set, calls map[int]*call) *set {
	if all, known := m.grown[s]; known {
		return all
	}
	all := slices.Clone(s.places)
	met := map[*place]bool{}
	for _, p := range all {
		met[p] = true
	}
	for i := 0; i < len(all); i++ {
		p := all[i]
		for id, n := range readOpen(p.open) {
			for _, at := range m.moments(calls[id], false) {
				next := m.decide(p.state, calls[id], false, at)
				if next == p.state {
					continue // it may as well happen later
				}
				if q := m.place(next, opened(p.open, id, n-1)); !met[q] {
					met[q] = true
					all = append(all, q)
				}
			}
		}
	}
	m.grown[s] = m.set(all...)
	return m.grown[s]
}

// moments gives when a call may have been decided: when it was answered, or when it took effect besides.
func (m *model) moments(c *call, told bool) []int64 {
	switch {
	case !m.exact:
		return []int64{0}
	case !told:
		return c.moments
	case c.human == nil && !c.waits():
		return []int64{c.answer.Now}
	case c.at != 0:
		return []int64{c.at}
	}
	return m.clock.shown(c.from, c.to)
}

// waits says whether the call is an await: its answer says when it was sent, not since when it is true.
func (c *call) waits() bool { return c.human == nil && c.op.Kind == wire.OpAwait }

// decide takes one step of the machine. Where the call was told something, nil says that the machine says something
// else.
func (m *model) decide(before *state, c *call, told bool, at int64) *state {
	key := decision{before.id, c.id, told, at}
	next, known := m.decided[key]
	if !known {
		next = m.take(before, c, told, at)
		m.decided[key] = next
	}
	return next
}

func (m *model) take(before *state, c *call, told bool, at int64) *state {
	now := time.Unix(0, 0).UTC()
	if m.exact {
		now = moment(at)
	}
	rec, v := intent.Step(before.rec, c.command(), intent.Moment{Now: now})
	n := &naming{}
	if told && !c.answers(&rec, &v, m.exact, n) {
		return nil
	}
	next := before
	if v.Changed {
		next = m.state(rec)
	}
	if len(n.found) == 0 {
		return next
	}
	if rec, ok := n.apply(next.rec); ok {
		return m.state(rec)
	}
	return nil
}

func (m *model) state(rec intent.Record) *state {
	text := rec.AppendTo(nil)
	s := m.states[string(text)]
	if s == nil {
		s = &state{id: len(m.states), rec: rec}
		m.states[string(text)] = s
	}
	return s
}

func (m *model) place(s *state, open string) *place {
	key := placeKey{s.id, open}
	p := m.places[key]
	if p == nil {
		p = &place{id: len(m.places), state: s, open: open}
		m.places[key] = p
	}
	return p
}

// set gives a set without places that others contain: where the record is the same, and whatever may take effect there
// may take effect here too.
func (m *model) set(places ...*place) *set {
	slices.SortFunc(places, func(a, b *place) int { return a.id - b.id })
	places = slices.Compact(places)
	least := slices.DeleteFunc(slices.Clone(places), func(p *place) bool {
		return slices.ContainsFunc(places, func(q *place) bool { return p != q && p.state == q.state && within(p.open, q.open) })
	})
	var name strings.Builder
	for _, p := range least {
		fmt.Fprintf(&name, "%d,", p.id)
	}
	known := m.sets[name.String()]
	if known == nil {
		known = &set{id: len(m.sets), places: least}
		m.sets[name.String()] = known
	}
	return known
}
