package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
)

// In shadow every call goes on as it came and its reply comes back as it was; what would have been done is counted.
func TestWasmShadowAddsNothing(t *testing.T) {
	rules := plugin(`{"match":{"path_prefix":"/tools/"},"mode":"shadow","max_body_bytes":1000}`)
	inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
		reached := 0
		pass := func(name string, c envoytest.Call, status int) {
			t.Helper()
			r := request(c)
			s := w.sendBy(0, r)
			up := s.Upstream()
			if up == nil || !up.Ended || string(up.Body) != c.Body {
				t.Fatalf("%s: the tool got %+v", name, up)
			}
			for _, h := range r.Headers {
				if up.Headers.Get(h[0]) != h[1] {
					t.Errorf("%s: the tool sees %s: %q, want %q", name, h[0], up.Headers.Get(h[0]), h[1])
				}
			}
			reached++
			sent := wasmhost.Headers{{"content-type", "application/json"}, {"x-idem-outcome", "the tool's own"}, {"idempotent-replayed", "false"}}
			s.Respond(status, sent, []byte(`{"refund_id":"rf"}`))
			w.settle()
			reply := s.Reply()
			if reply == nil || reply.Status != status || string(reply.Body) != `{"refund_id":"rf"}` || len(reply.Headers) != len(sent) {
				t.Fatalf("%s: the caller got %+v", name, reply)
			}
			for i, h := range sent {
				if reply.Headers[i] != h {
					t.Errorf("%s: the caller sees %v, want %v", name, reply.Headers[i], h)
				}
			}
			if state, known := s.FilterState("wasm.idem.outcome"); known {
				t.Errorf("%s: filter state tells %q", name, state)
			}
		}
		call := func(run, body string) envoytest.Call {
			return envoytest.Call{Path: "/tools/refund", Run: run, Body: body}
		}
		pass("first", call("a", refundA), http.StatusOK)
		pass("retry", call("a", refundA), http.StatusOK)
		w.pass(6 * time.Second)
		pass("new run", refundByTool("worker-z"), http.StatusOK)
		pass("a failure", call("b", `{"tool":"ship"}`), http.StatusInternalServerError)
		pass("after a failure", call("b", `{"tool":"ship"}`), http.StatusOK)
		pass("malformed", call("a", `{"tool":`), http.StatusOK)
		pass("text", envoytest.Call{Path: "/tools/refund", Type: "text/plain", Body: "hello"}, http.StatusOK)
		pass("large", call("a", noteOf(5000)), http.StatusOK)
		pass("large with a body in one piece", call("a", noteOf(1001)), http.StatusOK)
		w.SetDown("ledgerd", true)
		pass("without a ledger", call("c", `{"tool":"pack"}`), http.StatusOK)
		w.SetDown("ledgerd", false)
		w.count(0)
		for name, want := range map[string]uint64{
			"executed": 3, "replay": 1, "held": 1, "refused": 4, "unavailable": 1,
		} {
			if n := w.Counter("idem.shadow." + name); n != want {
				t.Errorf("idem.shadow.%s is %d, want %d", name, n, want)
			}
		}
		for _, name := range []string{"executed", "replay", "held", "failed", "refused"} {
			if n := w.Counter("idem.calls." + name); n != 0 {
				t.Errorf("idem.calls.%s is %d: nobody was told anything", name, n)
			}
		}
	})
}

func refundByTool(run string) envoytest.Call {
	c := refundBy(run)
	c.Path = "/tools/refund"
	return c
}

// A call in shadow does not wait for the ledger.
func TestWasmShadowDoesNotWait(t *testing.T) {
	rules := plugin(`{"match":{"path_prefix":"/tools/"},"mode":"shadow"}`)
	inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
		w.freeze("ledgerd")
		s := w.send(envoytest.Call{Path: "/tools/refund", Body: refundA})
		s.Respond(http.StatusOK, nil, []byte("1"))
		if s.Reply() == nil {
			t.Fatal("the caller waits for the ledger")
		}
		w.thaw("ledgerd") // the grant comes after the end
		again := w.send(envoytest.Call{Path: "/tools/refund", Body: refundA})
		again.Respond(http.StatusOK, nil, []byte("2"))
		w.settle()
		if e, r := w.Counter("idem.shadow.executed"), w.Counter("idem.shadow.replay"); e != 1 || r != 1 {
			t.Errorf("executed %d, replay %d; want 1 and 1", e, r)
		}
		if n := len(w.Calls()); n != 0 {
			t.Errorf("%d calls are under way for nobody", n)
		}
	})
}

