package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// refundSchema says what a model may send to refund. Idem needs none of it.
const refundSchema = `{"type":"object","required":["customer","amount","currency"],"properties":{
	"customer":{"type":"string","description":"the customer's e-mail address"},
	"amount":{"type":["string","number"],"description":"such as 12.00 or \"$12.00\""},
	"currency":{"type":"string"}}}`

// mcpHandler is the same tools as an MCP server: streamable HTTP without sessions, so that clients of every revision
// of the protocol are served.
func (t *Tool) mcpHandler() http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "idem-demo", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{
		Name: "refund", Description: "Refunds a customer. It takes 2.5 s and must not happen twice.",
		InputSchema: json.RawMessage(refundSchema),
	}, t.mcpRefund)
	anything := json.RawMessage(`{"type":"object"}`)
	server.AddTool(&mcp.Tool{Name: "fail", Description: "Fails at once.", InputSchema: anything}, t.mcpFail)
	server.AddTool(&mcp.Tool{Name: "echo", Description: "Answers with what it was sent.", InputSchema: anything}, t.mcpEcho)
	server.AddTool(&mcp.Tool{
		Name: "slow", Description: "Takes a number of seconds (10) and tells how far it is, every second.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"seconds":{"type":"number"}}}`),
	}, t.mcpSlow)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
}

// mcpCount counts a tools/call as the same tool's execution by HTTP is counted.
func (t *Tool) mcpCount(r *mcp.CallToolRequest, refundID string) (Execution, call) {
	c := call{Tool: r.Params.Name, whole: r.Params.Arguments}
	_ = json.Unmarshal(r.Params.Arguments, &c.Args) // no arguments are none
	return t.count(c, refundID), c
}

func (t *Tool) mcpRefund(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	e, _ := t.mcpCount(r, "re_"+random())
	<-time.After(t.refund) // whoever leaves meanwhile does not stop it
	return mcpResult(map[string]any{
		"refund_id": e.RefundID, "status": "succeeded", "customer": e.Customer, "amount": e.Amount, "executed_at": e.At,
	})
}

func (t *Tool) mcpFail(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	e, _ := t.mcpCount(r, "")
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{
		&mcp.TextContent{Text: fmt.Sprintf("the tool failed, as it was asked to (execution %d)", e.N)},
	}}, nil
}

func (t *Tool) mcpEcho(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	e, c := t.mcpCount(r, "")
	return mcpResult(map[string]any{"execution": e.N, "id": random(), "received": c.Args})
}

func (t *Tool) mcpSlow(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	e, c := t.mcpCount(r, "")
	seconds := t.slow.Seconds()
	if n, ok := c.Args["seconds"].(float64); ok && n >= 0 && n <= 600 {
		seconds = n
	}
	for done := 0.0; done < seconds; done++ {
		if token := r.Params.GetProgressToken(); token != nil {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: seconds})
		}
		<-time.After(time.Duration(min(1, seconds-done) * float64(time.Second)))
	}
	return mcpResult(map[string]any{"execution": e.N, "id": random()})
}

// mcpResult gives a result as text, which every client shows to its model.
func mcpResult(v any) (*mcp.CallToolResult, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil
}
