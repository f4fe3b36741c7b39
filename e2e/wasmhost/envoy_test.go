package wasmhost_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
)

// exchange is one request of the comparison: it is sent to real Envoy and to the host.
type exchange struct {
	path, body string
	header     wasmhost.Headers
}

// The exchanges in which the filter must see and say the same under real Envoy and under this host. Everything before
// the last one happens in one VM.
var exchanges = []exchange{
	{path: "/pass"}, {path: "/pass", body: "body"}, {path: "/reply", body: "body"}, {path: "/reply-empty"},
	{path: "/headers", header: header("x-many", "1", "x-many", "2", "x-gone", "g", "x-twice", "a", "x-twice", "b")},
	{path: "/body", body: "body"}, {path: "/replace", body: "body"}, {path: "/append", body: "body"},
	{path: "/shared"}, {path: "/common"}, {path: "/metrics"},
	{path: "/replace-response"}, {path: "/reply-instead"},
	{path: "/park"}, {path: "/park", body: "body"}, {path: "/park-twice"}, {path: "/park-resume", body: "body"}, {path: "/park-resume"},
	{path: "/park-call", body: "body"}, {path: "/park-call-unknown"},
	{path: "/body", body: strings.Repeat("b", 2<<20)},
	{path: "/reply-panic"},
}

// seen is what the caller got and what the filter logged meanwhile.
type seen struct {
	status int
	body   string
	log    []string
}

// counted finds what differs without meaning anything: Envoy adds headers of its own.
var counted = regexp.MustCompile(`^((?:request|response)_headers|pairs) \d+`)

func (s *seen) say(line string) { s.log = append(s.log, counted.ReplaceAllString(line, "$1 n")) }

func TestTheFilterSeesWhatRealEnvoyShowsIt(t *testing.T) {
	envoy := startEnvoy(t)
	h, tr := start(t, wasmhost.Options{Config: "probe", Clusters: []string{"upstream"}})
	for n, e := range exchanges {
		name := fmt.Sprintf("%d %s with %d bytes", n, e.path, len(e.body))
		want, got := envoy.exchange(t, e), underHost(h, tr, e)
		if got.status != want.status || got.body != want.body {
			t.Errorf("%s: the caller got %d %.40q, from real Envoy %d %.40q", name, got.status, got.body, want.status, want.body)
		}
		if n < len(exchanges)-1 && len(e.body) < 1<<20 && !reflect.DeepEqual(got.log, want.log) {
			t.Errorf("%s: the filter logged\n  %s\nunder real Envoy\n  %s", name, strings.Join(got.log, "\n  "), strings.Join(want.log, "\n  "))
		}
	}
}

func underHost(h *wasmhost.Host, tr *transcript, e exchange) seen {
	tr.next()
	s := h.VM(0).Request(wasmhost.Request{Path: e.path, Body: []byte(e.body), Headers: e.header})
	for _, c := range h.Calls() {
		c.Respond(http.StatusOK, header("content-length", "2", "content-type", "text/plain", "date", "now", "x-envoy-upstream-service-time", "0"), []byte("ok"))
	}
	if s.Upstream() != nil && !s.Ended() {
		s.Respond(http.StatusOK, header("content-length", "2"), []byte("ok"))
	}
	out := seen{}
	for _, line := range tr.next() {
		out.say(line)
	}
	if r := s.Reply(); r != nil {
		out.status, out.body = r.Status, string(r.Body)
	}
	return out
}

// realEnvoy is an Envoy with the probe in it, one worker, and an upstream that says ok.
type realEnvoy struct {
	url, log string
	read     int
}

func startEnvoy(t *testing.T) *realEnvoy {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "ok")
	}))
	t.Cleanup(upstream.Close)
	dir := t.TempDir()
	if _, err := wasmhost.Build(t.Context(), dir, "./testdata/probe"); err != nil {
		t.Fatal(err)
	}
	port := upstream.Listener.Addr().(*net.TCPAddr).Port
	config := filepath.Join(dir, "envoy.json")
	if err := os.WriteFile(config, bootstrap(t, filepath.Join(dir, "filter.wasm"), port), 0o600); err != nil {
		t.Fatal(err)
	}
	admin := filepath.Join(dir, "admin")
	e := &realEnvoy{log: filepath.Join(dir, "log")}
	cmd := exec.CommandContext(t.Context(), envoytest.Artifact(t, ".tools/bin/envoy"), "-c", config, "--concurrency", "1",
		"--disable-hot-restart", "--admin-address-path", admin,
		"-l", "error", "--component-log-level", "wasm:info", "--log-format", "%v")
	log, err := os.Create(e.log) // --log-path would be flushed every 10 s
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the test's context has ended, which killed it
	envoytest.Until(t, 30*time.Second, "Envoy listens", func() bool {
		e.url = listener(admin)
		return e.url != ""
	})
	return e
}

