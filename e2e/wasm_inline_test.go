package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
)

// inlineRule executes on the caller's own stream.
var inlineRule = plugin(`{"match":{"path_prefix":"/tools/"},"execution":"inline","execution_timeout":"20s"}`)

func inlineCall(body string) envoytest.Call {
	return envoytest.Call{Path: "/tools/refund", Run: "worker", Body: body}
}

// Inline, the caller's own stream goes on to the tool once it is granted, and the reply streams past; who waits gets it
// once it is whole and kept.
func TestWasmInlineStreamsPast(t *testing.T) {
	inWorld(t, setup{plugin: inlineRule, vms: 2}, func(t *testing.T, w *world) {
		w.freeze("ledgerd")
		call := inlineCall(refundA)
		call.Header = map[string]string{"x-idem-outcome": "held", "connection": "x-hop", "x-hop": "1"}
		s := w.send(call)
		if !s.Parked() {
			t.Fatal("the stream went on before it was granted")
		}
		w.thaw("ledgerd")
		up := s.Upstream()
		if up == nil || !up.Ended || string(up.Body) != refundA {
			t.Fatalf("the tool got %+v", up)
		}
		for name, want := range map[string]string{
			":method": "POST", ":path": "/tools/refund", ":authority": "idem.example", ":scheme": "http", "accept-encoding": "identity",
			"content-type": "application/json", "x-idem-run": "", "x-idem-outcome": "", "x-hop": "",
		} {
			if v := up.Headers.Get(name); v != want {
				t.Errorf("the tool sees %s: %q, want %q", name, v, want)
			}
		}
		near, far := w.send(inlineCall(refundB)), w.sendBy(1, request(inlineCall(refundC)))

		s.RespondHeaders(http.StatusCreated, wasmhost.Headers{
			{"content-type", "text/event-stream"}, {"location", "/refunds/rf-1"}, {"x-idem-outcome", "held"}, {"x-idem-committed", "false"},
			{"idempotent-replayed", "true"},
		}, false)
		if begun := s.Partial(); begun != nil {
			t.Errorf("the caller sees %+v before anything is known of the body", begun)
		}
		s.RespondBody([]byte("data: 1\n\n"), false)
		begun := s.Partial()
		if begun == nil || begun.Headers.Get("x-idem-outcome") != "executed" || begun.Headers.Get("x-idem-committed") != "pending" {
			t.Fatalf("the caller sees %+v before the reply's end", begun)
		}
		if begun.Headers.Get("idempotent-replayed") != "" {
			t.Error("the tool says that this is a replay, and the caller cannot tell that it does not come from Idem")
		}
		if got := string(s.Partial().Body); got != "data: 1\n\n" {
			t.Errorf("the caller has %q before the reply's end", got)
		}
		if !near.Parked() || !far.Parked() {
			t.Error("a waiter has a reply that is not whole")
		}
		s.RespondBody([]byte("data: 2\n\n"), true)
		w.settle()
		for who, waiter := range map[string]*wasmhost.Stream{"a waiter here": near, "a waiter at the other worker": far} {
			r := w.await(waiter)
			expect(t, who, r, http.StatusCreated, "coalesced")
			if string(r.Body) != "data: 1\n\ndata: 2\n\n" || r.Header.Get("location") != "/refunds/rf-1" {
				t.Errorf("%s got %v", who, r)
			}
		}
		again := w.call(inlineCall(refundA))
		expect(t, "the retry", again, http.StatusCreated, "replay")
		if outcome, _ := s.FilterState("wasm.idem.outcome"); outcome != "executed" {
			t.Errorf("filter state says %q", outcome)
		}
		w.count(0) // not by the execution route
	})
}

