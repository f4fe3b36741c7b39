package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// ledgerLoss is one way in which filter and ledger lose each other during a call.
type ledgerLoss struct {
	name  string
	lost  string // the operation that is lost
	how   envoytest.Loss
	times int  // 0: until everyone who executed is answered
	kill  bool // in place of a loss: ledgerd is killed, and started again when everyone who executed is answered

	tool envoytest.Behaviour // what the tool does: 200 by default

	executor told // what the caller that executes is told
	unkept   bool // and that it is not committed
	waiter   told
	row      string // the row's state in the end; empty: there may be none
	next     told
	reached  int  // how often the tool was reached, with the next call
	early    bool // lost before the execution: nobody waits yet
}

var (
	unavailable = told{503, "unavailable", "ledger_unavailable"}
	inDoubt200  = told{200, "in_doubt", ""}
	executed    = told{200, "executed", ""}
	coalesced   = told{200, "coalesced", ""}
	replayed    = told{200, "replay", ""}
	failed500   = told{500, "failed", ""}
	doubtful    = told{504, "in_doubt", "in_doubt"}
	stillDoubt  = told{409, "in_doubt", "in_doubt"}
)

// A ledger that is lost before the execution fails the call closed; one that is lost afterwards costs nobody the result,
// and never a second execution: commits and failures are repeated until they are heard.
var ledgerLosses = []ledgerLoss{
	{name: "before", lost: "reserve", how: envoytest.Question, early: true, executor: unavailable, next: executed, reached: 1},
	{name: "before, in silence", lost: "reserve", how: envoytest.Silence, early: true, executor: unavailable, next: executed, reached: 1},
	{name: "the grant", lost: "reserve", how: envoytest.Answer, early: true, executor: unavailable, row: "released", next: executed, reached: 1},
	{name: "two commits", lost: "commit", how: envoytest.Question, times: 2,
		executor: executed, waiter: coalesced, row: "committed", next: replayed, reached: 1},
	{name: "the answers to two commits", lost: "commit", how: envoytest.Answer, times: 2,
		executor: executed, waiter: coalesced, row: "committed", next: replayed, reached: 1},
	{name: "every commit for a while", lost: "commit", how: envoytest.Question,
		executor: inDoubt200, unkept: true, waiter: coalesced, row: "committed", next: replayed, reached: 1},
	{name: "the answer to every commit for a while", lost: "commit", how: envoytest.Answer,
		executor: inDoubt200, unkept: true, waiter: coalesced, row: "committed", next: replayed, reached: 1},
	{name: "commits in silence", lost: "commit", how: envoytest.Silence,
		executor: inDoubt200, unkept: true, waiter: coalesced, row: "committed", next: replayed, reached: 1},
	{name: "a definite failure", lost: "fail", how: envoytest.Question, tool: "500",
		executor: failed500, unkept: true, waiter: failed500, row: "released", next: executed, reached: 2},
	{name: "a doubt", lost: "fail", how: envoytest.Question, tool: envoytest.Reset,
		executor: doubtful, unkept: true, waiter: doubtful, row: "in_doubt", next: stillDoubt, reached: 1},
	{name: "what others wait for", lost: "await", how: envoytest.Question, times: 3,
		executor: executed, waiter: coalesced, row: "committed", next: replayed, reached: 1},
	{name: "ledgerd is killed", kill: true,
		executor: inDoubt200, unkept: true, waiter: coalesced, row: "committed", next: replayed, reached: 1},
}

