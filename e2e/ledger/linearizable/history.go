package linearizable

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"idem/ledgerd/wire"
)

// History is what was called, and what was answered.
type History struct {
	Seed  uint64
	o     Options
	clock *Clock
	calls []*call
	rules rules
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
