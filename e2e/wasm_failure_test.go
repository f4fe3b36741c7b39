package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
)

// The table once more, without Envoy: what Envoy says of each failure is taken from the table. Here the others wait at
// the very worker that executes and at another one, and the next caller comes to that other one.
func TestWasmEveryWayInWhichAnExecutionCanEnd(t *testing.T) {
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			inWorld(t, setup{plugin: tableRules(), vms: 2}, func(t *testing.T, w *world) {
				for _, c := range cellsOf(f) {
					if c.waiters > 0 {
						c.playOnHost(t, w)
					}
				}
			})
		})
	}
}

// playOnHost plays one cell.
func (c cell) playOnHost(t *testing.T, w *world) {
	order := c.order()
	executions := 0
	w.servers["idem-execute"] = func(ctx context.Context, call *wasmhost.Call) *wasmhost.Response {
		executions++
		return c.reply(ctx, call)
	}
	w.freeze("idem-execute")
	first := c.call(c.by, order, 1)
	first.Header[envoytest.BehaviourHeader] = string(c.tool)
	r := request(first)
	if c.execution == "inline" && !c.breaks { // what breaks off later has no flags when it begins
		r.Properties = c.properties()
	}
	executor := w.sendBy(0, r)
	others := map[string]*wasmhost.Stream{
		"a waiter at this worker":   w.sendBy(0, request(c.call(c.by, order, 2))),
		"a waiter at another one":   w.sendBy(1, request(c.call(c.by, order, 3))),
		"a second one there":        w.sendBy(1, request(c.call(c.by, order, 3))),
		"one that comes a bit on":   nil,
		"one that leaves meanwhile": w.sendBy(1, request(c.call(c.by, order, 3))),
	}
	w.pass(time.Second)
	others["one that comes a bit on"] = w.sendBy(1, request(c.call(c.by, order, 3)))
	others["one that leaves meanwhile"].Disconnect()
	delete(others, "one that leaves meanwhile")
	if c.leaves {
		executor.Disconnect()
	}
	w.thaw("idem-execute")
	if c.execution == "inline" {
		executions++
		c.pass(executor)
		w.settle()
		for _, s := range others {
			executions += w.passSuccess(s)
		}
	}
	if !c.leaves {
		c.checkExecutor(t, gotAtAll(w, executor))
	}
	for who, s := range others {
		id := 3
		if who == "a waiter at this worker" {
			id = 2
		}
		if saw, want := c.by.hears(t, who, w.await(s), id), c.toWaiter(); !c.meets(saw, want) {
			t.Errorf("%s: %s was told %+v, want %+v", c.name(), who, saw, want)
		}
	}
	if state := w.stateOf(order); state != c.row() && !c.anew {
		t.Errorf("%s: the row is %s, want %s", c.name(), state, c.row())
	}

	w.servers["idem-execute"] = func(ctx context.Context, call *wasmhost.Call) *wasmhost.Response {
		executions++
		return cell{failure: failures[0]}.reply(ctx, call)
	}
	next := w.sendBy(1, request(c.call(c.by, order, 1)))
	executions += w.passSuccess(next)
	if saw, want := c.by.hears(t, "the next caller", w.await(next), 1), c.toNext(); !c.meets(saw, want) {
		t.Errorf("%s: the next caller was told %+v, want %+v", c.name(), saw, want)
	}
	if want := 1 + c.executions() - c.reached; executions != want {
		t.Errorf("%s: it was executed %d times, want %d", c.name(), executions, want)
	}
}

// passSuccess lets the tool's success stream past a caller, if its stream went on; and says how many that were.
func (w *world) passSuccess(s *wasmhost.Stream) (executed int) {
	if s.Upstream() == nil || s.Ended() {
		return 0
	}
	cell{failure: failures[0]}.pass(s)
	w.settle()
	return 1
}

// gotAtAll is the reply that a caller has, also where it broke off.
func gotAtAll(w *world, s *wasmhost.Stream) envoytest.Reply {
	w.t.Helper()
	w.passUntil("the caller's stream to end", 5*time.Minute, s.Ended)
	if s.Reply() != nil {
		return got(w.t, s)
	}
	part := s.Partial()
	if part == nil {
		return envoytest.Reply{Err: context.Canceled}
	}
	r := envoytest.Reply{Status: part.Status, Header: http.Header{}, Body: part.Body, Err: context.Canceled}
	for _, h := range part.Headers {
		r.Header.Add(h[0], h[1])
	}
	return r
}

