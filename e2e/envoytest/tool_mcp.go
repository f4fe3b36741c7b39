package envoytest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// Further behaviours of a tool that is called by MCP. It answers with an event stream where the caller takes no plain
// JSON, and then with a notification of its progress first.
const (
	MCPError Behaviour = "mcp_error" // a result with isError
	RPCError Behaviour = "rpc_error" // a JSON-RPC error
	MCPMute  Behaviour = "mcp_mute"  // a reply without a response: the stream ends after the progress
)

// answerMCP answers a JSON-RPC request as an MCP server does; false: the body is none, or the behaviour is not MCP's.
func answerMCP(w http.ResponseWriter, r *http.Request, body []byte, behaviour Behaviour, id string) bool {
	var request struct {
		JSONRPC string
		ID      json.RawMessage
	}
	if json.Unmarshal(body, &request) != nil || request.JSONRPC != "2.0" || request.ID == nil {
		return false
	}
	const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`
	var end string
	switch behaviour {
	case OK, "", "200":
		end = `"result":{"content":[{"type":"text","text":"` + id + `"}],"structuredContent":{"refund_id":"` + id + `"}}`
	case MCPError:
		end = `"result":{"content":[{"type":"text","text":"` + id + ` failed"}],"isError":true}`
	case RPCError:
		end = `"error":{"code":-32602,"message":"` + id + ` failed"}`
	case MCPMute:
	default:
		return false
	}
	message := progress
	if end != "" {
		message = `{"jsonrpc":"2.0","id":` + string(request.ID) + `,` + end + `}`
	}
	if accept := r.Header.Get("accept"); strings.Contains(accept, "json") || accept == "" || accept == "*/*" {
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, message)
		return true
	}
	w.Header().Set("content-type", "text/event-stream")
	io.WriteString(w, "data: "+progress+"\n\n")
	if end != "" {
		http.NewResponseController(w).Flush()
		io.WriteString(w, "data: "+message+"\n\n")
	}
	return true
}
