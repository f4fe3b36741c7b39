package e2e_test

import (
	"context"
	"maps"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
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

// server answers a call of the filter; nil resets it. It may wait for the clock or for the end of ctx, which is that of
// the call.
type server func(ctx context.Context, c *wasmhost.Call) *wasmhost.Response

// served is a call under way in a server.
type served struct {
	call   *wasmhost.Call
	cancel context.CancelFunc
	over   chan *wasmhost.Response
}

// settle lets everything happen that needs no time to pass.
func (w *world) settle() {
	for synctest.Wait(); w.happens(); synctest.Wait() {
	}
}

// happens lets the next thing happen, here or beside; false: there is none.
func (w *world) happens() bool {
	for _, each := range append([]*world{w}, w.beside...) {
		if each.serveNext() || each.deliverNext() {
			return true
		}
	}
	return false
}

// serveNext gives a call to its server. Calls are served in the order of their dispatch, each as far as it comes.
func (w *world) serveNext() bool {
	for _, c := range w.Calls() {
		serve := w.servers[c.Cluster]
		if w.frozen[c.Cluster] || w.isServed(c) {
			continue
		}
		ctx, cancel := context.WithCancel(w.t.Context())
		s := &served{c, cancel, make(chan *wasmhost.Response, 1)}
		w.underWay = append(w.underWay, s)
		go func() { s.over <- serve(ctx, c) }()
		return true
	}
	return false
}

func (w *world) isServed(c *wasmhost.Call) bool {
	for _, s := range w.underWay {
		if s.call == c {
			return true
		}
	}
	return false
}

// deliverNext gives the filter an answer that is there.
func (w *world) deliverNext() bool {
	w.underWay = w.stillServed()
	for _, s := range w.underWay {
		select {
		case r := <-s.over:
			s.cancel()
			if r == nil {
				s.call.Reset()
			} else {
				s.call.RespondWith(*r)
			}
			return true
		default:
		}
	}
	return false
}

// stillServed gives what is under way without the calls that have ended without their server.
func (w *world) stillServed() []*served {
	waiting := map[*wasmhost.Call]bool{}
	for _, c := range w.Calls() {
		waiting[c] = true
	}
	var still []*served
	for _, s := range w.underWay {
		if waiting[s.call] {
			still = append(still, s)
		} else {
			s.cancel()
		}
	}
	return still
}

// pass lets time pass, tick by tick, and everything happen that it brings.
func (w *world) pass(d time.Duration) {
	const tick = 100 * time.Millisecond
	for w.settle(); d > 0; w.settle() {
		step := min(d, tick)
		<-time.After(step)
		for _, each := range append([]*world{w}, w.beside...) {
			each.Advance(step)
		}
		d -= step
	}
}

// passUntil lets time pass until a condition holds, at most so long.
func (w *world) passUntil(what string, most time.Duration, holds func() bool) {
	w.t.Helper()
	for began := time.Now(); !holds(); w.pass(100 * time.Millisecond) {
		if time.Since(began) > most {
			w.t.Fatalf("after %v: never happened: %s", most, what)
		}
	}
}

// freeze makes the calls to a cluster wait for the test, until thaw.
func (w *world) freeze(cluster string) { w.frozen[cluster] = true }

func (w *world) thaw(cluster string) {
	delete(w.frozen, cluster)
	w.settle()
}

// frozenCall is the only call to a cluster that waits for the test.
func (w *world) frozenCall(cluster string) *wasmhost.Call {
	w.t.Helper()
	calls := w.CallsTo(cluster)
	if len(calls) != 1 {
		w.t.Fatalf("%d calls to %s are under way, want 1", len(calls), cluster)
	}
	return calls[0]
}

// request is a call as a proxy-wasm host takes it.
func request(c envoytest.Call) wasmhost.Request {
	r := wasmhost.Request{Method: c.Method, Path: c.Path, Authority: c.Host, Body: []byte(c.Body)}
	if r.Authority == "" {
		r.Authority = "idem.example"
	}
	if r.Path == "" {
		r.Path = "/api/invoke"
	}
	header := map[string]string{}
	switch c.Type {
	case "":
		header["content-type"] = "application/json"
	case "-":
	default:
		header["content-type"] = c.Type
	}
	if c.Run != "" {
		header["x-idem-run"] = c.Run
	}
	for name, value := range c.Header {
		header[strings.ToLower(name)] = value
	}
	header["content-length"] = strconv.Itoa(len(c.Body))
	for name, value := range header {
		r.Headers = append(r.Headers, [2]string{name, value})
	}
	sort.Slice(r.Headers, func(i, j int) bool { return r.Headers[i][0] < r.Headers[j][0] })
	return r
}

// send lets a caller call, by worker 0.
func (w *world) send(c envoytest.Call) *wasmhost.Stream { return w.sendBy(0, request(c)) }

func (w *world) sendBy(worker int, r wasmhost.Request) *wasmhost.Stream {
	s := w.VM(worker).Request(r)
	w.settle()
	return s
}

// call lets a caller call and waits for its reply.
func (w *world) call(c envoytest.Call) envoytest.Reply {
	w.t.Helper()
	return w.await(w.send(c))
}

// await waits for a caller's reply. Whoever calls has one within minutes.
func (w *world) await(s *wasmhost.Stream) envoytest.Reply {
	w.t.Helper()
	w.passUntil("the caller to have its reply", 5*time.Minute, s.Ended)
	return got(w.t, s)
}

// got is the reply that a caller has.
func got(t *testing.T, s *wasmhost.Stream) envoytest.Reply {
	t.Helper()
	r := s.Reply()
	if r == nil {
		t.Fatal("the caller has no reply")
	}
	reply := envoytest.Reply{Status: r.Status, Header: http.Header{}, Body: r.Body}
	for _, h := range r.Headers {
		reply.Header.Add(h[0], h[1])
	}
	if s.Extra() != 0 {
		t.Errorf("the caller was answered %d times too often", s.Extra())
	}
	return reply
}
