package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
)

// routedRules are rules that routes may name.
var routedRules = plugin(`{"name":"payments","match":{"route":true,"methods":["POST","DELETE"]},"reply":"envelope"}`,
	`{"name":"desk","match":{"route":true,"tools":["refund*"]},"protocol":"mcp"}`,
	`{"name":"tools","match":{"path_prefix":"/tools/"}}`)

// on is a call that Envoy's routes lead to one with this metadata.
func on(route map[string]any, c envoytest.Call) wasmhost.Request {
	r := request(c)
	r.Route = map[string]any{"idem": route, "envoy.lb": map[string]any{"canary": true}}
	return r
}

// A route names the rule of its calls, wherever they go, and the mode.
func TestWasmRouteMetadataChoosesRuleAndMode(t *testing.T) {
	type route = map[string]any
	inWorld(t, setup{plugin: routedRules}, func(t *testing.T, w *world) {
		tell := func(name string, r wasmhost.Request, status int, outcome string) envoytest.Reply {
			t.Helper()
			reply := w.await(w.sendBy(0, r))
			expect(t, name, reply, status, outcome)
			return reply
		}
		passes := func(name string, r wasmhost.Request) {
			t.Helper()
			s := w.sendBy(0, r)
			if s.Upstream() == nil {
				t.Fatalf("%s did not pass: %+v", name, s.Reply())
			}
			s.Respond(http.StatusOK, nil, []byte("1"))
		}
		anywhere := envoytest.Call{Path: "/v2/pay", Body: refundA}
		r := tell("a call anywhere", on(route{"rule": "payments"}, anywhere), http.StatusOK, "executed")
		if !strings.HasPrefix(string(r.Body), `{"outcome":"executed"`) {
			t.Errorf("the reply is not what the rule says: %s", r.Body)
		}
		tell("its retry", on(route{"rule": "payments"}, anywhere), http.StatusOK, "replay")
		tell("the same on another path", on(route{"rule": "payments"}, envoytest.Call{Path: "/v1/pay", Body: refundA}), http.StatusOK, "executed")
		tell("a method of the rule", on(route{"rule": "payments"}, envoytest.Call{Method: "DELETE", Path: "/v2/pay/1", Type: "-"}), http.StatusOK, "executed")
		tell("a body that the rule cannot read", on(route{"rule": "payments"}, envoytest.Call{Path: "/v2/pay", Body: "{"}), http.StatusBadRequest, "refused")
		w.count(3)

		passes("a call on a route that names nothing", on(route{}, anywhere))
		passes("a method that the rule does not have", on(route{"rule": "payments"}, envoytest.Call{Method: "GET", Path: "/v2/pay", Type: "-"}))
		passes("a rule in shadow on this route", on(route{"rule": "payments", "mode": "shadow"}, anywhere))
		passes("a call that is off on this route", on(route{"mode": "off"}, envoytest.Call{Path: "/tools/refund", Body: refundA}))
		w.settle()
		w.count(3)
		if n := w.Counter("idem.shadow.executed"); n != 1 {
			t.Errorf("%d calls were watched, want 1", n)
		}
		tell("a call that is off on a route that it may not be meant for", on(route{"mode": "off"}, envoytest.Call{Path: "/tools/%72efund", Body: refundA}), http.StatusOK, "executed")
		tell("a tool that the route's rule does not name", on(route{"rule": "desk"}, envoytest.Call{Path: "/tools/ship",
			Body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ship","arguments":{}}}`}), http.StatusOK, "executed")
		w.count(5)
	})
}

// A route that says what cannot be kept lets nothing through, and says what is wrong to its caller and once in the log.
func TestWasmRouteMetadataThatIsWrongFailsClosed(t *testing.T) {
	type route = map[string]any
	inWorld(t, setup{plugin: routedRules}, func(t *testing.T, w *world) {
		for name, c := range map[string]struct {
			route route
			says  string
		}{
			"an unknown rule":        {route{"rule": "refundz"}, `/rule: "refundz" is no rule's name`},
			"an empty rule":          {route{"rule": ""}, `/rule: "" is no rule's name`},
			"a number":               {route{"rule": 7}, "/rule: 7 is no rule's name"},
			"a list":                 {route{"rule": []any{"tools"}}, "/rule: a value that is no text is no rule's name"},
			"an object":              {route{"rule": route{"name": "tools"}}, "/rule: a value that is no text is no rule's name"},
			"null":                   {route{"rule": nil}, "has a value that cannot be read"},
			"an unknown mode":        {route{"mode": "on"}, `/mode: "on" is no mode; use "enforce", "shadow" or "off"`},
			"a truth value":          {route{"mode": false, "rule": "tools"}, "/mode: false is no mode"},
			"a setting of no route":  {route{"rules": "tools"}, "/rules: is not a setting of a route"},
			"an unknown rule, off":   {route{"rule": "refundz", "mode": "off"}, `/rule: "refundz"`},
			"one right and one that": {route{"mode": "off", "wait": "1s"}, "/wait: is not a setting"},
		} {
			for _, call := range []envoytest.Call{{Path: "/v2/pay", Body: refundA}, {Method: "GET", Path: "/v2/pay", Type: "-"}} {
				s := w.sendBy(0, on(c.route, call))
				if s.Upstream() != nil {
					t.Fatalf("%s: the call went on", name)
				}
				p := expectProblem(t, name, got(t, s), http.StatusInternalServerError, "misconfigured")
				if !strings.Contains(p.Detail, c.says) || p.Retryable || p.Outcome != "refused" {
					t.Errorf("%s: the caller is told %+v, want %q", name, p, c.says)
				}
			}
			lines := 0
			for _, l := range w.Logs(wasmhost.Warn) {
				if strings.Contains(l.Text, "metadata idem of a route") && strings.Contains(l.Text, c.says) {
					lines++
				}
			}
			if lines == 0 {
				t.Errorf("%s: the log does not say %q", name, c.says)
			}
		}
		if n := len(w.Logs(wasmhost.Warn)); n > 11 {
			t.Errorf("%d lines were written for 11 mistakes", n)
		}
		w.count(0)
	})
}

// Where a rule came to be named by a route under another key, the route is asked for the former key too: a rotated key
// forgets nothing.
func TestWasmRouteMetadataKeepsFormerKeys(t *testing.T) {
	rule := `{"name":"payments","match":{"path":"/pay"}}`
	before := `{"ledger":{"cluster":"ledgerd","timeout":"2s"},"execute":{"cluster":"idem-execute"},"calls":[` + rule + `]}`
	after := strings.Replace(before, `"calls"`, `"fingerprint":{"key_env":"KEY","previous":[{"key_env":null}]},"calls"`, 1)
	inWorld(t, setup{plugin: before}, func(t *testing.T, w *world) {
		call := on(map[string]any{"rule": "payments"}, envoytest.Call{Path: "/v2/pay", Body: refundA})
		expect(t, "the first", w.await(w.sendBy(0, call)), http.StatusOK, "executed")
		w.pass(time.Second)
		rotated := w.another(setup{plugin: after, env: map[string]string{"KEY": strings.Repeat("k", 32)}})
		expect(t, "the retry under a new key", rotated.await(rotated.sendBy(0, call)), http.StatusOK, "replay")
		w.count(1)
	})
}