// reply is what the execution listener gives; nil: nothing, or nothing whole.
func (c cell) reply(ctx context.Context, call *wasmhost.Call) *wasmhost.Response {
	switch {
	case c.rules == "brief":
		<-ctx.Done()
		return nil
	case c.seen == (seen{}), strings.Contains(c.seen.details, "after_response_started"):
		return nil
	case c.seen.details != byTool.details:
		return madeByRoute(c.past, c.seen.flags, c.seen.details+"}", c.seen.attempts)
	}
	headers := http.Header{}
	for _, h := range call.Headers {
		headers.Add(h[0], h[1])
	}
	status, all, body := c.byTool(headers, call.Body)
	return &wasmhost.Response{Status: status, Body: body, Headers: append(all, howItCame(c.seen.flags, c.seen.details, c.seen.attempts)...)}
}

// byTool is the tool's own reply, by the tool of the tests on Envoy. The route writes over what it says of the route.
func (c cell) byTool(header http.Header, body []byte) (status int, headers wasmhost.Headers, replied []byte) {
	r := httptest.NewRequest(http.MethodPost, "/pay", strings.NewReader(string(body)))
	r.Header = header
	r.Header.Set("x-envoy-attempt-count", c.seen.attempts)
	w := httptest.NewRecorder()
	new(envoytest.Tool).ServeHTTP(w, r)
	for name, values := range w.Header() {
		name = strings.ToLower(name)
		if name != "x-idem-flags" && name != "x-idem-details" && name != "x-idem-attempts" {
			headers = append(headers, [2]string{name, values[0]})
		}
	}
	return w.Code, headers, w.Body.Bytes()
}

// pass lets the reply stream past a caller that executes itself.
func (c cell) pass(s *wasmhost.Stream) {
	up := s.Upstream()
	switch {
	case up == nil:
		panic("the stream did not go on")
	case c.breaks:
		s.RespondHeaders(c.past, wasmhost.Headers{{"content-type", "application/json"}}, false)
		s.RespondBody([]byte(`{"refund_id":`), false)
		s.ResetUpstream()
	case c.seen.details != byTool.details:
		s.Respond(c.past, wasmhost.Headers{{"content-type", "text/plain"}}, []byte("no reply"))
	default:
		header := http.Header{}
		for _, h := range up.Headers {
			header.Add(h[0], h[1])
		}
		status, headers, body := c.byTool(header, up.Body)
		s.Respond(status, headers, body)
	}
}

// properties is what Envoy tells a stream about its own reply.
func (c cell) properties() map[string]string {
	number := func(n uint64) string {
		b := make([]byte, 8)
		for i := range b {
			b[i] = byte(n >> (8 * i))
		}
		return string(b)
	}
	bits := map[string]uint64{"-": 0, "UH": 1 << 1, "UT": 1 << 2, "UR": 1 << 4, "UF": 1 << 5, "UC": 1 << 6, "UO": 1 << 7, "NR": 1 << 8, "URX": 1 << 15}
	flags := uint64(0)
	for flag := range strings.SplitSeq(c.seen.flags, ",") {
		bit, known := bits[flag]
		if !known {
			bit = 1 << 25
		}
		flags |= bit
	}
	attempts, _ := strconv.ParseUint(c.seen.attempts, 10, 64)
	properties := map[string]string{"response.flags": number(flags), "upstream.request_attempt_count": number(attempts)}
	if c.seen.details != byTool.details {
		properties["response.code_details"] = c.seen.details + "}"
	}
	return properties
}

// stateOf is the state of an order's row.
func (w *world) stateOf(order string) string {
	w.t.Helper()
	state, err := w.ledger.State(w.t.Context(), 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range state.Rows {
		if strings.Contains(string(r.Action), fmt.Sprintf("%q", order)) {
			return r.State
		}
	}
	return "not there"
}
