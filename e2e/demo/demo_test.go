package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// onFreeAddresses gives the demo's settings for this machine, from the repository's built programs.
func onFreeAddresses(t *testing.T) settings {
	t.Helper()
	return settings{
		config: envoytest.Artifact(t, "envoy/demo.yaml"), wasm: envoytest.Artifact(t, "bin/idem.wasm"),
		ledgerd: envoytest.Artifact(t, "bin/ledgerd"), envoy: envoytest.Artifact(t, ".tools/bin/envoy"),
		listen: envoytest.FreeAddress(t), envoyAdmin: envoytest.FreeAddress(t),
		data: envoytest.FreeAddress(t), admin: envoytest.FreeAddress(t), tool: envoytest.FreeAddress(t),
	}
}

// screen is what the demo prints. ready is closed once it says that it is.
type screen struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ready chan struct{}
	once  sync.Once
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	if strings.Contains(s.text.String(), "Idem is ready.") {
		s.once.Do(func() { close(s.ready) })
	}
	return len(p), nil
}

func TestTheDemoAnswersThroughEnvoyAndStopsAllItStarted(t *testing.T) {
	s := onFreeAddresses(t)
	ctx, ctrlC := context.WithCancel(t.Context())
	defer ctrlC()
	printed := &screen{ready: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, s, printed) }()
	select {
	case <-printed.ready:
	case err := <-ended:
		t.Fatalf("the demo did not start: %v", err)
	}
	through := "http://" + s.listen
	for path, part := range map[string]string{
		"/": "<title>Idem</title>", "/console/main.js": "import", "/api/state": `"counters"`, "/healthz": "ok",
		"/api/invoke": `"scenarios"`, "/executions": `"total"`,
	} {
		if status, text := fetch(t, "GET", through+path, ""); status != 200 || !strings.Contains(text, part) {
			t.Errorf("%s: %d %.200s", path, status, text)
		}
	}
	for _, host := range []string{"localhost", "127.0.0.1"} { // as whoever opens the console may write it
		_, port, _ := net.SplitHostPort(s.listen)
		if status, text := fetch(t, "GET", "http://"+net.JoinHostPort(host, port)+"/api/rules", ""); status != 200 || !strings.Contains(text, `"invoke"`) {
			t.Errorf("the admin API by the name %s: %d %s", host, status, text)
		}
	}
	call := `{"tool":"echo","runId":"a","args":{"x":1}}`
	var first, second struct {
		Outcome, Fingerprint string
		Result               struct{ ID string }
	}
	for _, into := range []any{&first, &second} {
		status, text := fetch(t, "POST", through+"/api/invoke", call)
		if err := json.Unmarshal([]byte(text), into); err != nil || status != 200 {
			t.Fatalf("%d %v %s", status, err, text)
		}
	}
	if first.Outcome != "executed" || second.Outcome != "replay" || first.Result.ID == "" || first.Result.ID != second.Result.ID {
		t.Errorf("first %+v, second %+v", first, second)
	}
	var texts []string
	for _, id := range []string{`1`, `"again"`} {
		status, text := fetch(t, "POST", through+"/mcp", `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"echo","arguments":{"x":2}}}`)
		_, result, _ := strings.Cut(text, `"result":`)
		texts = append(texts, strings.TrimSpace(result))
		if status != 200 || !strings.Contains(text, `"id":`+id) || !strings.Contains(result, "received") {
			t.Errorf("a tools/call gets %d %s", status, text)
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("a tools/call that is sent again gets %s after %s", texts[1], texts[0])
	}
	explained := `{"a":{"path":"/api/invoke","host":"` + s.listen + `","body":"{\"tool\":\"echo\",\"args\":{\"x\":1.0}}"}}`
	if status, text := fetch(t, "POST", through+"/api/explain", explained); status != 200 || !strings.Contains(text, first.Fingerprint) {
		t.Errorf("the explain page reads a call otherwise than the filter (%s): %d %s", first.Fingerprint, status, text)
	}
	if status, text := fetch(t, "POST", through+"/api/reset", "{}"); status != 200 {
		t.Errorf("reset: %d %s", status, text)
	}
	ctrlC()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("a stop that was asked for is no failure: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the demo does not stop")
	}
	for _, address := range []string{s.listen, s.envoyAdmin, s.data, s.admin, s.tool} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Errorf("somebody still listens: %v", err)
			continue
		}
		l.Close()
	}
}

func fetch(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("content-type", "application/json")
	r.Header.Set("accept", "application/json, text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestEverythingThatIsInTheWayIsNamedWithItsFlag(t *testing.T) {
	s := onFreeAddresses(t)
	taken, err := net.Listen("tcp", s.data)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s.wasm, s.admin = "/nowhere.wasm", "0.0.0.0:0"
	err = run(t.Context(), s, io.Discard)
	for _, part := range []string{"make demo DEMO_ARGS='--ledgerd-listen " + nextTo(s.data) + "'", s.data, "--wasm /nowhere.wasm", "make build", "--ledgerd-admin 0.0.0.0:0"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}

func TestWhatIsPrintedCanBePasted(t *testing.T) {
	usual := settings{
		listen: "127.0.0.1:10000", envoyAdmin: "127.0.0.1:9901", data: "127.0.0.1:7411", admin: "127.0.0.1:7413",
		tool: "127.0.0.1:7412", dataDir: "/somewhere/data",
	}
	text := whatToTry(usual)
	for _, part := range []string{
		"http://localhost:10000/executions", "curl -s localhost:10000/executions", "bin/ledgerd holds list\n",
		"bin/ledgerd doctor --data-dir /somewhere/data --envoy-admin http://127.0.0.1:9901\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
	if strings.Contains(text, usual.tool) {
		t.Error("the tool is shown under two addresses")
	}
	usual.admin, usual.data = "127.0.0.1:1", "127.0.0.1:2"
	if text = whatToTry(usual); !strings.Contains(text, "holds list --server http://127.0.0.1:1\n") || !strings.Contains(text, "--data-server http://127.0.0.1:2\n") {
		t.Errorf("other addresses: %s", text)
	}
}

func TestAProgramThatEndsWhileItStartsShowsItsLog(t *testing.T) {
	s := onFreeAddresses(t)
	s.dataDir = t.TempDir() + "/file"
	if err := os.WriteFile(s.dataDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), s, io.Discard); err == nil || !strings.Contains(err.Error(), "ledgerd ended while it started") || !strings.Contains(err.Error(), s.dataDir) {
		t.Errorf("error %v", err)
	}
}
