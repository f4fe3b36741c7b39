package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
	"idem/ledgerd/intent"
	"idem/ledgerd/ledger"
	"idem/ledgerd/wire"
)

// journal is what a ledger was asked and what it said.
type journal struct {
	mu    sync.Mutex
	lines []exchanged
}

type exchanged struct {
	op     wire.Op
	answer wire.Answer
}

// server serves a handler of ledgerd and writes the journal. An await whose caller has gone is not in it.
func (j *journal) server(h http.Handler) server {
	return func(ctx context.Context, c *wasmhost.Call) *wasmhost.Response {
		r := httptest.NewRequestWithContext(ctx, c.Headers.Get(":method"), c.Path(), bytes.NewReader(c.Body))
		for _, p := range c.Headers {
			if !strings.HasPrefix(p[0], ":") {
				r.Header.Add(p[0], p[1])
			}
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if ctx.Err() != nil {
			return nil
		}
		j.write(c.Body, rec.Body.Bytes())
		response := &wasmhost.Response{Status: rec.Code, Body: rec.Body.Bytes()}
		for name, values := range rec.Header() {
			response.Headers = append(response.Headers, [2]string{strings.ToLower(name), values[0]})
		}
		return response
	}
}

func (j *journal) write(asked, said []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var answers []wire.Answer
	for line := range wire.Lines(said) {
		if a, err := wire.ReadAnswer(line); err == nil {
			answers = append(answers, a)
		}
	}
	i := 0
	for line := range wire.Lines(asked) {
		if op, err := wire.ReadOp(line); err == nil && i < len(answers) {
			j.lines = append(j.lines, exchanged{op, answers[i]})
		}
		i++
	}
}

// of gives what was asked in operations of a kind, in order.
func (j *journal) of(kind wire.OpKind) []exchanged {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found []exchanged
	for _, x := range j.lines {
		if x.op.Kind == kind {
			found = append(found, x)
		}
	}
	return found
}

// opsOf reads what a call to the ledger asks.
func opsOf(t *testing.T, c *wasmhost.Call) []wire.Op {
	t.Helper()
	var ops []wire.Op
	for line := range wire.Lines(c.Body) {
		op, err := wire.ReadOp(line)
		if err != nil {
			t.Fatalf("the filter asks what ledgerd does not read: %v: %s", err, line)
		}
		ops = append(ops, op)
	}
	return ops
}

// introduce lets the filter hear the ledger's clock, as it has on every day but its first: a call that nobody repeats
// goes through.
func (w *world) introduce() {
	w.t.Helper()
	hello := envoytest.Call{Body: `{"tool":"hello","args":{"n":` + strconv.Itoa(w.tool.given) + `}}`}
	expect(w.t, "a call before", w.call(hello), http.StatusOK, "executed")
	w.tool.calls = nil
}

// decide is a person's answer to a reply that said held or in_doubt: release, duplicate, deny, resolve_released,
// resolve_committed. What is too early to be said is said when it may be.
func (w *world) decide(how string, about envoytest.Reply) {
	w.t.Helper()
	as, doubt := strings.CutPrefix(how, "resolve_")
	if !doubt {
		w.answerHold(how, about.HoldID())
		return
	}
	attempt := w.inDoubt(about.Header.Get("x-idem-fingerprint")).Attempt
	for {
		_, err := w.ledger.Resolve(w.t.Context(), attempt, ledger.Resolution{As: intent.State(as), By: "ada"})
		var early *ledger.ConflictError
		if errors.As(err, &early) && early.RetryAfter > 0 {
			w.pass(early.RetryAfter)
			continue
		}
		if err != nil {
			w.t.Fatalf("%s: %v", how, err)
		}
		w.settle()
		return
	}
}

// answerHold is a person's answer to a hold.
func (w *world) answerHold(how, hold string) {
	w.t.Helper()
	a := ledger.HoldAnswer{Decision: intent.Decision(how), By: "ada"}
	if _, err := w.ledger.AnswerHold(w.t.Context(), hold, a); err != nil {
		w.t.Fatalf("%s: %v", how, err)
	}
	w.settle()
}

// inDoubt waits until the row of a fingerprint is in doubt.
func (w *world) inDoubt(fingerprint string) (found ledger.DoubtView) {
	w.t.Helper()
	w.passUntil("the row to be in doubt", 5*time.Minute, func() bool {
		list, err := w.ledger.Doubts(w.t.Context(), 100)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, d := range list {
			if d.Fingerprint == fingerprint {
				found = d
				return true
			}
		}
		return false
	})
	return found
}

// rowState is the state of the newest row of all.
func (w *world) rowState() string {
	w.t.Helper()
	state, err := w.ledger.State(w.t.Context(), 1)
	if err != nil || len(state.Rows) == 0 {
		w.t.Fatalf("the ledger has no row: %v", err)
	}
	return state.Rows[0].State
}
