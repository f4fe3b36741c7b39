package e2e_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"idem/e2e/envoytest"
)

// readmeAccessLog is the access log that envoy/README.md gives, written to a file.
func readmeAccessLog(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile("../envoy/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```yaml\naccess_log:")
	block, _, _ = strings.Cut(block, "```")
	block = strings.Replace(block, "stream.v3.StdoutAccessLog", "file.v3.FileAccessLog\n    path: "+file, 1)
	var parsed map[string]any
	if err := yaml.Load([]byte("access_log:"+block), &parsed); err != nil || parsed["access_log"] == nil {
		t.Fatalf("envoy/README.md has no access log: %v", err)
	}
	return parsed["access_log"]
}

// Envoy's own logs and statistics say what became of each call, and traces go on: what envoy/README.md tells operators.
func TestWhatOperatorsAreTold(t *testing.T) {
	logs := filepath.Join(t.TempDir(), "access.log")
	s := envoytest.StartStack(t, envoytest.Options{Edit: func(b envoytest.Bootstrap) {
		b.Manager("idem")["access_log"] = readmeAccessLog(t, logs)
	}})
	parent := func(span string) string { return "00-0af7651916cd43dd8448eb211c80319c-" + span + "-01" }
	call := func(run, span string) envoytest.Call {
		return envoytest.Call{Path: "/tools/refund", Run: run, Body: refundA, Header: map[string]string{
			"traceparent": parent(span), "tracestate": "vendor=1", "baggage": "tenant=7", "b3": "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
		}}
	}
	release := s.Tool.Hold()
	replies := make(chan envoytest.Reply, 2)
	go func() { replies <- s.Try(t.Context(), call("worker-a", "b7ad6b7169203331")) }()
	s.Tool.AwaitCount(t, 1)
	go func() { replies <- s.Try(t.Context(), call("worker-b", "c7ad6b7169203332")) }()
	s.AwaitArrivals(t, 2)
	envoytest.Until(t, 0, "the gauges to show what is under way", func() bool {
		return s.Stat(t, "wasmcustom.idem.parked") == 2 && s.Stat(t, "wasmcustom.idem.executing") == 1
	})
	release()
	for range 2 {
		r := <-replies
		want := map[string]string{"executed": "", "coalesced": parent("b7ad6b7169203331")}
		if linked, known := want[r.Outcome()]; !known || r.Header.Get("x-idem-traceparent") != linked {
			t.Errorf("%v is told the trace %q", r, r.Header.Get("x-idem-traceparent"))
		}
	}
	expectProblem(t, "a body that cannot be read", s.Call(t, envoytest.Call{Body: "{"}), http.StatusBadRequest, "malformed_body")

	got := s.Tool.Calls()[0].Header
	for name, want := range call("", "b7ad6b7169203331").Header {
		if got.Get(name) != want {
			t.Errorf("the tool gets %s: %q, want %q", name, got.Get(name), want)
		}
	}

	envoytest.Until(t, 0, "the gauges to show nothing", func() bool {
		return s.Stat(t, "wasmcustom.idem.parked") == 0 && s.Stat(t, "wasmcustom.idem.executing") == 0 && s.Stat(t, "wasmcustom.idem.kept_bytes") == 0
	})
	for _, name := range []string{"read_us", "ledger_ms", "ledger_ops", "execution_ms", "wait_ms", "body_bytes", "result_bytes"} {
		envoytest.Until(t, 0, "histogram "+name, func() bool { return strings.Contains(s.Stats(t, "histograms=only"), "wasmcustom.idem."+name) })
	}

	lines := map[string]map[string]any{}
	envoytest.Until(t, 0, "the access log", func() bool {
		text, _ := os.ReadFile(logs)
		for line := range strings.Lines(string(text)) {
			var one map[string]any
			if json.Unmarshal([]byte(line), &one) == nil {
				lines[one["outcome"].(string)] = one
			}
		}
		return len(lines) == 3
	})
	executed, coalesced, refused := lines["executed"], lines["coalesced"], lines["refused"]
	for _, name := range []string{"attempt", "fingerprint"} {
		if v, _ := executed[name].(string); v == "" || v != coalesced[name] {
			t.Errorf("%s is %v for the one that executed and %v for the one that joined", name, v, coalesced[name])
		}
	}
	if id := got.Get("x-request-id"); id == "" || id != executed["request_id"] {
		t.Errorf("the tool gets the request id %q, and the log has %v", id, executed["request_id"])
	}
	if executed["rule"] != "tools" || executed["tool"] != "refund" || executed["run"] != "worker-a" || executed["execution_traceparent"] != nil {
		t.Errorf("the execution's line is %v", executed)
	}
	if coalesced["execution_traceparent"] != parent("b7ad6b7169203331") || coalesced["traceparent"] != parent("c7ad6b7169203332") {
		t.Errorf("the joined call's line is %v", coalesced)
	}
	if refused["code"] != "malformed_body" || refused["rule"] != "invoke" || refused["fingerprint"] != nil {
		t.Errorf("the refused call's line is %v", refused)
	}
}
