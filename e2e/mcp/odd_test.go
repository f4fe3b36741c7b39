package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"idem/e2e/envoytest"
)

// odd is a server made by hand, whose tools reply as no server of an SDK here does, though the protocol lets them, or as
// they should not. It knows a stream by its customer: that is the id of the last event, too.
type odd struct {
	bank *bank

	mu    sync.Mutex
	calls map[string]*oddCall // by customer
}

// oddCall is a call whose stream may be asked for.
type oddCall struct {
	tool     string
	response string
	gets     int
}

func startOdd(t envoytest.TB, b *bank) (address string) {
	s := httptest.NewServer(&odd{bank: b, calls: map[string]*oddCall{}})
	t.Cleanup(s.CloseClientConnections)
	return s.Listener.Addr().String()
}

const oddProgress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`

func (o *odd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		o.rest(w, r)
		return
	}
	var m struct {
		ID     json.RawMessage
		Params struct {
			Name      string
			Arguments struct{ Customer string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	who := m.Params.Arguments.Customer
	reference, err := o.bank.execute(r.Context(), who)
	if err != nil {
		return
	}
	result := `"result":{"content":[{"type":"text","text":"` + reference + `"}]}`
	c := &oddCall{tool: m.Params.Name, response: `{"jsonrpc":"2.0","id":` + string(m.ID) + `,` + result + `}`}
	o.mu.Lock()
	o.calls[who] = c
	o.mu.Unlock()
	other := `{"jsonrpc":"2.0","id":"another","result":{}}`
	switch c.tool {
	case "error_null", "both_ends", "half_a_pair", "gateway":
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,`+map[string]string{
			"error_null":  result + `,"error":null`,
			"both_ends":   result + `,"error":{"code":-32603,"message":"and no"}`,
			"half_a_pair": strings.Replace(result, `"}]`, ` \ud83d"}]`, 1),
			"gateway":     `"error":{"code":-32001,"message":"MCP error -32001: Request timed out","data":{"timeout":1000}}`,
		}[c.tool]+`}`)
		return
	case "array":
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, `[`+c.response+`]`)
		return
	case "two_in_array":
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, `[`+c.response+`,`+c.response+`]`)
		return
	case "half_array":
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, `[`+c.response+`,`)
		return
	}
	w.Header().Set("content-type", "text/event-stream")
	switch c.tool {
	case "array_event":
		io.WriteString(w, "data: ["+fmt.Sprintf(oddProgress, 1)+","+other+","+c.response+"]\n\n")
	case "nameless": // it ends without an id to go on after
		io.WriteString(w, "data: "+fmt.Sprintf(oddProgress, 1)+"\n\n")
	case "open": // the response has come, but the stream stays open
		io.WriteString(w, "data: "+c.response+"\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	default:
		o.event(w, who, "retry: 100\ndata:")
		o.event(w, who, "data: "+fmt.Sprintf(oddProgress, 1))
		http.NewResponseController(w).Flush()
		if c.tool == "breaks" {
			io.WriteString(w, "id: wrong\ndata: "+c.response[:20])
			http.NewResponseController(w).Flush()
			breakOff(w)
		}
	}
}

func (o *odd) event(w io.Writer, id, lines string) { io.WriteString(w, "id: "+id+"\n"+lines+"\n\n") }

// rest is what is asked for of a stream.
func (o *odd) rest(w http.ResponseWriter, r *http.Request) {
	who := r.Header.Get("last-event-id")
	o.mu.Lock()
	c := o.calls[who]
	n := 0
	if c != nil {
		c.gets++
		n = c.gets
	}
	o.mu.Unlock()
	if c == nil || r.Header.Get("accept") != "text/event-stream" {
		http.Error(w, "no such stream", http.StatusBadRequest)
		return
	}
	switch {
	case c.tool == "deaf":
		http.Error(w, "no GET here", http.StatusMethodNotAllowed)
		return
	case c.tool == "busy" && n < 3:
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	case c.tool == "lost":
		breakOff(w)
		return
	}
	w.Header().Set("content-type", "text/event-stream")
	if c.tool == "often" && n < 4 {
		o.event(w, who, "data: "+fmt.Sprintf(oddProgress, n+1))
		return
	}
	io.WriteString(w, "data: "+c.response+"\n\n")
}

// breakOff ends a connection with a reset.
func breakOff(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}
