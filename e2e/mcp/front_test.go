package mcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"

	"idem/e2e/envoytest"
)

// front stands before the servers as the one tool that Envoy knows. It sees every request that came so far.
type front struct {
	address string
	servers map[string]string // addresses by name

	mu   sync.Mutex
	seen []request
}

// request is one that reached a server.
type request struct {
	path, method string
	header       http.Header
	body         []byte
	answering    bool // some of the reply's body has passed
	rpc          struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
}

func startFront(t envoytest.TB, servers map[string]string) *front {
	f := &front{servers: servers}
	server := httptest.NewServer(f)
	t.Cleanup(server.CloseClientConnections)
	f.address = server.Listener.Addr().String()
	return f
}

// ServeHTTP passes /mcp/RULE/SERVER on to the server's /mcp.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	seen := request{path: r.URL.Path, method: r.Method, header: r.Header.Clone(), body: body}
	_ = json.Unmarshal(body, &seen.rpc) // a batch, or none
	f.mu.Lock()
	f.seen = append(f.seen, seen)
	w = &reply{w, f, len(f.seen) - 1}
	f.mu.Unlock()
	parts := strings.Split(r.URL.Path, "/") // "", mcp, RULE, SERVER
	if len(parts) != 4 || f.servers[parts[3]] == "" {
		http.NotFound(w, r)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // callers leave
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.URL.Path = "http", f.servers[parts[3]], "/mcp"
			p.Out.Host = p.In.Host
		},
	}
	proxy.ServeHTTP(w, r)
}

// reply is one that passes.
type reply struct {
	http.ResponseWriter
	front *front
	of    int // which request
}

func (r *reply) Write(p []byte) (int, error) {
	r.front.mu.Lock()
	r.front.seen[r.of].answering = true
	r.front.mu.Unlock()
	return r.ResponseWriter.Write(p)
}

// Unwrap is for flushing.
func (r *reply) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// requests gives those that reached the servers and that a test asks for.
func (f *front) requests(wanted func(request) bool) []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []request
	for _, r := range f.seen {
		if wanted(r) {
			found = append(found, r)
		}
	}
	return found
}

// calls gives the tools/call requests for a customer that reached the servers.
func (f *front) calls(customer string) []request {
	return f.requests(func(r request) bool {
		return r.rpc.Method == "tools/call" && bytes.Contains(r.body, []byte(customer))
	})
}
