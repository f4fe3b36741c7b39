package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"idem/e2e/envoytest"
)

// startServers starts every server and gives their addresses by the names that paths use.
func startServers(t envoytest.TB, b *bank) map[string]string {
	goServer := newGoServer(b)
	at := map[string]string{
		"go":       serveGo(t, goServer, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}),
		"go-json":  serveGo(t, goServer, &mcp.StreamableHTTPOptions{JSONResponse: true}),
		"go-plain": serveGo(t, goServer, &mcp.StreamableHTTPOptions{Stateless: true}),
	}
	python := []string{"py", "py-json", "py-plain", "py-plain-json", "py-resumed"} // in the order of clients/server.py
	args := []string{envoytest.Artifact(t, "e2e/mcp/clients/server.py"), b.url}
	for _, name := range python {
		at[name] = envoytest.FreeAddress(t)
		_, port, _ := net.SplitHostPort(at[name])
		args = append(args, port)
	}
	envoytest.StartProgram(t, "the Python server", nil, envoytest.Artifact(t, ".tools/mcp/python/bin/python"), args...)
	at["everything"] = envoytest.FreeAddress(t)
	_, port, _ := net.SplitHostPort(at["everything"])
	envoytest.StartProgram(t, "server-everything", []string{"PORT=" + port}, envoytest.Artifact(t, ".tools/mcp/node/node"),
		envoytest.Artifact(t, ".tools/mcp/node/node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "streamableHttp")
	at["ts-resumed"] = envoytest.FreeAddress(t)
	_, port, _ = net.SplitHostPort(at["ts-resumed"])
	node := envoytest.Artifact(t, ".tools/mcp/node/node")
	envoytest.StartProgram(t, "the TypeScript server", nil, node, envoytest.Artifact(t, "e2e/mcp/clients/server.mjs"), filepath.Dir(node), b.url, port)
	at["odd"] = startOdd(t, b)
	at["conformance"] = envoytest.FreeAddress(t)
	envoytest.StartProgram(t, "the conformance server", nil, buildConformanceServer(t), "-http", at["conformance"], "-stateless=false")
	for name, address := range at {
		envoytest.Until(t, 0, name+" to listen", func() bool {
			c, err := net.Dial("tcp", address)
			if err == nil {
				c.Close()
			}
			return err == nil
		})
	}
	return at
}

// buildConformanceServer builds the Go SDK's server for the conformance suite, which go.mod pins as a tool.
func buildConformanceServer(t envoytest.TB) (program string) {
	program = filepath.Join(t.TempDir(), "everything-server")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", program, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	if log, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the Go SDK's conformance server cannot be built: %v\n%s", err, log)
	}
	return program
}

func serveGo(t envoytest.TB, server *mcp.Server, o *mcp.StreamableHTTPOptions) (address string) {
	s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, o))
	t.Cleanup(s.CloseClientConnections)
	return s.Listener.Addr().String()
}

type refundArgs struct {
	Customer string `json:"customer"`
	Amount   string `json:"amount,omitempty"`
	Currency string `json:"currency,omitempty"`
}

type refunded struct {
	RefundID string `json:"refund_id"`
}

// newGoServer has the tools of clients/server.py, and break, which ends in a JSON-RPC error, and ask, which asks back.
func newGoServer(b *bank) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "idem-test", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "refund"}, func(ctx context.Context, _ *mcp.CallToolRequest, a refundArgs) (*mcp.CallToolResult, refunded, error) {
		id, err := b.execute(ctx, a.Customer)
		return nil, refunded{id}, err
	})
	mcp.AddTool(s, &mcp.Tool{Name: "fail"}, func(ctx context.Context, _ *mcp.CallToolRequest, a refundArgs) (*mcp.CallToolResult, any, error) {
		id, _ := b.execute(ctx, a.Customer)
		return nil, nil, errors.New(id + " failed")
	})
	mcp.AddTool(s, &mcp.Tool{Name: "break"}, func(ctx context.Context, _ *mcp.CallToolRequest, a refundArgs) (*mcp.CallToolResult, any, error) {
		id, _ := b.execute(ctx, a.Customer)
		return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: id + " broke"}
	})
	mcp.AddTool(s, &mcp.Tool{Name: "steps"}, func(ctx context.Context, r *mcp.CallToolRequest, a refundArgs) (*mcp.CallToolResult, any, error) {
		r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Total: 2})
		id, err := b.execute(ctx, a.Customer)
		return text(id), nil, err
	})
	mcp.AddTool(s, &mcp.Tool{Name: "poll"}, func(ctx context.Context, r *mcp.CallToolRequest, a refundArgs) (*mcp.CallToolResult, any, error) {
		r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Total: 2})
		r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 200 * time.Millisecond})
		id, err := b.execute(ctx, a.Customer)
		return text(id), nil, err
	})
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, r *mcp.CallToolRequest, a refundArgs) (*mcp.CallToolResult, any, error) {
		// Clients of earlier revisions are asked by the SDK while the call runs, later ones by the result.
		answer, ok := r.Params.InputResponses["who"].(*mcp.ElicitResult)
		if !ok {
			return &mcp.CallToolResult{RequestState: "asked", InputRequests: mcp.InputRequestMap{"who": &mcp.ElicitParams{
				Message: "Who are you?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
			}}}, nil, nil
		}
		id, err := b.execute(ctx, a.Customer)
		name, _ := answer.Content["name"].(string)
		return text(id + " for " + name), nil, err
	})
	return s
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}