// listener asks Envoy where it listens; empty: it does not yet.
func listener(adminFile string) string {
	address, err := os.ReadFile(adminFile)
	if err != nil {
		return ""
	}
	res, err := http.Get("http://" + strings.TrimSpace(string(address)) + "/listeners?format=json")
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	var listeners struct {
		Statuses []struct {
			Address struct {
				Socket struct {
					Port int `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if json.NewDecoder(res.Body).Decode(&listeners) != nil || len(listeners.Statuses) == 0 || listeners.Statuses[0].Address.Socket.Port == 0 {
		return ""
	}
	return fmt.Sprintf("http://127.0.0.1:%d", listeners.Statuses[0].Address.Socket.Port)
}

func (e *realEnvoy) exchange(t *testing.T, x exchange) seen {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.url+x.path, strings.NewReader(x.body))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range x.header {
		req.Header.Add(p[0], p[1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s: %v", x.path, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s: %v", x.path, err)
	}
	out := seen{status: res.StatusCode, body: string(body)}
	if res.StatusCode == http.StatusServiceUnavailable {
		return out
	}
	// The filter's last line about a stream may come after the caller has its answer.
	envoytest.Until(t, 10*time.Second, "the filter logs the end of "+x.path, func() bool {
		out.log = nil
		for _, line := range e.lines(t) {
			out.say(line)
		}
		return len(out.log) > 0 && strings.Contains(strings.Join(out.log, "\n"), "\ndone ") && !e.behind(x, out.log)
	})
	e.read += len(out.log)
	return out
}

// behind reports whether the root has yet to say what it was asked over a queue.
func (e *realEnvoy) behind(x exchange, log []string) bool {
	return x.path == "/common" && !strings.Contains(strings.Join(log, "\n"), "queue hello")
}

var logged = regexp.MustCompile(`wasm log(?: probe)? idem idem: (.*)`)

// lines gives what the filter has logged since it was read last; the start's lines are left out.
func (e *realEnvoy) lines(t *testing.T) []string {
	t.Helper()
	log, err := os.ReadFile(e.log)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, line := range bytes.Split(log, []byte("\n")) {
		m := logged.FindSubmatch(line)
		if m == nil || bytes.HasPrefix(m[1], []byte("vm_start")) || bytes.HasPrefix(m[1], []byte("configure")) {
			continue
		}
		lines = append(lines, string(m[1]))
	}
	return lines[min(e.read, len(lines)):]
}

// bootstrap is Envoy's configuration.
func bootstrap(t *testing.T, wasm string, upstream int) []byte {
	t.Helper()
	at := func(port int) map[string]any {
		return map[string]any{"socket_address": map[string]any{"address": "127.0.0.1", "port_value": port}}
	}
	typed := func(name string, members map[string]any) map[string]any {
		members["@type"] = "type.googleapis.com/" + name
		return members
	}
	filter := typed("envoy.extensions.filters.http.wasm.v3.Wasm", map[string]any{"config": map[string]any{
		"name": "probe", "root_id": "idem", "failure_policy": "FAIL_RELOAD", "allow_on_headers_stop_iteration": true,
		"vm_config": map[string]any{
			"vm_id": "idem", "runtime": "envoy.wasm.runtime.v8",
			"code": map[string]any{"local": map[string]any{"filename": wasm}},
		},
		"configuration": typed("google.protobuf.StringValue", map[string]any{"value": "probe"}),
	}})
	manager := typed("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", map[string]any{
		"stat_prefix": "probe",
		"route_config": map[string]any{"virtual_hosts": []any{map[string]any{
			"name": "all", "domains": []string{"*"},
			"routes": []any{map[string]any{"match": map[string]any{"prefix": "/"}, "route": map[string]any{"cluster": "upstream"}}},
		}}},
		"http_filters": []any{
			map[string]any{"name": "probe", "typed_config": filter},
			map[string]any{"name": "router", "typed_config": typed("envoy.extensions.filters.http.router.v3.Router", map[string]any{})},
		},
	})
	out, err := json.Marshal(map[string]any{
		"admin": map[string]any{"address": at(0)},
		"static_resources": map[string]any{
			"listeners": []any{map[string]any{
				"name": "probe", "address": at(0),
				"filter_chains": []any{map[string]any{"filters": []any{map[string]any{"name": "http", "typed_config": manager}}}},
			}},
			"clusters": []any{map[string]any{
				"name": "upstream", "connect_timeout": "1s",
				"load_assignment": map[string]any{"cluster_name": "upstream", "endpoints": []any{map[string]any{
					"lb_endpoints": []any{map[string]any{"endpoint": map[string]any{"address": at(upstream)}}},
				}}},
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
