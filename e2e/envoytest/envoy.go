package envoytest

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"idem/envoy"
)

// Options say what an Envoy is started with. The zero value of each member means its default.
type Options struct {
	Concurrency int      // worker threads; default 1
	Plugin      string   // the plugin configuration, JSON; default: the demo's
	Tool        string   // address of the tool; default: one that nothing listens on
	Ledger      string   // address of ledgerd's data API; default: one that nothing listens on
	LedgerAdmin string   // address of ledgerd's admin API; default: one that nothing listens on
	Config      string   // the bootstrap file, from the repository's root; default: envoy/demo.yaml
	Wasm        string   // the module, absolute or from the repository's root; default: bin/idem.wasm
	Env         []string // more environment, NAME=value
	LogLevel    string   // default warning
	Args        []string // more arguments

	// Edit changes the bootstrap configuration before Envoy gets it.
	Edit func(b Bootstrap)
}

// Envoy is a running Envoy.
type Envoy struct {
	Address string // where callers come in, ip:port
	URL     string // the same as http://…
	Admin   string // http://… of its admin interface

	process  *process
	settings envoy.Settings
	options  Options
	dir      string
}

// Start starts Envoy and waits until it takes calls. It stops when the test ends.
func Start(t TB, o Options) *Envoy {
	t.Helper()
	e := newEnvoy(t, o)
	e.run(t)
	if err := poll(t.Context(), startPatience, func() bool { return e.ready() || !e.process.running() }); err != nil {
		t.Fatalf("Envoy is not ready after %v", startPatience)
	}
	if !e.process.running() {
		t.Fatalf("Envoy ended while it started: %v", e.process.err)
	}
	return e
}

// Refused starts Envoy with a configuration that it must refuse, and gives what it logged. An Envoy that takes the
// configuration fails the test.
func Refused(t TB, o Options) (log string) {
	t.Helper()
	e := newEnvoy(t, o)
	e.run(t)
	if err := poll(t.Context(), startPatience, func() bool { return !e.process.running() || e.ready() }); err != nil {
		t.Fatalf("Envoy neither refused its configuration nor got ready within %v", startPatience)
	}
	if e.process.running() {
		e.process.kill(t)
		t.Errorf("Envoy took a configuration that it should refuse:\n%s", o.Plugin)
	}
	return e.Log()
}

func newEnvoy(t TB, o Options) *Envoy {
	t.Helper()
	fill := func(member *string, value func() string) {
		if *member == "" {
			*member = value()
		}
	}
	nowhere := func() string { return FreeAddress(t) }
	fill(&o.Tool, nowhere)
	fill(&o.Ledger, nowhere)
	fill(&o.LedgerAdmin, nowhere)
	fill(&o.Config, func() string { return configFile })
	fill(&o.Wasm, func() string { return wasmFile })
	fill(&o.LogLevel, func() string { return "warning" })
	o.Concurrency = max(o.Concurrency, 1)
	s := envoy.Settings{
		Listen: "127.0.0.1:0", Admin: "127.0.0.1:0",
		Tool: o.Tool, Ledger: o.Ledger, LedgerAdmin: o.LedgerAdmin,
		Wasm: o.Wasm,
	}
	if !filepath.IsAbs(o.Wasm) {
		s.Wasm = Artifact(t, o.Wasm)
	}
	if o.Plugin != "" {
		s.Plugin = []byte(o.Plugin)
	}
	return &Envoy{settings: s, options: o, dir: t.TempDir()}
}