// A reply with trailers, and a request with trailers in pieces, pass whole.
func TestWasmInlinePassesPiecesAndTrailers(t *testing.T) {
	inWorld(t, setup{plugin: inlineRule}, func(t *testing.T, w *world) {
		r := request(inlineCall(refundA))
		s := w.VM(0).Open(opening(r), false)
		s.Send([]byte(refundA[:30]), false)
		s.Send([]byte(refundA[30:]), false)
		s.SendTrailers(wasmhost.Headers{{"x-checksum", "1"}})
		w.settle()
		up := s.Upstream()
		if up == nil || !up.Ended || string(up.Body) != refundA || up.Trailers.Get("x-checksum") != "1" {
			t.Fatalf("the tool got %+v", up)
		}
		s.RespondHeaders(http.StatusOK, nil, false)
		s.RespondBody([]byte(`{"refund_id":"rf-1"}`), false)
		s.RespondTrailers(wasmhost.Headers{{"x-done", "1"}})
		w.settle()
		expect(t, "the caller", got(t, s), http.StatusOK, "executed")
		expect(t, "the retry", w.call(inlineCall(refundA)), http.StatusOK, "replay")
	})
}

// A disconnect while the tool works leaves it in doubt: nobody has seen how it ended.
func TestWasmInlineDisconnectIsInDoubt(t *testing.T) {
	for name, begin := range map[string]func(*wasmhost.Stream){
		"before the reply": func(*wasmhost.Stream) {},
		"in its headers":   func(s *wasmhost.Stream) { s.RespondHeaders(http.StatusOK, nil, false) },
		"in its body": func(s *wasmhost.Stream) {
			s.RespondHeaders(http.StatusOK, nil, false)
			s.RespondBody([]byte(`{"refund_id":`), false)
		},
	} {
		inWorld(t, setup{plugin: inlineRule, vms: 2}, func(t *testing.T, w *world) {
			s := w.send(inlineCall(refundA))
			near, far := w.send(inlineCall(refundB)), w.sendBy(1, request(inlineCall(refundC)))
			begin(s)
			s.Disconnect()
			w.settle()
			expectProblem(t, name+": a waiter here", w.await(near), http.StatusGatewayTimeout, "in_doubt")
			expectProblem(t, name+": a waiter at the other worker", w.await(far), http.StatusGatewayTimeout, "in_doubt")
			expectProblem(t, name+": the retry", w.call(inlineCall(refundA)), http.StatusConflict, "in_doubt")
		})
	}
}

// A caller that leaves before its stream goes on has executed nothing, and holds up nobody.
func TestWasmInlineCallerThatLeavesBeforeTheGrantExecutesNothing(t *testing.T) {
	inWorld(t, setup{plugin: inlineRule}, func(t *testing.T, w *world) {
		w.freeze("ledgerd")
		s := w.send(inlineCall(refundA))
		s.Disconnect()
		w.thaw("ledgerd")
		if s.Upstream() != nil || w.rowState() != "released" {
			t.Fatalf("upstream %v, the row is %s", s.Upstream(), w.rowState())
		}
		again := w.send(inlineCall(refundA))
		again.Respond(http.StatusOK, nil, []byte(`{"refund_id":"rf-1"}`))
		w.settle()
		expect(t, "the retry", got(t, again), http.StatusOK, "executed")
	})
}

