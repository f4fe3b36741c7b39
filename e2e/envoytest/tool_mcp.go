package envoytest

import (
	"encoding/json"
	"io"
	"net/http"
)

// Further behaviours of a tool that is called by MCP.
const (
	MCPError Behaviour = "mcp_error" // a result with isError
	RPCError Behaviour = "rpc_error" // a JSON-RPC error
)

// answerMCP answers a JSON-RPC request as an MCP server does; false: the body is none.
func (tool *Tool) answerMCP(w http.ResponseWriter, body []byte, behaviour Behaviour, id string) bool {
	var request struct {
		JSONRPC string
		ID      json.RawMessage
	}
	if json.Unmarshal(body, &request) != nil || request.JSONRPC != "2.0" || request.ID == nil {
		return false
	}
	var end string
	switch behaviour {
	case OK, "":
		end = `"result":{"content":[{"type":"text","text":"` + id + `"}],"structuredContent":{"refund_id":"` + id + `"}}`
	case MCPError:
		end = `"result":{"content":[{"type":"text","text":"` + id + ` failed"}],"isError":true}`
	case RPCError:
		end = `"error":{"code":-32602,"message":"` + id + ` failed"}`
	default:
		return false
	}
	w.Header().Set("content-type", "application/json")
	io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(request.ID)+`,`+end+`}`)
	return true
}