// run starts the process with the settings as they are.
func (e *Envoy) run(t TB) {
	t.Helper()
	config, err := envoy.Render(Artifact(t, e.options.Config), e.settings)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if e.options.Edit != nil {
		config = edit(t, config, e.options.Edit)
	}
	file := filepath.Join(e.dir, "envoy.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	os.Remove(e.adminFile())
	e.Address, e.URL, e.Admin = "", "", ""
	args := append([]string{
		"-c", file, "--disable-hot-restart", "--concurrency", strconv.Itoa(e.options.Concurrency),
		"--log-level", e.options.LogLevel, "--admin-address-path", e.adminFile(), "--drain-time-s", "1",
	}, e.options.Args...)
	e.process = start(t, "Envoy", filepath.Join(e.dir, "envoy.log"), e.options.Env, Artifact(t, envoyFile), args...)
}

func edit(t TB, config []byte, change func(Bootstrap)) []byte {
	t.Helper()
	var bootstrap Bootstrap
	if err := json.Unmarshal(config, &bootstrap); err != nil {
		t.Fatalf("%v", err)
	}
	change(bootstrap)
	config, err := json.Marshal(bootstrap)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return config
}

func (e *Envoy) adminFile() string { return filepath.Join(e.dir, "admin") }

// ready asks Envoy whether it takes calls, and where.
func (e *Envoy) ready() bool {
	address, err := os.ReadFile(e.adminFile())
	if err != nil || !bytes.ContainsRune(address, ':') {
		return false
	}
	e.Admin = "http://" + strings.TrimSpace(string(address))
	if status, _ := e.get("/ready"); status != http.StatusOK {
		return false
	}
	_, body := e.get("/listeners?format=json")
	var listeners struct {
		Statuses []struct {
			Name    string `json:"name"`
			Address struct {
				Socket struct {
					IP   string `json:"address"`
					Port int    `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if json.Unmarshal(body, &listeners) != nil {
		return false
	}
	for _, l := range listeners.Statuses {
		if l.Name == envoy.Listener && l.Address.Socket.Port != 0 {
			e.Address = net.JoinHostPort(l.Address.Socket.IP, strconv.Itoa(l.Address.Socket.Port))
			e.URL = "http://" + e.Address
			return true
		}
	}
	return false
}

// get asks the admin interface. Status 0: there was no answer.
func (e *Envoy) get(path string) (status int, body []byte) {
	response, err := http.Get(e.Admin + path)
	if err != nil {
		return 0, nil
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	if err != nil {
		return 0, nil
	}
	return response.StatusCode, body
}

// Kill9 ends Envoy as a crash does.
func (e *Envoy) Kill9(t TB) {
	t.Helper()
	e.process.kill(t)
}

// Stop asks Envoy to end and waits for it.
func (e *Envoy) Stop(t TB) {
	t.Helper()
	if err := e.process.stop(t); err != nil {
		t.Errorf("Envoy ended with %v", err)
	}
}

// Restart starts an Envoy that was stopped or killed again, on the same addresses.
func (e *Envoy) Restart(t TB) {
	t.Helper()
	e.settings.Listen, e.settings.Admin = e.Address, strings.TrimPrefix(e.Admin, "http://")
	e.run(t)
	Until(t, startPatience, "Envoy to be ready again", e.ready)
}

// Log gives what Envoy has logged.
func (e *Envoy) Log() string { return string(e.process.log()) }

// PID is the process's id, for looking at what it uses.
func (e *Envoy) PID() int { return e.process.cmd.Process.Pid }

// Stat gives a counter or gauge of Envoy by its full name; one that Envoy does not have counts 0.
func (e *Envoy) Stat(t TB, name string) int64 {
	t.Helper()
	status, body := e.get("/stats?format=json&filter=^" + name + "$")
	var stats struct {
		Stats []struct {
			Name  string `json:"name"`
			Value int64  `json:"value"`
		} `json:"stats"`
	}
	if err := json.Unmarshal(body, &stats); status != http.StatusOK || err != nil {
		t.Fatalf("Envoy's stats: status %d, %v: %s", status, err, body)
	}
	for _, s := range stats.Stats {
		if s.Name == name {
			return s.Value
		}
	}
	return 0
}

// Stats gives Envoy's statistics as its admin interface writes them. query is of /stats.
func (e *Envoy) Stats(t TB, query string) string {
	t.Helper()
	status, body := e.get("/stats?" + query)
	if status != http.StatusOK {
		t.Fatalf("Envoy's stats: status %d: %s", status, body)
	}
	return string(body)
}