// Inline too, what surely was not sent is told apart from what may have happened, by the stream's own response flags.
func TestWasmInlineFailures(t *testing.T) {
	attribute := func(n byte) string { return string([]byte{n, 0, 0, 0, 0, 0, 0, 0}) }
	const connectionFailed, connectionEnded = 1 << 5, 1 << 6 // Envoy's response flags UF and UC
	for name, c := range map[string]struct {
		flags, attempts byte
		status          int
		outcome, next   string
	}{
		"no connection":           {connectionFailed, 1, http.StatusBadGateway, "not_sent", "executed"},
		"a connection that ended": {connectionEnded, 1, http.StatusGatewayTimeout, "in_doubt", "in_doubt"},
		"several attempts":        {connectionFailed, 2, http.StatusGatewayTimeout, "in_doubt", "in_doubt"},
	} {
		inWorld(t, setup{plugin: inlineRule}, func(t *testing.T, w *world) {
			r := request(inlineCall(refundA))
			r.Properties = map[string]string{"response.flags": attribute(c.flags), "upstream.request_attempt_count": attribute(c.attempts)}
			s := w.sendBy(0, r)
			s.ResetUpstream()
			w.settle()
			expectProblem(t, name, got(t, s), c.status, c.outcome)
			again := w.send(inlineCall(refundA))
			if again.Upstream() != nil {
				again.Respond(http.StatusOK, nil, []byte(`{}`))
				w.settle()
			}
			if o := got(t, again).Outcome(); o != c.next {
				t.Errorf("%s: the next caller was told %s, want %s", name, o, c.next)
			}
		})
	}
	inWorld(t, setup{plugin: inlineRule}, func(t *testing.T, w *world) {
		s, waiter := w.send(inlineCall(refundA)), w.send(inlineCall(refundB))
		s.Respond(http.StatusUnprocessableEntity, nil, []byte(`{"error":"no such customer"}`))
		w.settle()
		expect(t, "the caller of a failing tool", got(t, s), http.StatusUnprocessableEntity, "failed")
		r := w.await(waiter)
		expect(t, "who waited", r, http.StatusUnprocessableEntity, "failed")
		if !strings.Contains(string(r.Body), "no such customer") || w.rowState() != "released" {
			t.Errorf("who waited got %s; the row is %s", r.Body, w.rowState())
		}
	})
}

// A stream that outlasts its lease keeps it; one that outlasts the execution's timeout is in doubt: all are told at once,
// and the tool's side is closed.
func TestWasmInlineLongStreams(t *testing.T) {
	for name, begin := range map[string]func(s *wasmhost.Stream){
		"before the reply": func(*wasmhost.Stream) {},
		"in a reply that is held back": func(s *wasmhost.Stream) {
			s.RespondHeaders(http.StatusOK, wasmhost.Headers{{"content-type", "application/json"}}, false)
		},
		"in a reply that streams past ": func(s *wasmhost.Stream) {
			s.RespondHeaders(http.StatusOK, nil, false)
			s.RespondBody([]byte("1\n"), false)
		},
	} {
		inWorld(t, setup{plugin: inlineRule, vms: 2}, func(t *testing.T, w *world) {
			s := w.send(inlineCall(refundA))
			begin(s)
			streams := s.Partial() != nil
			w.pass(19 * time.Second)
			if state := w.rowState(); state != "in_flight" {
				t.Fatalf("%s: after 19 s the row is %s", name, state)
			}
			near, far := w.send(inlineCall(refundB)), w.sendBy(1, request(inlineCall(refundC)))
			w.pass(2 * time.Second)
			expectProblem(t, name+": who waits here", got(t, near), http.StatusGatewayTimeout, "in_doubt")
			expectProblem(t, name+": who waits at the other worker", w.await(far), http.StatusGatewayTimeout, "in_doubt")
			if !streams {
				expectProblem(t, name+": the caller", got(t, s), http.StatusGatewayTimeout, "in_doubt")
			} else if s.Reply() != nil || !s.Ended() {
				t.Errorf("%s: the stream goes on, or has ended as if it were whole: %+v", name, s.Partial())
			}
			if !s.Upstream().Reset {
				t.Errorf("%s: the tool's side is still open", name)
			}
			if outcome, _ := s.FilterState("wasm.idem.outcome"); outcome != "in_doubt" || w.rowState() != "in_doubt" {
				t.Errorf("%s: filter state says %q, the row is %s", name, outcome, w.rowState())
			}
		})
	}
}

