package e2e_test

import (
	"context"
	"maps"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
	"idem/ledgerd/api"
	"idem/ledgerd/ledger"
	"idem/ledgerd/store/memory"
)

// world is the product without Envoy: the compiled filter on a proxy-wasm host, a real ledger behind its data API, and
// a tool. All of it lives by one clock, which stands still unless [world.pass] moves it, so that half an hour passes in
// milliseconds and nothing ever depends on how busy the machine is.
type world struct {
	*wasmhost.Host
	t      *testing.T
	setup  setup
	ledger *ledger.Ledger
	tool   *countingTool

	beside   []*world          // other Envoys over the same ledger and tool
	servers  map[string]server // by cluster
	underWay []*served         // in the order of their dispatch
	frozen   map[string]bool   // clusters whose calls wait for the test
	heard    *journal
}

// setup is what differs from world to world. The zero value of each member means its default.
type setup struct {
	plugin string            // the plugin's configuration; the README's: /api/invoke in envelopes, /tools/ transparent
	env    map[string]string // of the filter's VM
	vms    int               // 1
}

// inWorld plays a test in a world of its own.
func inWorld(t *testing.T, o setup, play func(t *testing.T, w *world)) {
	t.Helper()
	module := compiledFilter(t)
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, setup: o, frozen: map[string]bool{}, tool: &countingTool{}, heard: &journal{}}
		w.openLedger()
		w.servers = map[string]server{"idem-execute": w.tool.execute}
		w.serveLedger()
		w.startFilter(module)
		play(t, w)
	})
}

// compiledFilter is the module that `make build` makes. Reading it takes a second, so all worlds share one.
func compiledFilter(t *testing.T) *wasmhost.Module {
	t.Helper()
	path := envoytest.Artifact(t, "bin/idem.wasm")
	filterModule.once.Do(func() {
		var wasm []byte
		if wasm, filterModule.err = os.ReadFile(path); filterModule.err == nil {
			filterModule.module, filterModule.err = wasmhost.Compile(context.Background(), wasm)
		}
	})
	if filterModule.err != nil {
		t.Fatalf("bin/idem.wasm: %v; run `make build`", filterModule.err)
	}
	return filterModule.module
}

var filterModule struct {
	once   sync.Once
	module *wasmhost.Module
	err    error
}

// readmeRules are the two rules of the demo.
var readmeRules = plugin(`{"name":"invoke","match":{"path":"/api/invoke"},"reply":"envelope"}`,
	`{"name":"tools","match":{"path_prefix":"/tools/"}}`)

// asConfigured is what demo.yaml's local_reply_config makes of the reply of an Envoy that gives up one which is held back.
func asConfigured(s *wasmhost.Stream, status int, headers wasmhost.Headers, body []byte) (int, wasmhost.Headers, []byte) {
	statuses := map[string]int{"application/problem+json": http.StatusGatewayTimeout, "application/json": http.StatusOK, "text/event-stream": http.StatusOK}
	kind, _ := s.FilterState("wasm.idem.broken_as")
	told, of := statuses[kind]
	if !of {
		return status, headers, body
	}
	text, _ := s.FilterState("wasm.idem.broken")
	fingerprint, _ := s.FilterState("wasm.idem.fingerprint")
	return told, wasmhost.Headers{
		{"content-type", kind}, {"x-idem-outcome", "in_doubt"}, {"x-idem-fingerprint", fingerprint}, {"x-idem-committed", "false"},
	}, []byte(text)
}

// another starts one more Envoy over the same ledger, in front of the same tool.
func (w *world) another(o setup) *world {
	w.t.Helper()
	other := &world{t: w.t, setup: o, frozen: map[string]bool{}, tool: w.tool, heard: w.heard, ledger: w.ledger, servers: maps.Clone(w.servers)}
	other.startFilter(compiledFilter(w.t))
	w.beside, other.beside = append(w.beside, other), append(other.beside, w)
	return other
}

// startFilter starts workers with the filter.
func (w *world) startFilter(module *wasmhost.Module) {
	w.t.Helper()
	config := w.setup.plugin
	if config == "" {
		config = readmeRules
	}
	host, err := module.Start(w.t.Context(), wasmhost.Options{
		Config: config, Env: w.setup.env, VMs: w.setup.vms, Start: time.Now(),
		Clusters: []string{"ledgerd", "idem-execute"}, BufferLimit: 4 << 20,
		LocalReplies: asConfigured,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Host = host
	w.t.Cleanup(func() {
		host.Close()
		w.underWay = w.stillServed()
		for _, l := range host.Logs(wasmhost.Critical) {
			w.t.Errorf("the filter is at fault: %s", l.Text)
		}
	})
}

// openLedger makes a ledger over a store in memory.
func (w *world) openLedger() {
	w.t.Helper()
	var err error
	w.ledger, err = ledger.New(ledger.Options{Store: memory.New(memory.Options{}), SoleOwner: true})
	if err != nil {
		w.t.Fatal(err)
	}
	l := w.ledger
	w.t.Cleanup(func() {
		for _, s := range w.underWay {
			s.cancel()
		}
		if err := l.Close(context.Background()); err != nil {
			w.t.Error(err)
		}
	})
}

// serveLedger puts the data API of ledgerd behind the cluster "ledgerd".
func (w *world) serveLedger() {
	w.t.Helper()
	a, err := api.New(api.Config{Ledger: w.ledger})
	if err != nil {
		w.t.Fatal(err)
	}
	w.servers["ledgerd"] = w.heard.server(a.Data())
}

// refuseLedger stops ledgerd: connections to it are refused until serveLedger.
func (w *world) refuseLedger() {
	w.servers["ledgerd"] = func(context.Context, *wasmhost.Call) *wasmhost.Response {
		return &wasmhost.Response{Status: http.StatusServiceUnavailable,
			Headers: wasmhost.Headers{{"content-type", "text/plain"}}, Body: []byte("connection refused")}
	}
}
