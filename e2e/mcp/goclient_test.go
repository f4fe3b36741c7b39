package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goClient connects the Go SDK's client.
func goClient(revision string) connects {
	return func(t *testing.T, url string, run ...string) client {
		t.Helper()
		g := &inProcess{under: map[any]*pending{}}
		c := mcp.NewClient(&mcp.Implementation{Name: "idem-test", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada", "color": "red"}}, nil
			},
			ProgressNotificationHandler: g.progress,
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		session, err := c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: ofRun(run)}}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			t.Fatalf("the Go client does not connect: %v", err)
		}
		if got := session.InitializeResult().ProtocolVersion; got != revision {
			t.Fatalf("the Go client speaks revision %s, not %s", got, revision)
		}
		t.Cleanup(func() { session.Close() })
		g.session = session
		return g
	}
}

// ofRun is the HTTP of a client that is set to send its run's id, if it has one.
type ofRun []string

func (run ofRun) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(run) > 0 {
		r = r.Clone(r.Context())
		r.Header.Set("x-idem-run", run[0])
	}
	return http.DefaultTransport.RoundTrip(r)
}

// inProcess is the Go SDK's client.
type inProcess struct {
	session *mcp.ClientSession

	mu    sync.Mutex
	last  int
	under map[any]*pending // by progress token
}

func (g *inProcess) progress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n, ok := r.Params.ProgressToken.(float64); ok && g.under[int(n)] != nil {
		g.under[int(n)].progress <- r.Params.Progress
	}
}

func (g *inProcess) begin(c command) *pending {
	p := newPending()
	g.mu.Lock()
	g.last++
	token := g.last
	g.under[token] = p
	g.mu.Unlock()
	limit := time.Minute
	if c.Timeout > 0 {
		limit = time.Duration(c.Timeout) * time.Millisecond
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		result, err := g.do(ctx, c, token)
		if err != nil {
			p.end(err.Error(), nil)
			return
		}
		text, err := json.Marshal(result)
		if err != nil {
			p.end(err.Error(), nil)
			return
		}
		p.end("", text)
	}()
	return p
}

func (g *inProcess) do(ctx context.Context, c command, token int) (any, error) {
	switch c.Op {
	case "tools":
		return g.session.ListTools(ctx, nil)
	case "prompts":
		return g.session.ListPrompts(ctx, nil)
	case "resources":
		return g.session.ListResources(ctx, nil)
	case "ping":
		return struct{}{}, g.session.Ping(ctx, nil)
	}
	params := &mcp.CallToolParams{Name: c.Name, Arguments: c.Args}
	params.SetProgressToken(token)
	return g.session.CallTool(ctx, params)
}
