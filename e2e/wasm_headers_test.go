package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
)

// forged is what a caller or a tool may send to pass for Idem.
var forged = map[string]string{
	"x-idem-outcome": "held", "x-idem-fingerprint": strings.Repeat("0", 64), "x-idem-committed": "false", "x-idem-mcp": "final",
	"x-idem-flags": "UF", "x-idem-details": "no_healthy_upstream", "x-idem-attempts": "1", "x-envoy-overloaded": "true",
}

// Nothing that a caller sends as Idem's reaches the tool, and what belongs to the caller's connection stays there.
func TestWasmCallersDoNotPassForIdem(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		call := envoytest.Call{Path: "/tools/refund?dry=no", Host: "tools.example", Run: "worker-a", Body: refundA, Header: map[string]string{
			"connection": "keep-alive, x-hop", "x-hop": "1", "te": "trailers", "accept-encoding": "gzip, br", "expect": "100-continue",
			"authorization": "Bearer a", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "x-kept": "yes",
			"idempotency-key": "k-1",
		}}
		for name, value := range forged {
			call.Header[name] = value
		}
		r := w.call(call)
		expect(t, "the caller", r, http.StatusOK, "executed")
		if fp := r.Header.Values("x-idem-fingerprint"); len(fp) != 1 || fp[0] == forged["x-idem-fingerprint"] {
			t.Errorf("the fingerprint is %v", fp)
		}
		got := w.tool.calls[0]
		for name := range forged {
			if v, there := got.Header[http.CanonicalHeaderKey(name)]; there {
				t.Errorf("the tool sees %s: %s", name, v)
			}
		}
		for _, name := range []string{"x-idem-run", "connection", "x-hop", "te", "expect"} {
			if v, there := got.Header[http.CanonicalHeaderKey(name)]; there {
				t.Errorf("the tool sees %s: %s", name, v)
			}
		}
		for name, want := range map[string]string{
			"authorization": "Bearer a", "traceparent": call.Header["traceparent"], "x-kept": "yes", "idempotency-key": "k-1",
			"content-type": "application/json", "accept-encoding": "identity",
		} {
			if v := got.Header.Values(name); len(v) != 1 || v[0] != want {
				t.Errorf("the tool sees %s: %v, want %s", name, v, want)
			}
		}
		if got.Path != "/tools/refund?dry=no" || got.Host != "tools.example" || string(got.Body) != refundA {
			t.Errorf("the tool got %s %s %s", got.Host, got.Path, got.Body)
		}
	})
}

// Nothing that a tool sends as Idem's reaches a caller, and what belongs to one moment or one caller is not replayed.
func TestWasmToolsDoNotPassForIdem(t *testing.T) {
	inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
		for name, value := range forged {
			w.tool.extra = append(w.tool.extra, [2]string{name, value})
		}
		w.tool.extra = append(w.tool.extra, wasmhost.Headers{
			{"idempotent-replayed", "true"}, {"set-cookie", "a=1"}, {"connection", "x-hop"}, {"x-hop", "1"}, {"x-kept", "1"}, {"x-kept", "2"},
		}...)
		w.tool.usual = envoytest.Slow
		call := envoytest.Call{Path: "/tools/refund", Body: refundA}
		executor, near, far := w.send(call), w.send(call), w.sendBy(1, request(call))
		replies := map[string]envoytest.Reply{"executed": w.await(executor), "coalesced": w.await(near)}
		farReply := w.await(far)
		expect(t, "the waiter at the other worker", farReply, http.StatusOK, "coalesced")
		replies["replay"] = w.call(call)
		for outcome, r := range replies {
			expect(t, outcome, r, http.StatusOK, outcome)
			if v := r.Header.Values("x-idem-outcome"); len(v) != 1 {
				t.Errorf("%s: outcomes %v", outcome, v)
			}
			for name := range forged {
				if name == "x-idem-outcome" {
					continue
				}
				if v := r.Header.Get(name); v == forged[name] {
					t.Errorf("%s: the caller sees the tool's %s", outcome, name)
				}
			}
			replayed := strings.Join(r.Header.Values("idempotent-replayed"), ",")
			if want := map[string]string{"executed": "", "coalesced": "true", "replay": "true"}[outcome]; replayed != want {
				t.Errorf("%s: idempotent-replayed is %q, want %q", outcome, replayed, want)
			}
			if v := r.Header.Values("x-kept"); strings.Join(v, ",") != "1,2" {
				t.Errorf("%s: x-kept is %v", outcome, v)
			}
			if r.Header.Get("etag") != `"rf-1"` || r.Header.Get("location") != "/refunds/rf-1" || r.Header.Get("x-hop") != "" {
				t.Errorf("%s: headers %v", outcome, r.Header)
			}
			if own := r.Header.Get("set-cookie") != ""; own != (outcome == "executed") {
				t.Errorf("%s: the cookie is there: %v", outcome, own)
			}
		}
		w.count(1)
	})
}

