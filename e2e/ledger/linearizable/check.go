package linearizable

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// Options say what histories are made.
type Options struct {
	Seed      uint64
	Nodes     int           // ledgers; 0: 3
	Clients   int           // 0: 6
	Calls     int           // of each client; 0: 30
	Intents   int           // 0: 2
	SoleOwner bool          // one ledger, which knows that it is the only one
	Faults    bool          // the store fails
	Patience  time.Duration // how long a ledger waits for its store; 0: 40 ms

	// Processes are the ledgers, in place of those that would be made here; there is no store then and no clock.
	Processes []Process

	// Break makes every node's store break its contract: for showing that the checker notices.
	Break func(s store.Store, random *rand.Rand) store.Store
}

func (o Options) withDefaults() Options {
	for n, def := range map[*int]int{&o.Nodes: 3, &o.Clients: 6, &o.Calls: 30, &o.Intents: 2} {
		if *n == 0 {
			*n = def
		}
	}
	if o.Patience == 0 {
		o.Patience = 40 * time.Millisecond
	}
	if o.SoleOwner {
		o.Nodes = 1
	}
	return o
}

// Driver gives as many views on one new store as there are nodes, each the way a process has its own, all by one clock.
// They are closed when the test ends.
type Driver func(t testing.TB, clock *Clock, nodes int) []store.Store

// Maker makes histories over one store, one after the other.
type Maker struct {
	t      testing.TB
	o      Options
	stores []store.Store
	clock  *Clock
	made   int
}

// NewMaker opens the store. There is none of Processes: open is nil then.
func NewMaker(t testing.TB, open Driver, o Options) *Maker {
	t.Helper()
	m := &Maker{t: t, o: o.withDefaults(), clock: NewClock()}
	if open != nil {
		m.stores = open(t, m.clock, m.o.Nodes)
	}
	return m
}

// History is what was called, and what was answered.
type History struct {
	Seed  uint64
	o     Options
	clock *Clock
	calls []*call
	rules rules
}

// Make makes a history.
func (m *Maker) Make() *History {
	m.t.Helper()
	seed := m.o.Seed + uint64(m.made)*1_000_003
	m.made++
	random := rand.New(rand.NewPCG(seed, 0))
	stores := slices.Clone(m.stores)
	if m.o.Break != nil {
		for i, s := range stores {
			stores[i] = m.o.Break(s, rand.New(rand.NewPCG(seed, uint64(1000+i))))
		}
	}
	w := newWorld(m.t, m.o, stores, m.clock, seed, random)
	w.begin()
	var all sync.WaitGroup
	for i := range m.o.Clients {
		c := &client{w: w, number: i, random: rand.New(rand.NewPCG(seed, uint64(1+i))), left: m.o.Calls}
		all.Go(c.run)
	}
	all.Wait()
	w.end(random)
	w.stop()
	for _, c := range w.calls {
		c.raced = races(c, w.calls)
	}
	return &History{Seed: seed, o: m.o, clock: m.clock, calls: w.calls, rules: w.rules}
}

// races says whether the result that a call was to give may have gone in its time: because its retention ended, or because
// it was a failure and the attempt's success came after all.
func races(c *call, calls []*call) bool {
	return c.to > c.from || slices.ContainsFunc(calls, func(o *call) bool {
		return o.intent == c.intent && o.op.Kind == wire.OpCommit && o.op.Attempt == c.answer.Attempt && o.began <= c.ended && o.ended >= c.began
	})
}

// Size is how many calls a history has, how many of them have an outcome that is not known, and how often one may have
// taken effect once more.
func (h *History) Size() (calls, unknowns, perhaps int) {
	for _, c := range h.calls {
		if c.idle {
			continue
		}
		calls++
		if c.heard == unknown {
			unknowns++
		}
		perhaps += c.effects
	}
	return calls, unknowns, perhaps
}

// events gives the history of one intent in porcupine's terms, and its calls by id.
func (h *History) events(intent string) ([]porcupine.Operation, map[int]*call) {
	var ops []porcupine.Operation
	calls := map[int]*call{}
	put := func(c *call, k kind, from, to int64) {
		calls[c.id] = c
		ops = append(ops, porcupine.Operation{ClientId: c.client, Input: event{c, k}, Call: from, Return: to})
	}
	for _, c := range h.calls {
		if c.intent != intent || c.idle {
			continue
		}
		if c.effects > 0 {
			put(c, opens, c.began, c.began)
		}
		if c.heard == answered {
			put(c, told, c.began, c.ended)
		}
		if c.effects > 0 && c.heard == answered {
			put(c, shuts, c.ended, c.ended)
		}
	}
	return ops, calls
}