// What was only watched decides nothing once the rule is enforced: nobody's intent is held, replayed or in doubt because
// of it.
func TestWasmShadowLeavesNothingBehind(t *testing.T) {
	rule := `{"name":"tools","match":{"path_prefix":"/tools/"},"mode":"MODE"}`
	inWorld(t, setup{plugin: plugin(strings.Replace(rule, "MODE", "shadow", 1))}, func(t *testing.T, w *world) {
		for _, run := range []string{"a", "b"} {
			s := w.send(refundByTool(run))
			s.Respond(http.StatusOK, nil, []byte("1"))
			w.pass(6 * time.Second)
		}
		w.send(envoytest.Call{Path: "/tools/ship", Body: `{"tool":"ship","args":{"order":1}}`}).Disconnect()
		w.settle()
		enforced := w.another(setup{plugin: plugin(strings.Replace(rule, "MODE", "enforce", 1))})
		for _, c := range []envoytest.Call{refundByTool("a"), {Path: "/tools/ship", Body: `{"tool":"ship","args":{"order":1}}`}} {
			expect(t, "the first call that is enforced", enforced.call(c), http.StatusOK, "executed")
		}
		w.count(2)
	})
}

// A rule in shadow does not weaken one that enforces and matches too.
func TestWasmShadowDoesNotHideAnEnforcedRule(t *testing.T) {
	rules := plugin(`{"match":{"path_prefix":"/tools/","tools":["ship*"]},"mode":"shadow","max_body_bytes":100}`, `{"match":{"path_prefix":"/tools/"}}`)
	inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
		call := envoytest.Call{Path: "/tools/x", Body: refundA}
		expect(t, "a tool that is not in shadow", w.call(call), http.StatusOK, "executed")
		expectProblem(t, "a body that neither reads", w.call(envoytest.Call{Path: "/tools/x", Body: "{"}), http.StatusBadRequest, "malformed_body")
		large := envoytest.Call{Path: "/tools/x", Body: noteOf(500)}
		expect(t, "a body over the shadow's limit", w.call(large), http.StatusOK, "executed")
		s := w.send(envoytest.Call{Path: "/tools/x", Body: `{"tool":"ship_order"}`})
		if s.Upstream() == nil {
			t.Error("a tool in shadow was stopped")
		}
	})
}

// A rule that is for every tool holds whatever the body says: what it lets through, no later rule refuses.
func TestWasmRuleForEveryToolHoldsForWhatCannotBeRead(t *testing.T) {
	rules := plugin(
		`{"match":{"path_prefix":"/tools/watched/"},"mode":"shadow","max_body_bytes":1000}`,
		`{"match":{"path_prefix":"/tools/open/"},"mode":"off"}`,
		`{"match":{"path_prefix":"/tools/"},"max_body_bytes":1000}`,
	)
	inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
		for name, c := range map[string]envoytest.Call{
			"malformed": {Body: "{"}, "text": {Type: "text/plain", Body: "hello"}, "large": {Body: noteOf(5000)}, "a call": {Body: refundA},
		} {
			for _, path := range []string{"/tools/watched/x", "/tools/open/x"} {
				c.Path = path
				s := w.send(c)
				if s.Upstream() == nil {
					t.Errorf("%s to %s was stopped: %+v", name, path, s.Reply())
				}
			}
			c.Path = "/tools/x"
			if s := w.send(c); s.Upstream() != nil {
				t.Errorf("%s to a guarded path passed", name)
			}
		}
		s := w.VM(0).Open(opening(request(envoytest.Call{Path: "/tools/open/x"})), false)
		s.Send([]byte("the beginning of a body that lasts"), false)
		if s.Upstream() == nil || len(s.Upstream().Body) == 0 {
			t.Error("a request that no rule needs to read was kept back until its end")
		}
	})
}