// The ledger is lost while the tool works, and stays away: the caller gets the tool's reply, which says that nothing is
// kept of it. Of one that streams past, its end waits as long, and the access log says it.
func TestWasmInlineWithoutALedgerAtTheEnd(t *testing.T) {
	for name, kind := range map[string]string{"held back": "application/json", "streams past": "text/event-stream"} {
		inWorld(t, setup{plugin: inlineRule}, func(t *testing.T, w *world) {
			s := w.send(inlineCall(refundA))
			waiter := w.send(inlineCall(refundB))
			w.freeze("ledgerd")
			s.RespondHeaders(http.StatusOK, wasmhost.Headers{{"content-type", kind}}, false)
			s.RespondBody([]byte("data: 1\n\n"), false)
			s.RespondBody(nil, true)
			w.settle()
			if s.Reply() != nil {
				t.Fatalf("%s: the caller has its reply before the ledger: %+v", name, s.Reply())
			}
			w.pass(6 * time.Second)
			r := got(t, s)
			if kind == "application/json" {
				expect(t, name, r, http.StatusOK, "in_doubt")
				if c := r.Header.Get("x-idem-committed"); c != "false" {
					t.Errorf("%s: x-idem-committed is %q", name, c)
				}
			} else if c := r.Header.Get("x-idem-committed"); r.Status != http.StatusOK || c != "pending" {
				t.Errorf("%s: got %v, x-idem-committed is %q", name, r, c)
			}
			if string(r.Body) != "data: 1\n\n" {
				t.Errorf("%s: got %q", name, r.Body)
			}
			if outcome, _ := s.FilterState("wasm.idem.outcome"); outcome != "in_doubt" {
				t.Errorf("%s: filter state says %q", name, outcome)
			}
			w.pass(40 * time.Second)
			expectProblem(t, name+": who waited", got(t, waiter), http.StatusServiceUnavailable, "ledger_unavailable")
		})
	}
}

// A reply over max_result_bytes streams past whole and is not kept.
func TestWasmInlineResultOverTheLimit(t *testing.T) {
	rules := plugin(`{"match":{"path_prefix":"/tools/"},"execution":"inline","max_result_bytes":1000}`)
	inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
		s := w.send(inlineCall(refundA))
		s.RespondHeaders(http.StatusOK, nil, false)
		for i := range 100 {
			s.RespondBody([]byte(strings.Repeat("x", 100)), i == 99)
		}
		w.settle()
		if n := len(got(t, s).Body); n != 10_000 {
			t.Errorf("the caller got %d bytes of 10,000", n)
		}
		expectProblem(t, "the retry", w.call(inlineCall(refundA)), http.StatusConflict, "result_unavailable")
	})
}

// So does a tools/call's: that it was no failure is read all the same.
func TestWasmInlineToolResultOverTheLimit(t *testing.T) {
	rules := plugin(`{"match":{"path":"/mcp","tools":["*"]},"protocol":"mcp","execution":"inline","max_result_bytes":1000}`)
	call := envoytest.Call{Path: "/mcp", Body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report"}}`}
	text := strings.Repeat("x", 20_000)
	for end, want := range map[string]string{"": "refused", `,"isError":true`: "executed"} {
		inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
			s := w.send(call)
			reply := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + text + `"}]` + end + `}}`
			s.RespondHeaders(http.StatusOK, wasmhost.Headers{{"content-type", "application/json"}}, false)
			s.RespondBody([]byte(reply[:5000]), false)
			s.RespondBody([]byte(reply[5000:]), true)
			w.settle()
			if string(got(t, s).Body) != reply {
				t.Error("the caller did not get the reply whole")
			}
			again := w.send(call)
			if again.Upstream() != nil {
				again.Respond(http.StatusOK, wasmhost.Headers{{"content-type", "application/json"}}, []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`))
			}
			w.settle()
			if r := got(t, again); r.Outcome() != want || want == "refused" && !strings.Contains(string(r.Body), "result_unavailable") {
				t.Errorf("the retry after %q got %v", end, r)
			}
		})
	}
}
