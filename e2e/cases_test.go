package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// TestCases plays every case of canon/testdata/cases on a real Envoy: each caller is told what the case says, and the
// tool is reached as often. The cases run beside each other, each under a host of its own, which is part of the
// endpoint.
func TestCases(t *testing.T) {
	cases := readCases(t)
	shared := startCases(t)
	places := make(chan struct{}, 32) // cases under way at once
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			stack := shared
			if c.breaksTheLedger() {
				stack = startCases(t)
			} else {
				t.Parallel()
			}
			places <- struct{}{}
			defer func() { <-places }()
			c.play(t, stack)
		})
	}
}

// startCases starts a stack whose rules are those that the cases run under, and whose execution route refuses the
// connection where the case wants that.
func startCases(t *testing.T) *envoytest.Stack {
	t.Helper()
	nowhere := envoytest.FreeAddress(t)
	return envoytest.StartStack(t, envoytest.Options{
		Concurrency: 2,
		Plugin:      caseRules(),
		Edit: func(b envoytest.Bootstrap) {
			refuseByHeader(b, nowhere)
			asStruct(map[string]any(b))
		},
	})
}

// asStruct hands the plugin configuration over as a google.protobuf.Struct, as it may be written too.
func asStruct(v any) {
	switch v := v.(type) {
	case map[string]any:
		configuration, _ := v["configuration"].(map[string]any)
		if text, ok := configuration["value"].(string); ok {
			var value map[string]any
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				panic(err)
			}
			v["configuration"] = map[string]any{"@type": "type.googleapis.com/google.protobuf.Struct", "value": value}
		}
		for _, member := range v {
			asStruct(member)
		}
	case []any:
		for _, item := range v {
			asStruct(item)
		}
	}
}

// refuseByHeader routes executions whose behaviour is "refused" to an address where nothing listens.
func refuseByHeader(b envoytest.Bootstrap, nowhere string) {
	b.AddCluster(`{"name": "nowhere", "type": "STATIC", "connect_timeout": "1s",
		"load_assignment": {"cluster_name": "nowhere", "endpoints": [{"lb_endpoints": [%s]}]}}`, envoytest.Endpoint(nowhere))
	b.SetRoutes("idem-execute", `[
		{"match": {"prefix": "/", "headers": [{"name": %q, "string_match": {"exact": "refused"}}]}, "route": {"cluster": "nowhere"}},
		{"match": {"prefix": "/"}, "route": {"cluster": "tool", "timeout": "60s"}}]`, envoytest.BehaviourHeader)
}

// play sends the steps at their times and compares what came of them.
func (c acceptanceCase) play(t *testing.T, stack *envoytest.Stack) {
	host := c.ID + ".cases.example"
	replies := make([]chan envoytest.Reply, len(c.Steps))
	got := make([]envoytest.Reply, len(c.Steps))
	done := make([]bool, len(c.Steps))
	reply := func(i int) envoytest.Reply {
		if !done[i] {
			got[i], done[i] = <-replies[i], true
		}
		return got[i]
	}
	for i, s := range c.Steps {
		if i > 0 {
			pause(t, gap(s.AtMS-c.Steps[i-1].AtMS))
		}
		if want := c.Expect[i]; want != nil && want.Outcome == "replay" {
			for before := range i { // a replay is of what has ended, however slow the machine is
				if replies[before] != nil {
					reply(before)
				}
			}
		}
		if s.Admin != "" {
			answer(t, stack, s.Admin, reply(s.TargetStep))
			continue
		}
		if s.Fault == "ledger_down" {
			stack.Ledgerd.Kill9(t)
		}
		replies[i] = make(chan envoytest.Reply, 1)
		go func() { replies[i] <- stack.Try(t.Context(), c.call(s, host)) }()
		if s.Fault == "ledger_down" {
			reply(i)
			stack.Ledgerd.Start(t)
		}
	}
	for i, want := range c.Expect {
		if want == nil {
			continue
		}
		if r := reply(i); !want.met(r) {
			t.Errorf("step %d: got %v; want %s %s\n%s: %s", i, r, want.Outcome, want.Code, c.Kind, c.Why)
		}
	}
	reached := stack.Tool.CountBy(func(r envoytest.Received) string { return r.Host })[host]
	if reached != c.Executions {
		t.Errorf("the tool was reached %d times, want %d\n%s: %s", reached, c.Executions, c.Kind, c.Why)
	}
}

// gap is how long to wait between two steps. Only the order, the window of 5 s and meeting a call that still runs
// matter, so a long gap is shortened; a short one is long enough for a busy machine to keep the order.
func gap(ms int64) time.Duration {
	return min(max(time.Duration(ms)*time.Millisecond, 100*time.Millisecond), 6*time.Second)
}

// pause lets the time pass that a case has between two steps.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// answer is what a person does about a reply that said held or in_doubt.
func answer(t *testing.T, stack *envoytest.Stack, how string, about envoytest.Reply) {
	t.Helper()
	path, body := "", map[string]any{}
	if as, doubt := strings.CutPrefix(how, "resolve_"); doubt {
		path = "/api/in-doubt/" + attemptInDoubt(t, stack, about.Header.Get("x-idem-fingerprint")) + "/resolve"
		body["as"] = as
	} else {
		path = "/api/holds/" + about.HoldID() + "/" + how
	}
	envoytest.Until(t, 0, how+" to be allowed", func() bool {
		status, reply := stack.Ledgerd.Post(t, path, body)
		if status != http.StatusOK && !strings.Contains(string(reply), `"retry_after_ms"`) {
			t.Fatalf("%s: %d %s", path, status, reply)
		}
		return status == http.StatusOK
	})
}

// attemptInDoubt finds the row in doubt of a fingerprint.
func attemptInDoubt(t *testing.T, stack *envoytest.Stack, fingerprint string) string {
	t.Helper()
	var attempt string
	envoytest.Until(t, 0, "the row to be in doubt", func() bool {
		response, err := http.Get("http://" + stack.Ledgerd.Admin + "/api/in-doubt")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var list struct {
			InDoubt []struct{ Attempt, Fingerprint string } `json:"in_doubt"`
		}
		if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
			t.Fatal(err)
		}
		for _, row := range list.InDoubt {
			if row.Fingerprint == fingerprint {
				attempt = row.Attempt
			}
		}
		return attempt != ""
	})
	return attempt
}
