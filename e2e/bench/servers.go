package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"idem/e2e/envoytest"
)

// servers are what the rows are measured on. All of them run all the time; only one is called at a time.
type servers struct {
	bare, authorized, guarded *envoytest.Envoy
	ledgerd                   *envoytest.Ledgerd
	executions                *atomic.Int64 // of the tool
}

// rule guards the tool as a user would who has no wish but the defaults.
const plugin = `{"ledger":{"cluster":"ledgerd"},"execute":{"cluster":"idem-execute"},"calls":[{"match":{"path_prefix":"/tools/"}}]}`

func startServers(r *envoytest.Program) servers {
	s := servers{executions: new(atomic.Int64)}
	tool := serve(r, func(w http.ResponseWriter, q *http.Request) {
		n := s.executions.Add(1)
		io.Copy(io.Discard, q.Body)
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, `{"refund_id":"rf-`+strconv.FormatInt(n, 10)+`"}`)
	})
	// The peer's server decides at once and stores nothing: what is measured is the call to it.
	authority := serve(r, func(_ http.ResponseWriter, q *http.Request) { io.Copy(io.Discard, q.Body) })
	s.ledgerd = envoytest.StartLedgerd(r, "")
	options := envoytest.Options{
		Tool: tool, Ledger: s.ledgerd.Address, LedgerAdmin: s.ledgerd.Admin, Plugin: plugin, LogLevel: "error",
	}
	s.guarded = envoytest.Start(r, options)
	options.Edit = func(b envoytest.Bootstrap) { replaceFilter(r, b) }
	s.bare = envoytest.Start(r, options)
	options.Ledger = authority
	options.Edit = func(b envoytest.Bootstrap) { replaceFilter(r, b, extAuthz(authority)) }
	s.authorized = envoytest.Start(r, options)
	return s
}

func serve(r *envoytest.Program, handler http.HandlerFunc) (address string) {
	server := httptest.NewServer(handler)
	r.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// extAuthz is Envoy's own way to ask a server about each call, with the body. Its server stands where ledgerd does.
func extAuthz(address string) map[string]any {
	return map[string]any{
		"name": "envoy.filters.http.ext_authz",
		"typed_config": map[string]any{
			"@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
			"http_service": map[string]any{
				"server_uri": map[string]any{"uri": "http://" + address, "cluster": "ledgerd", "timeout": "5s"},
			},
			"with_request_body": map[string]any{"max_request_bytes": 1 << 20},
		},
	}
}

// replaceFilter puts other HTTP filters (or none) in the place of Idem's.
func replaceFilter(r *envoytest.Program, b envoytest.Bootstrap, by ...any) {
	manager := b.Manager("idem")
	filters, _ := manager["http_filters"].([]any)
	if len(filters) == 0 || filters[0].(map[string]any)["name"] != "idem" {
		r.Fatalf("the Envoy configuration has no HTTP filter idem to replace")
	}
	manager["http_filters"] = append(append([]any(nil), by...), filters[1:]...)
}

// memory is what a process holds in RAM, in MiB.
func memory(r *envoytest.Program, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		r.Fatalf("%v", err)
	}
	for line := range strings.Lines(string(text)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kib); n == 1 {
			return kib / 1024
		}
	}
	r.Fatalf("no VmRSS of process %d", pid)
	return 0
}