func TestALedgerThatIsLostDuringACall(t *testing.T) {
	tool := envoytest.StartTool(t)
	ledgerd := envoytest.StartLedgerd(t, "")
	line := envoytest.StartLine(t, ledgerd)
	s := &failureStack{Stack: &envoytest.Stack{Tool: tool, Ledgerd: ledgerd}, rows: &rowFinder{ledgerd: ledgerd}}
	rules := failureRules(`"timeout":"2s","commit_timeout":"2s"`, "usual", "hasty")
	s.Envoy = envoytest.Start(t, envoytest.Options{Concurrency: 2, Plugin: rules, Tool: tool.Address, Ledger: line.Address,
		Edit: envoytest.Bootstrap.AllToTool})
	s.Call(t, plain.call("before", 1))     // so that the workers know the ledger's clock
	restart := func() { ledgerd.Start(t) } // for the tests to come too
	for i, loss := range ledgerLosses {
		t.Run(loss.name, func(t *testing.T) { loss.play(t, s, line, restart, i) })
	}
	t.Run("a commit that comes too late", func(t *testing.T) { fencedCommit(t, s, line) })
}

// way is one call that is under way while the ledger is lost.
type way struct {
	cell
	order    string
	executor chan envoytest.Reply
	waiters  [2]chan envoytest.Reply
	attempt  string
}

// play plays a loss by every protocol at once.
func (l ledgerLoss) play(t *testing.T, s *failureStack, line *envoytest.Line, restart func(), n int) {
	ctx, cancel := context.WithTimeout(t.Context(), answerBound)
	defer cancel()
	tool := l.tool
	if tool == "" {
		tool = envoytest.OK
	}
	var ways []*way
	for _, execution := range []string{"detached", "inline"} {
		for _, by := range []speech{plain, enveloped, form, mcp, mcpEvents} {
			if execution == "detached" || by != enveloped {
				order := fmt.Sprintf("ledger-%d-%s-%s", n, strings.ReplaceAll(string(by), " ", "-"), execution)
				ways = append(ways, &way{cell: cell{by: by, execution: execution}, order: order})
			}
		}
	}

	if l.early {
		line.Lose(l.how, l.times, l.lost)
	}
	release := s.Tool.Hold()
	defer release()
	before := s.Tool.Count()
	for _, w := range ways {
		call := w.call(w.by, w.order, 1)
		call.Header[envoytest.BehaviourHeader] = string(tool)
		w.executor = s.ask(ctx, call)
	}
	if !l.early {
		s.Tool.AwaitCount(t, before+len(ways))
		for _, w := range ways {
			w.attempt = s.rows.attempt(t, w.order)
			for i := range w.waiters {
				w.waiters[i] = s.ask(ctx, w.call(w.by, w.order, 2+i))
			}
		}
		for _, w := range ways {
			envoytest.Until(t, 0, "all to wait", func() bool { return len(s.Ledgerd.Row(t, w.attempt).Runs) == 1+len(w.waiters) })
		}
		if l.kill {
			s.Ledgerd.Kill9(t)
		} else {
			line.Lose(l.how, l.times, l.lost)
		}
		release()
	}

	for _, w := range ways {
		l.checkExecutor(t, w, <-w.executor)
	}
	if l.kill {
		restart()
	} else if lost := line.Restore(); lost == 0 && l.lost != "await" {
		t.Error("nothing was lost")
	}
	release()
	for _, w := range ways {
		l.checkEnd(ctx, t, s, w)
	}
}

func (l ledgerLoss) checkExecutor(t *testing.T, w *way, r envoytest.Reply) {
	t.Helper()
	who := fmt.Sprintf("the executor by %s, %s", w.by, w.execution)
	saw := w.by.hears(t, who, r, 1)
	if w.execution == "inline" && r.Header.Get("x-idem-committed") == "pending" {
		if w.by != mcpEvents || saw != executed { // progress has passed before the end
			t.Errorf("%s was told %+v, and that this is not committed yet", who, saw)
		}
		return
	}
	if saw != l.executor {
		t.Errorf("%s was told %+v, want %+v", who, saw, l.executor)
	}
	if said := r.Header.Get("x-idem-committed"); l.unkept != (said == "false") {
		t.Errorf("%s: x-idem-committed is %q", who, said)
	}
}

