package e2e_test

import (
	"bytes"
	"net/http"
	"testing"

	"idem/e2e/envoytest"
)

func TestTransparentReplies(t *testing.T) {
	s := demoStack(t)
	t.Run("a replay keeps status and headers", func(t *testing.T) { replayKeepsStatusAndHeaders(t, s) })
	t.Run("unmatched calls pass untouched", func(t *testing.T) { unmatchedCallsPass(t, s) })
	t.Run("headers of callers end at Idem", func(t *testing.T) { idemHeadersEnd(t, s) })
}

// In transparent mode a replay is the tool's own reply: status, location, entity tag and body.
func replayKeepsStatusAndHeaders(t *testing.T, s *envoytest.Stack) {
	s.Fresh(t)
	call := envoytest.Call{Path: "/tools/refund", Body: refundA, Header: map[string]string{envoytest.BehaviourHeader: "201"}}
	first, second := s.Call(t, call), s.Call(t, call)
	expect(t, "the first call", first, http.StatusCreated, "executed")
	expect(t, "the second call", second, http.StatusCreated, "replay")
	if !bytes.Equal(first.Body, second.Body) {
		t.Errorf("the replay's body is %s, was %s", second.Body, first.Body)
	}
	for _, name := range []string{"location", "etag", "content-type", "x-idem-fingerprint"} {
		if a, b := first.Header.Get(name), second.Header.Get(name); a == "" || a != b {
			t.Errorf("header %s was %q and is replayed as %q", name, a, b)
		}
	}
	if first.Header.Get("idempotent-replayed") != "" || second.Header.Get("idempotent-replayed") != "true" {
		t.Errorf("idempotent-replayed is %q, then %q", first.Header.Get("idempotent-replayed"), second.Header.Get("idempotent-replayed"))
	}
	for _, name := range []string{"x-idem-flags", "x-idem-details", "x-idem-attempts", "x-envoy-upstream-service-time"} {
		if v := first.Header.Get(name); v != "" {
			t.Errorf("the caller sees %s: %s", name, v)
		}
	}
	expectExecutions(t, s.Tool, 1)
}

// What no rule matches is none of Idem's business.
func unmatchedCallsPass(t *testing.T, s *envoytest.Stack) {
	s.Fresh(t)
	for range 2 {
		r := s.Call(t, envoytest.Call{Method: http.MethodGet, Path: "/tools/refund", Type: "-"})
		if r.Status != http.StatusOK || r.Outcome() != "" {
			t.Fatalf("a GET got %v", r)
		}
	}
	expectExecutions(t, s.Tool, 2)
}

// Callers cannot pass for Idem, and the tool does not see what is between caller and Idem.
func idemHeadersEnd(t *testing.T, s *envoytest.Stack) {
	s.Fresh(t)
	call := envoytest.Call{Path: "/tools/refund", Body: refundA, Run: "worker-a", Header: map[string]string{
		"x-idem-outcome": "executed", "x-idem-flags": "UF", "x-envoy-retry-on": "5xx,reset", "x-kept": "yes",
	}}
	expect(t, "the caller", s.Call(t, call), http.StatusOK, "executed")
	got := s.Tool.Calls()[0]
	for _, name := range []string{"x-idem-outcome", "x-idem-flags", "x-idem-run", "x-envoy-retry-on"} {
		if v := got.Header.Get(name); v != "" {
			t.Errorf("the tool sees %s: %s", name, v)
		}
	}
	if got.Header.Get("x-kept") != "yes" || got.Header.Get("accept-encoding") != "identity" || string(got.Body) != refundA {
		t.Errorf("the tool got %v %s", got.Header, got.Body)
	}
}
