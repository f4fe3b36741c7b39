package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
)

// countingTool is the tool behind the execution route, by the same behaviours as envoytest.Tool. A success carries a
// number that no other has. Like the route of envoy/demo.yaml it says on each reply how the reply came about.
type countingTool struct {
	usual envoytest.Behaviour
	extra wasmhost.Headers // that the tool puts on its replies besides
	body  string           // of its successes; {"refund_id": …} by default
	calls []envoytest.Received
	given int
}

// count is how often the tool was reached.
func (tool *countingTool) count() int { return len(tool.calls) }

// execute is a call of the filter to the cluster idem-execute.
func (tool *countingTool) execute(ctx context.Context, c *wasmhost.Call) *wasmhost.Response {
	behaviour := tool.usual
	if b := c.Headers.Get(envoytest.BehaviourHeader); b != "" {
		behaviour = envoytest.Behaviour(b)
	}
	if behaviour == "refused" {
		return madeByRoute(http.StatusServiceUnavailable, "UF",
			"upstream_reset_before_response_started{remote_connection_failure|delayed_connect_error:_Connection_refused}", "1")
	}
	id := tool.receive(c)
	if then, slow := strings.CutPrefix(string(behaviour), "slow"); slow {
		select {
		case <-time.After(envoytest.SlowFor):
		case <-ctx.Done():
			return nil
		}
		behaviour = envoytest.Behaviour(strings.TrimPrefix(then, "_"))
	}
	if end := mcpEnd(c.Body, behaviour, id); end != "" {
		return tool.reply(http.StatusOK, end, nil)
	}
	switch behaviour {
	case envoytest.OK, "":
		body := tool.body
		if body == "" {
			body = `{"refund_id":"` + id + `"}`
		}
		return tool.reply(http.StatusOK, body, wasmhost.Headers{{"location", "/refunds/" + id}, {"etag", `"` + id + `"`}})
	case envoytest.Reset:
		return madeByRoute(http.StatusServiceUnavailable, "UC", "upstream_reset_before_response_started{connection_termination}", "1")
	case envoytest.Cut:
		return nil
	case envoytest.Timeout:
		<-ctx.Done()
		return nil
	}
	status, err := strconv.Atoi(string(behaviour))
	if err != nil {
		panic("no such behaviour: " + behaviour)
	}
	if status < http.StatusBadRequest {
		return tool.reply(status, `{"refund_id":"`+id+`"}`, wasmhost.Headers{{"location", "/refunds/" + id}, {"etag", `"` + id + `"`}})
	}
	return tool.reply(status, `{"error":"the tool failed","call":"`+id+`"}`, nil)
}

// receive counts a call that has reached the tool.
func (tool *countingTool) receive(c *wasmhost.Call) (id string) {
	header := http.Header{}
	for _, h := range c.Headers {
		header.Add(h[0], h[1])
	}
	tool.calls = append(tool.calls, envoytest.Received{
		Method: c.Headers.Get(":method"), Host: c.Headers.Get(":authority"), Path: c.Path(), Header: header, Body: c.Body,
	})
	tool.given++
	return "rf-" + strconv.Itoa(tool.given)
}

// reply is a reply that the tool gave, as the execution route passes it on.
func (tool *countingTool) reply(status int, body string, headers wasmhost.Headers) *wasmhost.Response {
	all := append(wasmhost.Headers{{"content-type", "application/json"}, {"content-length", strconv.Itoa(len(body))}}, headers...)
	for _, h := range tool.extra {
		switch h[0] {
		case "x-idem-flags", "x-idem-details", "x-idem-attempts": // the route overwrites them
		default:
			all = append(all, h)
		}
	}
	all = append(all, [2]string{"date", "Thu, 01 Jan 2026 00:00:00 GMT"}, [2]string{"server", "envoy"})
	return &wasmhost.Response{Status: status, Headers: append(all, howItCame("-", "via_upstream", "1")...), Body: []byte(body)}
}

// madeByRoute is a reply that the execution route made itself.
func madeByRoute(status int, flags, details, attempts string) *wasmhost.Response {
	headers := wasmhost.Headers{{"content-type", "text/plain"}, {"server", "envoy"}}
	return &wasmhost.Response{Status: status, Headers: append(headers, howItCame(flags, details, attempts)...), Body: []byte("no reply")}
}

func howItCame(flags, details, attempts string) wasmhost.Headers {
	return wasmhost.Headers{{"x-idem-flags", flags}, {"x-idem-details", details}, {"x-idem-attempts", attempts}}
}

// mcpEnd is the reply of an MCP server to a JSON-RPC request; empty: the body is none, or the behaviour is not MCP's.
func mcpEnd(body []byte, behaviour envoytest.Behaviour, id string) string {
	var request struct {
		JSONRPC string
		ID      json.RawMessage
	}
	if json.Unmarshal(body, &request) != nil || request.JSONRPC != "2.0" || request.ID == nil {
		return ""
	}
	var end string
	switch behaviour {
	case envoytest.OK, "":
		end = `"result":{"content":[{"type":"text","text":"` + id + `"}],"structuredContent":{"refund_id":"` + id + `"}}`
	case envoytest.MCPError:
		end = `"result":{"content":[{"type":"text","text":"` + id + ` failed"}],"isError":true}`
	case envoytest.RPCError:
		end = `"error":{"code":-32602,"message":"` + id + ` failed"}`
	default:
		return ""
	}
	return `{"jsonrpc":"2.0","id":` + string(request.ID) + `,` + end + `}`
}