// checkEnd is what comes of it once the ledger is back.
func (l ledgerLoss) checkEnd(ctx context.Context, t *testing.T, s *failureStack, w *way) {
	t.Helper()
	for i, waiter := range w.waiters {
		if waiter == nil {
			continue
		}
		who := fmt.Sprintf("waiter %d by %s, %s", i, w.by, w.execution)
		if saw := w.by.hears(t, who, <-waiter, 2+i); saw != l.waiter {
			t.Errorf("%s was told %+v, want %+v", who, saw, l.waiter)
		}
	}
	if l.row != "" {
		attempt := s.rows.attempt(t, w.order)
		envoytest.Until(t, 0, "the row to be "+l.row, func() bool { return s.Ledgerd.Row(t, attempt).State == l.row })
	}
	who := fmt.Sprintf("the next caller by %s, %s", w.by, w.execution)
	if saw := w.by.hears(t, who, s.Try(ctx, w.call(w.by, w.order, 1)), 1); saw != l.next {
		t.Errorf("%s was told %+v, want %+v", who, saw, l.next)
	}
	if n := s.Tool.CountBy(cellOf)[w.order]; n != l.reached {
		t.Errorf("%s, %s: the tool was reached %d times, want %d", w.by, w.execution, n, l.reached)
	}
}

// ask sends a call, and gives its reply when it is there.
func (s *failureStack) ask(ctx context.Context, c envoytest.Call) chan envoytest.Reply {
	reply := make(chan envoytest.Reply, 1)
	go func() { reply <- s.Try(ctx, c) }()
	return reply
}

// An execution whose commit is not heard is in doubt when its lease ends. A person decides that it did not happen, and
// it is executed once more. Then the first one's commit comes: it is not taken, it is seen, and the second one's result
// stays.
func fencedCommit(t *testing.T, s *failureStack, line *envoytest.Line) {
	ctx, cancel := context.WithTimeout(t.Context(), answerBound)
	defer cancel()
	const order = "fenced"
	c := cell{failure: failure{rules: "hasty"}, by: plain, execution: "detached"}
	line.Lose(envoytest.Question, 0, "commit", "extend")
	first := s.Try(ctx, c.call(plain, order, 1))
	if saw := plain.hears(t, "the first", first, 1); saw != inDoubt200 || first.Header.Get("x-idem-committed") != "false" {
		t.Fatalf("the first was told %+v, committed %q: %s", saw, first.Header.Get("x-idem-committed"), first.Body)
	}
	attempt := s.rows.attempt(t, order)
	envoytest.Until(t, 0, "the lease to end", func() bool { return s.Ledgerd.Row(t, attempt).State == "in_doubt" })
	answer(t, s.Stack, "resolve_released", first)
	var second envoytest.Reply
	envoytest.Until(t, 0, "the second execution", func() bool { // its reserve may be in a batch with the commit that is lost
		second = s.Try(ctx, c.call(plain, order, 2))
		return second.Status != http.StatusServiceUnavailable
	})
	// Its own commit is lost like the first one's: the ledger hears both when the line is back, in whatever order.
	if saw := plain.hears(t, "the second", second, 2); saw != inDoubt200 {
		t.Errorf("the second was told %+v", saw)
	}
	line.Restore()
	envoytest.Until(t, 0, "the first commit to be fenced", func() bool { return s.Ledgerd.Counter(t, "fenced_commits") == 1 })
	envoytest.Until(t, 0, "the second commit to be heard", func() bool { return s.Ledgerd.Row(t, s.rows.attempt(t, order)).State == "committed" })
	next := s.Try(ctx, c.call(plain, order, 2))
	if saw := plain.hears(t, "the next", next, 2); saw != replayed || refundID(t, next) != refundID(t, second) {
		t.Errorf("the next was told %+v: %s, want the second's result %s", saw, next.Body, second.Body)
	}
	if len(s.Ledgerd.Row(t, attempt).FencedCommits) != 1 {
		t.Errorf("the row does not show the commit that was not taken: %+v", s.Ledgerd.Row(t, attempt))
	}
	if n := s.Tool.CountBy(cellOf)[order]; n != 2 {
		t.Errorf("the tool was reached %d times, want 2", n)
	}
}