// Access logs can show which execution a reply tells of, and all else that is known of the call.
func TestWasmFilterStateNamesTheExecution(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		state := func(s *wasmhost.Stream, name string) string {
			value, _ := s.FilterState("wasm.idem." + name)
			return value
		}
		const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		call := refundBy("worker-a")
		call.Header = map[string]string{"traceparent": parent}
		executed := w.send(call)
		got(t, executed)
		replayed := w.send(refundBy("worker-a"))
		if r := got(t, replayed); r.Outcome() != "replay" || r.Header.Get("x-idem-traceparent") != parent {
			t.Errorf("the retry got %v with %v", r, r.Header)
		}
		if state(executed, "attempt") == "" || state(executed, "attempt") != state(replayed, "attempt") {
			t.Errorf("the attempt is %q, and %q of its replay", state(executed, "attempt"), state(replayed, "attempt"))
		}
		if state(executed, "traceparent") != "" || state(replayed, "traceparent") != parent {
			t.Errorf("the trace is %q, and %q of the replay", state(executed, "traceparent"), state(replayed, "traceparent"))
		}
		if state(executed, "tool") != "refund" || state(executed, "run") != "worker-a" || len(state(executed, "intent")) != 64 ||
			state(executed, "intent") == state(executed, "fingerprint") {
			t.Errorf("tool %q, run %q, intent %q", state(executed, "tool"), state(executed, "run"), state(executed, "intent"))
		}
		w.pass(6 * time.Second)
		held := w.send(refundBy("worker-z"))
		if id := got(t, held).HoldID(); id == "" || state(held, "hold") != id {
			t.Errorf("the hold is %q, and %q in the filter state", id, state(held, "hold"))
		}
	})
}

// Access logs can show what became of each call.
func TestWasmFilterStateTellsAccessLogs(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		state := func(s *wasmhost.Stream, names ...string) string {
			var values []string
			for _, name := range names {
				value, known := s.FilterState("wasm.idem." + name)
				if !known {
					value = "-"
				}
				values = append(values, value)
			}
			return strings.Join(values, " ")
		}
		executed := w.send(envoytest.Call{Body: refundA})
		fingerprint := got(t, executed).Header.Get("x-idem-fingerprint")
		for want, s := range map[string]*wasmhost.Stream{
			"executed - invoke " + fingerprint:            executed,
			"replay - invoke " + fingerprint:              w.send(envoytest.Call{Body: refundB}),
			"refused malformed_body invoke -":             w.send(envoytest.Call{Body: "{"}),
			"- - - -":                                     w.send(envoytest.Call{Method: http.MethodGet, Path: "/health", Type: "-"}),
			"refused unsupported_media_type invoke -":     w.send(envoytest.Call{Type: "text/plain", Body: "x"}),
			"unavailable ledger_unavailable invoke other": w.sendDown(envoytest.Call{Body: `{"tool":"other"}`}),
		} {
			if strings.HasSuffix(want, " other") {
				want = strings.TrimSuffix(want, "other") + got(t, s).Header.Get("x-idem-fingerprint")
			}
			if have := state(s, "outcome", "code", "rule", "fingerprint"); have != want {
				t.Errorf("filter state is %q, want %q", have, want)
			}
		}
	})
}

// sendDown sends a call while the ledger is down.
func (w *world) sendDown(c envoytest.Call) *wasmhost.Stream {
	w.SetDown("ledgerd", true)
	defer w.SetDown("ledgerd", false)
	return w.send(c)
}

// Counters tell what callers were told and what was executed, over all workers.
func TestWasmCountersTellWhatHappened(t *testing.T) {
	inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
		w.tool.usual = envoytest.Slow
		streams := []*wasmhost.Stream{w.send(envoytest.Call{Body: refundA}), w.send(envoytest.Call{Body: refundB}), w.sendBy(1, request(envoytest.Call{Body: refundC}))}
		for _, s := range streams {
			w.await(s)
		}
		w.tool.usual = envoytest.OK
		w.call(envoytest.Call{Body: refundA})
		w.call(envoytest.Call{Body: `{"tool":"ship"}`, Header: map[string]string{envoytest.BehaviourHeader: "500"}})
		w.call(envoytest.Call{Body: `{"tool":"ship"}`, Header: map[string]string{envoytest.BehaviourHeader: "refused"}})
		w.call(envoytest.Call{Body: `{"tool":"ship"}`, Header: map[string]string{envoytest.BehaviourHeader: "reset"}})
		w.call(envoytest.Call{Body: `{`})
		got(t, w.sendDown(envoytest.Call{Body: `{"tool":"pack"}`}))
		for name, want := range map[string]uint64{
			"calls.executed": 1, "calls.coalesced": 2, "calls.replay": 1, "calls.failed": 1, "calls.not_sent": 1, "calls.in_doubt": 1,
			"calls.refused": 1, "calls.unavailable": 1, "executions": 4, "ledger.lost": 1,
		} {
			if n := w.Counter("idem." + name); n != want {
				t.Errorf("idem.%s is %d, want %d", name, n, want)
			}
		}
	})
}
