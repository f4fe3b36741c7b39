package api_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/api"
)

// follow opens an event stream and gives its lines.
func follow(t *testing.T, url string) (lines *bufio.Scanner, end func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r) //nolint:bodyclose // end closes it
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d, content-type %q", response.StatusCode, response.Header.Get("Content-Type"))
	}
	return bufio.NewScanner(response.Body), func() { response.Body.Close(); cancel() }
}

// awaitLine reads until a line is what is waited for.
func awaitLine(t *testing.T, lines *bufio.Scanner, is func(string) bool) string {
	t.Helper()
	for lines.Scan() {
		if is(lines.Text()) {
			return lines.Text()
		}
	}
	t.Fatalf("the stream ended: %v", lines.Err())
	return ""
}

func connected(line string) bool { return line == ": connected" }

func TestEventsTellWhatTheLedgerDid(t *testing.T) {
	f := start(t, nil)
	lines, end := follow(t, f.admin.URL)
	defer end()
	awaitLine(t, lines, connected)
	f.ops(reserve("a1", "worker-a", "1"))
	awaitLine(t, lines, func(l string) bool { return l == "event: arrive" })
	data := awaitLine(t, lines, func(l string) bool { return strings.HasPrefix(l, "data: ") })
	for _, part := range []string{`"kind":"arrive"`, `"run":"worker-a"`, `"tool":"refund"`, `"attempt":"a1"`} {
		if !strings.Contains(data, part) {
			t.Errorf("%s is not in %s", part, data)
		}
	}
}

func TestAQuietStreamGivesSignsOfLife(t *testing.T) {
	f := start(t, func(c *api.Config) { c.Heartbeat = 5 * time.Millisecond })
	lines, end := follow(t, f.admin.URL)
	defer end()
	awaitLine(t, lines, func(l string) bool { return l == ": beat" })
}

// A server's read deadline is for requests; a stream, whose request was read long ago, must outlive it.
func TestAStreamOutlivesTheReadTimeout(t *testing.T) {
	f := start(t, func(c *api.Config) { c.Heartbeat = 5 * time.Millisecond })
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.Server(t.Context(), f.api.Admin(), quiet())
	server.Config.ReadTimeout = 30 * time.Millisecond
	server.Start()
	defer server.Close()
	lines, end := follow(t, server.URL)
	defer end()
	awaitLine(t, lines, connected)
	for start := time.Now(); time.Since(start) < 4*server.Config.ReadTimeout; {
		awaitLine(t, lines, func(l string) bool { return l == ": beat" })
	}
}

func TestAStreamEndsWithTheServersContext(t *testing.T) {
	f := start(t, nil)
	ctx, drain := context.WithCancel(t.Context())
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.Server(ctx, f.api.Admin(), quiet())
	server.Start()
	defer server.Close()
	lines, end := follow(t, server.URL)
	defer end()
	awaitLine(t, lines, connected)
	drain()
	for lines.Scan() {
	}
	if lines.Err() != nil {
		t.Errorf("the stream did not end in order: %v", lines.Err())
	}
}

func TestTooManyStreamsAreRefused(t *testing.T) {
	f := start(t, func(c *api.Config) { c.Limits.Subscribers = 1 })
	lines, end := follow(t, f.admin.URL)
	defer end()
	awaitLine(t, lines, connected)
	if r := f.get("/api/events"); r.status != 429 || r.code(t) != "overloaded" || r.header.Get("Retry-After") == "" {
		t.Fatalf("%d %s", r.status, r.body)
	}
}
