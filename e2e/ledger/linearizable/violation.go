package linearizable

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/anishathalye/porcupine"
)

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
