package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"

	"idem/e2e/envoytest"
)

// rpcRequest is what the tool needs of an MCP request.
type rpcRequest struct {
	ID     json.RawMessage
	Params struct{ Name string }
}

func writeMCP(tool string) func(o *order, r *rand.Rand, run string) envoytest.Call {
	return func(o *order, r *rand.Rand, run string) envoytest.Call {
		id := r.Uint32()
		accept := "application/json, text/event-stream"
		if r.IntN(4) == 0 {
			accept = "text/event-stream"
		}
		return envoytest.Call{
			Path: o.kind.path, Run: run, Header: map[string]string{"accept": accept, rpcID: fmt.Sprint(id)},
			Body: fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":%d}}}`,
				id, tool, o.arguments(r), id),
		}
	}
}

// rpcID is a header by which a caller remembers the id of its JSON-RPC request. It counts for nothing.
const rpcID = "soak-rpc-id"

func answerMCP(w http.ResponseWriter, request, result []byte) {
	sendMCP(w, request, append(append([]byte(`"result":{"content":[{"type":"text","text":"done"}],"structuredContent":`), result...), '}'))
}

func failMCP(w http.ResponseWriter, request, result []byte) {
	sendMCP(w, request, append(append([]byte(`"result":{"isError":true,"content":[{"type":"text","text":"failed"}],"structuredContent":`), result...), '}'))
}

func sendMCP(w http.ResponseWriter, request, member []byte) {
	var rpc rpcRequest
	if json.Unmarshal(request, &rpc) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, rpc.ID, member)
	if rpc.Params.Name != "stream_refund" {
		w.Header().Set("content-type", "application/json")
		_, _ = io.WriteString(w, message)
		return
	}
	w.Header().Set("content-type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":1}}\n\n", rpc.ID)
	_ = http.NewResponseController(w).Flush()
	_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", message)
}

// rpcResponse is the response in what an MCP caller got, plain or as a stream of events.
func rpcResponse(reply envoytest.Reply) (id, result json.RawMessage) {
	body := reply.Body
	if strings.HasPrefix(reply.Header.Get("content-type"), "text/event-stream") {
		for line := range bytes.SplitSeq(body, []byte("\n")) {
			if data, found := bytes.CutPrefix(line, []byte("data: ")); found && bytes.Contains(data, []byte(`"result"`)) {
				body = data
			}
		}
	}
	var response struct{ ID, Result json.RawMessage }
	if json.Unmarshal(body, &response) != nil {
		return nil, nil
	}
	return response.ID, response.Result
}

func readMCP(reply envoytest.Reply) []byte {
	_, result := rpcResponse(reply)
	var members struct{ StructuredContent json.RawMessage }
	if json.Unmarshal(result, &members) != nil {
		return nil
	}
	return members.StructuredContent
}
