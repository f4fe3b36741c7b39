package envoytest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// GateHeader is a request header that names the gate that the request waits at, if it gets there.
const GateHeader = "tool-gate"

// Gate stands in an Envoy between Idem and the routes to the tool. What names a gate waits there until the test opens
// it, whatever becomes of it then: also what is not sent at all can be waited for that way.
type Gate struct {
	address string

	mu    sync.Mutex
	gates map[string]*gate
}

type gate struct {
	reached, open chan struct{}
}

// StartGate starts the server that says when to go on. It stops when the test ends, and lets everyone go.
func StartGate(t TB) *Gate {
	t.Helper()
	ended, end := context.WithCancel(context.Background())
	g := &Gate{gates: map[string]*gate{}}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		at := g.at(strings.TrimPrefix(r.URL.Path, "/"))
		g.mu.Lock()
		closeOnce(at.reached)
		g.mu.Unlock()
		select {
		case <-at.open:
		case <-r.Context().Done():
		case <-ended.Done():
		}
	}))
	t.Cleanup(func() {
		end()
		server.Close()
	})
	g.address = server.Listener.Addr().String()
	return g
}

func (g *Gate) at(key string) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.gates[key]
	if at == nil {
		at = &gate{make(chan struct{}), make(chan struct{})}
		g.gates[key] = at
	}
	return at
}

// closeOnce closes a channel that may be closed.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// Await waits until a request has reached a gate.
func (g *Gate) Await(t TB, key string) {
	t.Helper()
	Until(t, 0, "a call to reach the gate "+key, func() bool {
		select {
		case <-g.at(key).reached:
			return true
		default:
			return false
		}
	})
}

// Open lets all go on that wait at a gate, or come to it later.
func (g *Gate) Open(key string) {
	at := g.at(key)
	g.mu.Lock()
	defer g.mu.Unlock()
	closeOnce(at.open)
}

// Install puts the gate before the routes of listeners.
func (g *Gate) Install(b Bootstrap, listeners ...string) {
	b.AddCluster(`{"name": "gate", "type": "STATIC", "connect_timeout": "10s",
		"circuit_breakers": {"thresholds": [{"max_connections": 10000, "max_pending_requests": 10000, "max_requests": 10000}]},
		"load_assignment": {"cluster_name": "gate", "endpoints": [{"lb_endpoints": [%s]}]}}`, Endpoint(g.address))
	const wait = `function envoy_on_request(request)
		local key = request:headers():get("` + GateHeader + `")
		if key then
			request:httpCall("gate", {[":method"] = "GET", [":path"] = "/" .. key, [":authority"] = "gate"}, "", 300000)
		end
	end`
	for _, l := range listeners {
		b.BeforeRouter(l, `{"name": "gate", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
			"default_source_code": {"inline_string": %q}}}`, wait)
	}
}
