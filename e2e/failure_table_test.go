package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// The table: every way in which an execution can end, by every protocol, executed by the worker or by the caller's own
// stream, with others that wait for it or without, with its caller there or gone. Each cell asserts what the executor,
// every waiter and the next caller are told, what the ledger keeps, and how often the tool was reached.
//
// The cells run beside each other over one Envoy of two workers; each is a call of its own. That Envoy saw what the
// table says (response flags, details, attempts) is read from its access log.
func TestEveryWayInWhichAnExecutionCanEnd(t *testing.T) {
	s := startFailures(t)
	t.Cleanup(func() { s.checkWorkers(t) })
	for _, by := range []speech{plain, form, mcp, mcpEvents} {
		for _, tool := range []envoytest.Behaviour{envoytest.Timeout, envoytest.Stall} {
			t.Run(fmt.Sprintf("the caller of an inline execution leaves/%s, %s", by, tool), func(t *testing.T) {
				t.Parallel()
				inlineCallerLeaves(t, s, by, tool)
			})
		}
	}
	for _, f := range failures {
		for _, c := range cellsOf(f) {
			t.Run(c.name(), func(t *testing.T) {
				t.Parallel()
				c.play(t, s)
			})
		}
	}
}

// cell is one failure under one set of circumstances.
type cell struct {
	failure
	by        speech
	execution string
	waiters   int
	leaves    bool // the executing caller, before the tool has answered
}

func (c cell) name() string {
	name := fmt.Sprintf("%s/%s, %s", c.failure.name, c.by, c.execution)
	if c.leaves {
		name += ", the caller leaves"
	}
	return fmt.Sprintf("%s, %d waiters", name, c.waiters)
}

// order is what is ordered in this cell: nothing that another cell orders.
func (c cell) order() string {
	return strings.NewReplacer("/", ".", " ", "-", ",", "").Replace(c.name())
}

// cellsOf are the cells of a failure.
func cellsOf(f failure) []cell {
	var cells []cell
	for _, by := range []speech{plain, enveloped, form, mcp, mcpEvents} {
		if f.only == "mcp" && !by.isMCP() || f.only == "http" && by.isMCP() {
			continue
		}
		if f.how != "inline" {
			cells = append(cells, cell{f, by, "detached", 3, false}, cell{f, by, "detached", 1, true})
		}
		if f.how != "inline" && (by == plain || f.only == "mcp") {
			cells = append(cells, cell{f, by, "detached", 0, false}, cell{f, by, "detached", 0, true})
		}
		if f.how != "detached" && by != enveloped {
			cells = append(cells, cell{f.inline(), by, "inline", 2, false})
		}
	}
	return cells
}

// call is a caller's call in this cell.
func (c cell) call(by speech, order string, id int) envoytest.Call {
	call := by.call(order, id)
	set := c.rules
	if set == "" {
		set = "usual"
	}
	call.Host = "tools.example" // part of the endpoint, and the same by every Envoy
	call.Path = "/" + set + "/" + c.execution + "/" + by.protocol() + "/pay"
	call.Header["cell"] = order
	call.Header[routeHeader] = "tool"
	return call
}

// play plays one cell.
func (c cell) play(t *testing.T, s *failureStack) {
	order := c.order()
	ctx, cancel := context.WithTimeout(t.Context(), answerBound)
	defer cancel()

	// The executor comes as far as the gate before the tool, so that others can come to wait for it.
	first := c.call(c.by, order, 1)
	first.Header[envoytest.GateHeader] = order
	first.Header[envoytest.BehaviourHeader] = string(c.tool)
	if c.route != "" {
		first.Header[routeHeader] = c.route
	}
	stays, leave := context.WithCancel(ctx)
	defer leave()
	executor := make(chan envoytest.Reply, 1)
	go func() { executor <- s.Try(stays, first) }()
	s.gate.Await(t, order)
	attempt := s.rows.attempt(t, order)

	var waiters []speech
	replies := make([]chan envoytest.Reply, c.waiters)
	for i := range replies {
		by := c.by
		if i%2 == 1 && by.isMCP() { // who waits may want another form
			by = map[speech]speech{mcp: mcpEvents, mcpEvents: mcp}[by]
		}
		waiters = append(waiters, by)
		replies[i] = make(chan envoytest.Reply, 1)
		go func() { replies[i] <- s.Try(ctx, c.call(by, order, 2+i)) }()
	}
	envoytest.Until(t, 0, "all to wait", func() bool { return len(s.Ledgerd.Row(t, attempt).Runs) == 1+c.waiters })

	if c.leaves {
		leave()
		if r := <-executor; r.Err == nil {
			t.Errorf("the caller that left got %v", r)
		}
	}
	s.gate.Open(order)

	if !c.leaves {
		c.checkExecutor(t, <-executor)
	}
	for i, by := range waiters {
		who := fmt.Sprintf("waiter %d", 1+i)
		if saw, want := by.hears(t, who, <-replies[i], 2+i), c.toWaiter(); !c.meets(saw, want) {
			t.Errorf("%s was told %+v, want %+v", who, saw, want)
		}
	}
	envoytest.Until(t, 0, "the row to be "+c.row(), func() bool { return s.Ledgerd.Row(t, attempt).State == c.row() })
	if saw, want := c.by.hears(t, "the next caller", s.Try(ctx, c.call(c.by, order, 1)), 1), c.toNext(); !c.meets(saw, want) {
		t.Errorf("the next caller was told %+v, want %+v", saw, want)
	}
	// A call that Envoy gave up may still be on its way to a tool that is busy.
	envoytest.Until(t, 0, "the tool to be reached", func() bool { return s.Tool.CountBy(cellOf)[order] >= c.executions() })
	if n := s.Tool.CountBy(cellOf)[order]; n != c.executions() {
		t.Errorf("the tool was reached %d times, want %d", n, c.executions())
	}
	c.checkLog(t, s, order)
}