// intents gives those that were called.
func (h *History) intents() []string {
	var keys []string
	for _, c := range h.calls {
		if !slices.Contains(keys, c.intent) {
			keys = append(keys, c.intent)
		}
	}
	return keys
}

// searchTime bounds the search for one intent's order. The search may take for ever, for a history that was too wild.
const searchTime = 5 * time.Second

// ErrUndecided says that the search took too long.
var ErrUndecided = errors.New("linearizable: no order was found in time, and none was excluded")

// Linearizable searches for an order for every intent. The error says what is wrong, and where it can be looked at.
func (h *History) Linearizable() error {
	for _, key := range h.intents() {
		ops, calls := h.events(key)
		spec := newModel(h.clock, len(h.o.Processes) == 0).porcupine(calls)
		switch porcupine.CheckOperationsTimeout(spec, ops, searchTime) {
		case porcupine.Ok:
		case porcupine.Unknown:
			return fmt.Errorf("history %d, %d events, %v: %w", h.Seed, len(ops), searchTime, ErrUndecided)
		default:
			return &Violation{h, key, spec, ops}
		}
	}
	return nil
}

// Violation says that no order explains the answers for an intent.
type Violation struct {
	history *History
	intent  string
	spec    porcupine.Model
	ops     []porcupine.Operation
}

func (v *Violation) Error() string {
	return fmt.Sprintf("history %d is not linearizable: no order explains the answers for intent %.8s", v.history.Seed, v.intent)
}

// Draw draws the history as a page for a browser, tells it as a text beside, and says where both are.
func (v *Violation) Draw() string {
	dir, err := os.MkdirTemp("", "linearizable-")
	if err != nil {
		return fmt.Sprintf("it cannot be drawn: %v", err)
	}
	_, info := porcupine.CheckOperationsVerbose(v.spec, v.ops, 10*searchTime)
	page := filepath.Join(dir, "history.html")
	if err := porcupine.VisualizePath(v.spec, info, page); err != nil {
		return fmt.Sprintf("it cannot be drawn: %v", err)
	}
	told := filepath.Join(dir, "history.txt")
	if err := os.WriteFile(told, []byte(v.tell(info)), 0o600); err != nil {
		return fmt.Sprintf("see %s; it cannot be told: %v", page, err)
	}
	return fmt.Sprintf("see %s and %s", page, told)
}

// tell writes the events in the order of their beginnings, and the longest part of them that has an order.
func (v *Violation) tell(info porcupine.LinearizationInfo) string {
	ops := slices.Clone(v.ops)
	slices.SortStableFunc(ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	text := "all events\n"
	for _, op := range ops {
		e := op.Input.(event)
		text += fmt.Sprintf("%10d %10d  #%d client %d node %d  %v\n", op.Call/1000, min(op.Return/1000, 1e9), e.id, e.client, e.node, e)
	}
	text += "\nwithout effect\n"
	for _, c := range v.history.calls {
		if c.intent == v.intent && c.idle {
			text += fmt.Sprintf("%10d %10d  #%d client %d node %d  %v\n", c.began/1000, c.ended/1000, c.id, c.client, c.node, c)
		}
	}
	var longest []porcupine.Operation
	for _, partial := range info.PartialLinearizationsOperations()[0] {
		if len(partial) > len(longest) {
			longest = partial
		}
	}
	text += "\nthe longest order that was found\n"
	placed := map[event]int{}
	for _, op := range longest {
		e := op.Input.(event)
		placed[e]++
		text += fmt.Sprintf("  #%d client %d node %d  %v\n", e.id, e.client, e.node, e)
	}
	text += "\nwithout a place in it\n"
	for _, op := range ops {
		e := op.Input.(event)
		if placed[e]--; placed[e] < 0 {
			text += fmt.Sprintf("  #%d client %d node %d  %v\n", e.id, e.client, e.node, e)
		}
	}
	return text
}
