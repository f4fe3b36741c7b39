package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// failureStack is what the table plays on.
type failureStack struct {
	*envoytest.Stack
	gate *envoytest.Gate
	log  string // Envoy's access log
	rows *rowFinder
}

// How long a caller may wait for its answer at most, on a machine that is busy with all the others.
const answerBound = 90 * time.Second

func startFailures(t *testing.T) *failureStack {
	t.Helper()
	gate := envoytest.StartGate(t)
	tool := envoytest.StartTool(t)
	http2 := tool.ServeHTTP2(t)
	nowhere := envoytest.FreeAddress(t)
	s := &failureStack{gate: gate, log: filepath.Join(t.TempDir(), "access.log")}
	s.Stack = envoytest.StartStackBefore(t, tool, envoytest.Options{
		Concurrency: 2,
		Plugin:      tableRules(),
		Args:        []string{"--file-flush-interval-msec", "20"},
		Edit: func(b envoytest.Bootstrap) {
			for _, listener := range []string{"idem", "idem-execute"} {
				routeFailures(b, listener)
				b.LogAccess(listener, s.log, listener+` %REQ(TOOL-GATE)% %RESPONSE_FLAGS% %UPSTREAM_REQUEST_ATTEMPT_COUNT% %RESPONSE_CODE_DETAILS%`)
			}
			gate.Install(b, "idem", "idem-execute")
			addFailureClusters(b, tool.Address, http2, nowhere)
		},
	})
	s.rows = &rowFinder{ledgerd: s.Ledgerd}
	return s
}

// checkWorkers fails the test where one of the two workers has had no callers: then nobody waited at another worker.
func (s *failureStack) checkWorkers(t *testing.T) {
	t.Helper()
	for worker := range 2 {
		name := fmt.Sprintf("listener.127.0.0.1_0.worker_%d.downstream_cx_total", worker)
		if s.Stat(t, name) == 0 {
			t.Errorf("worker %d has had no callers", worker)
		}
	}
}

// routeHeader is the request header that says which way an execution takes.
const routeHeader = "tool-route"

// routeFailures routes by the header: most ways are clusters of their own.
func routeFailures(b envoytest.Bootstrap, listener string) {
	b.SetRoutes(listener, `[
		{"match": {"prefix": "/", "headers": [{"name": %[1]q, "string_match": {"exact": "impatient"}}]},
			"route": {"cluster": "tool", "timeout": "0.5s"}},
		{"match": {"prefix": "/", "headers": [{"name": %[1]q, "string_match": {"exact": "retrying"}}]},
			"route": {"cluster": "retrying", "timeout": "60s", "retry_policy": {"retry_on": "reset,5xx", "num_retries": 1}}},
		{"match": {"prefix": "/", "headers": [{"name": %[1]q, "string_match": {"exact": "unreached"}}]},
			"route": {"cluster": "nowhere", "timeout": "60s", "retry_policy": {"retry_on": "connect-failure", "num_retries": 2}}},
		{"match": {"prefix": "/", "headers": [{"name": %[1]q, "string_match": {"exact": "twofold"}}]},
			"route": {"cluster": "twofold", "timeout": "60s", "retry_policy": {"retry_on": "reset", "num_retries": 1,
				"retry_priority": {"name": "envoy.retry_priorities.previous_priorities", "typed_config": {
					"@type": "type.googleapis.com/envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig",
					"update_frequency": 1}}}}},
		{"match": {"prefix": "/", "headers": [{"name": %[1]q, "string_match": {"exact": "none"}, "invert_match": true}]},
			"route": {"cluster_header": %[1]q, "timeout": "60s"}}]`, routeHeader)
}

func addFailureClusters(b envoytest.Bootstrap, tool, http2, nowhere string) {
	add := func(name, endpoints, more string) {
		b.AddCluster(`{"name": %q, "type": "STATIC", "connect_timeout": "5s",
			"load_assignment": {"cluster_name": %[1]q, "endpoints": [%s]}%s}`, name, endpoints, more)
	}
	at := func(address string) string { return `{"lb_endpoints": [` + envoytest.Endpoint(address) + `]}` }
	add("empty", "", "")
	add("nowhere", at(nowhere), "")
	add("full", at(tool), `, "circuit_breakers": {"thresholds": [{"max_pending_requests": 0}]}`)
	add("tls", at(tool), `, "transport_socket": {"name": "tls", "typed_config": {
		"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"}}`)
	add("http2", at(http2), `, "typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
		"@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
		"common_http_protocol_options": {"max_requests_per_connection": 1},
		"explicit_http_config": {"http2_protocol_options": {"max_concurrent_streams": 1}}}}`)
	const retries = `, "circuit_breakers": {"thresholds": [{"max_retries": 1000}]}`
	add("retrying", at(tool), retries)
	add("twofold", at(tool)+`, {"priority": 1, "lb_endpoints": [`+envoytest.Endpoint(nowhere)+`]}`, retries)
}

// rowFinder finds rows by what was called. Many tests ask it at once, and share an answer.
type rowFinder struct {
	ledgerd *envoytest.Ledgerd

	mu     sync.Mutex
	looked time.Time
	rows   []envoytest.Row
}

// attempt waits until an order has a row, and gives its attempt.
func (f *rowFinder) attempt(t *testing.T, order string) (attempt string) {
	t.Helper()
	envoytest.Until(t, 0, "a row of "+order, func() bool {
		for _, r := range f.newest(t) {
			if strings.Contains(string(r.Action), `"`+order+`"`) {
				attempt = r.Attempt
				return true
			}
		}
		return false
	})
	return attempt
}

func (f *rowFinder) newest(t *testing.T) []envoytest.Row {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.looked) > 20*time.Millisecond {
		f.rows = f.ledgerd.Rows(t, 200)
		f.looked = time.Now()
	}
	return f.rows
}