// inlineCallerLeaves: by execution "inline" nobody hears the end of what the caller has left, before the reply or in the
// middle of it.
func inlineCallerLeaves(t *testing.T, s *failureStack, by speech, tool envoytest.Behaviour) {
	order := fmt.Sprintf("leaves-%s-%s", strings.ReplaceAll(string(by), " ", "-"), tool)
	c := cell{failure: failure{end: unknown, reached: 1}, by: by, execution: "inline"}
	ctx, cancel := context.WithTimeout(t.Context(), answerBound)
	defer cancel()
	first := c.call(by, order, 1)
	first.Header[envoytest.BehaviourHeader] = string(tool)
	stays, leave := context.WithCancel(ctx)
	defer leave()
	executor := make(chan envoytest.Reply, 1)
	go func() { executor <- s.Try(stays, first) }()
	envoytest.Until(t, 0, "the call to reach the tool", func() bool { return s.Tool.CountBy(cellOf)[order] == 1 })
	attempt := s.rows.attempt(t, order)
	waiter := make(chan envoytest.Reply, 1)
	go func() { waiter <- s.Try(ctx, c.call(by, order, 2)) }()
	envoytest.Until(t, 0, "another to wait", func() bool { return len(s.Ledgerd.Row(t, attempt).Runs) == 2 })
	leave()
	<-executor
	if saw := by.hears(t, "the waiter", <-waiter, 2); saw != c.toWaiter() {
		t.Errorf("the waiter was told %+v, want %+v", saw, c.toWaiter())
	}
	if saw := by.hears(t, "the retry", s.Try(ctx, c.call(by, order, 1)), 1); saw != c.toNext() {
		t.Errorf("the retry was told %+v, want %+v", saw, c.toNext())
	}
	if n := s.Tool.CountBy(cellOf)[order]; n != 1 || s.Ledgerd.Row(t, attempt).State != "in_doubt" {
		t.Errorf("the tool was reached %d times, the row is %s", n, s.Ledgerd.Row(t, attempt).State)
	}
}

func cellOf(r envoytest.Received) string { return r.Header.Get("cell") }

// checkExecutor compares what the caller that executed got.
func (c cell) checkExecutor(t *testing.T, r envoytest.Reply) {
	t.Helper()
	if c.execution == "inline" && c.by == mcpEvents && r.Err == nil && r.Header.Get("x-idem-committed") == "pending" {
		// Progress has streamed past before the end, or instead of it, as the network cuts the pieces.
		if saw, want := (told{r.Status, r.Outcome(), ""}), (told{http.StatusOK, "executed", ""}); saw != want || c.past != http.StatusOK {
			t.Errorf("the executor was told %+v, want %+v", saw, want)
		}
		return
	}
	if saw, want := c.by.hears(t, "the executor", r, 1), c.toExecutor(); saw != want {
		t.Errorf("the executor was told %+v, want %+v", saw, want)
	}
}

// checkLog compares what Envoy says of the execution with what the table says that it does.
func (c cell) checkLog(t *testing.T, s *failureStack, order string) {
	t.Helper()
	if c.seen == (seen{}) {
		return
	}
	listener := "idem-execute"
	if c.execution == "inline" {
		listener = "idem"
	}
	var line string
	envoytest.Until(t, 0, "the execution's line in the access log", func() bool {
		text, err := os.ReadFile(s.log)
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(text)) {
			if found, of := strings.CutPrefix(strings.TrimSpace(l), listener+" "+order+" "); of {
				line = found
				return true
			}
		}
		return false
	})
	want := c.seen.flags + " " + c.seen.attempts + " " + c.seen.details
	if c.execution == "inline" && (c.end == unknown || c.end == notSent) && !c.breaks {
		want = c.seen.flags + " " + c.seen.attempts // Idem's reply, which has no details, is there in place of Envoy's
	}
	if !strings.HasPrefix(line, want) {
		t.Errorf("Envoy says %q, the table %q", line, want)
	}
}
