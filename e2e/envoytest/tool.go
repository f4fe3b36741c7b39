package envoytest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Behaviour is what the tool does with a call. A number is a status to answer with at once.
type Behaviour string

// The behaviours.
const (
	OK        Behaviour = "ok"         // 200 at once
	Slow      Behaviour = "slow"       // 200 after SlowFor
	Slow500   Behaviour = "slow_500"   // 500 after SlowFor
	SlowReset Behaviour = "slow_reset" // breaks the connection after SlowFor
	Reset     Behaviour = "reset"      // takes the request and breaks the connection
	Cut       Behaviour = "cut"        // breaks the connection in the middle of the reply's body
	Timeout   Behaviour = "timeout"    // takes the request and never answers
	Stall     Behaviour = "stall"      // begins a reply and never ends it
)

// SlowFor is how long a slow tool takes.
const SlowFor = 2 * time.Second

// BehaviourHeader is a request header that says how the tool behaves for this call, if it gets there.
const BehaviourHeader = "tool-behaviour"

// Received is one request that reached the tool.
type Received struct {
	Method, Host, Path string
	Header             http.Header
	Body               []byte
	Trailer            http.Header
	Protocol           string // HTTP/1.1 or HTTP/2.0
}

// Tool is an HTTP server that stands for the guarded endpoint and remembers each request that reached it. A success
// carries a number that no other has (`{"refund_id":"rf-7"}`, `location: /refunds/rf-7`), so that two callers have the
// same reply only if one execution made it.
type Tool struct {
	Address string

	mu       sync.Mutex
	usual    Behaviour
	answers  http.HandlerFunc // in place of the usual behaviour; nil: there is none
	gate     chan struct{}    // calls wait until it is closed; nil: they do not
	letGo    func()           // closes it
	received []Received
	given    int // numbers of successes, over all
	server   *http.Server
	ended    context.Context // done when the test ends
}

// StartTool starts a tool that answers 200. It stops when the test ends.
func StartTool(t TB) *Tool {
	t.Helper()
	ended, end := context.WithCancel(context.Background())
	tool := &Tool{Address: FreeAddress(t), usual: OK, ended: ended}
	tool.Accept(t)
	t.Cleanup(func() {
		end()
		tool.Refuse()
	})
	return tool
}

// Behave sets how the tool behaves for the calls to come, where a call's header does not say.
func (tool *Tool) Behave(b Behaviour) {
	tool.mu.Lock()
	defer tool.mu.Unlock()
	tool.usual = b
}

// Answer makes a handler of the test's answer the calls to come, where a call's header does not say how. Their bodies
// have been read, and the calls are counted, before it is asked.
func (tool *Tool) Answer(h http.HandlerFunc) {
	tool.mu.Lock()
	defer tool.mu.Unlock()
	tool.answers = h
}

// Forget makes the tool as it was when it started, but for the numbers that it has given: it answers 200, holds nobody, and
// no call has reached it.
func (tool *Tool) Forget() {
	tool.mu.Lock()
	letGo := tool.letGo
	tool.mu.Unlock()
	if letGo != nil { // by a test that failed
		letGo()
	}
	tool.mu.Lock()
	defer tool.mu.Unlock()
	tool.usual, tool.answers, tool.received = OK, nil, nil
}

// Hold makes the calls to come stay in the tool, counted, until release is called, or the tool is to forget.
func (tool *Tool) Hold() (release func()) {
	gate := make(chan struct{})
	release = sync.OnceFunc(func() {
		tool.mu.Lock()
		defer tool.mu.Unlock()
		close(gate)
		tool.gate, tool.letGo = nil, nil
	})
	tool.mu.Lock()
	defer tool.mu.Unlock()
	tool.gate, tool.letGo = gate, release
	return release
}

// Refuse makes the tool refuse connections and breaks those it has, until Accept.
func (tool *Tool) Refuse() {
	tool.mu.Lock()
	defer tool.mu.Unlock()
	if tool.server != nil {
		tool.server.Close()
		tool.server = nil
	}
}

// Accept takes connections again.
func (tool *Tool) Accept(t TB) {
	t.Helper()
	l, err := net.Listen("tcp", tool.Address)
	if err != nil {
		t.Fatalf("tool: %v", err)
	}
	server := &http.Server{Handler: tool, ReadHeaderTimeout: patience, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	tool.mu.Lock()
	tool.server = server
	tool.mu.Unlock()
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("tool: %v", err)
		}
	}()
}

// Calls gives every request that reached the tool, in the order of arrival.
func (tool *Tool) Calls() []Received {
	tool.mu.Lock()
	defer tool.mu.Unlock()
	return append([]Received(nil), tool.received...)
}

// Count says how many requests reached the tool.
func (tool *Tool) Count() int {
	tool.mu.Lock()
	defer tool.mu.Unlock()
	return len(tool.received)
}

// CountBy counts the requests that reached the tool by a key of the test's choice.
func (tool *Tool) CountBy(key func(Received) string) map[string]int {
	counts := map[string]int{}
	for _, call := range tool.Calls() {
		counts[key(call)]++
	}
	return counts
}

// AwaitCount waits until that many requests have reached the tool.
func (tool *Tool) AwaitCount(t TB, n int) {
	t.Helper()
	Until(t, 0, strconv.Itoa(n)+" calls to reach the tool", func() bool { return tool.Count() >= n })
}

// ServeHTTP is one call of the tool.
func (tool *Tool) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller broke off: it has not been called
	}
	id := tool.receive(Received{r.Method, r.Host, r.RequestURI, r.Header.Clone(), body, r.Trailer.Clone(), r.Proto})
	tool.mu.Lock()
	behaviour, answers, gate := tool.usual, tool.answers, tool.gate
	tool.mu.Unlock()
	if b := r.Header.Get(BehaviourHeader); b != "" {
		behaviour, answers = Behaviour(b), nil
	}
	if gate != nil {
		select {
		case <-gate:
		case <-tool.ended.Done():
		}
	}
	if answers != nil {
		answers(w, r)
		return
	}
	if then, slow := strings.CutPrefix(string(behaviour), "slow"); slow {
		select {
		case <-time.After(SlowFor):
		case <-tool.ended.Done():
		}
		behaviour = Behaviour(strings.TrimPrefix(then, "_"))
	}
	if then, first := strings.CutPrefix(string(behaviour), ResetFirstPrefix); first {
		behaviour = Behaviour(then)
		if r.Header.Get("x-envoy-attempt-count") == "1" {
			behaviour = Reset
		}
	}
	if then, pretends := strings.CutPrefix(string(behaviour), PretendPrefix); pretends {
		behaviour = Behaviour(then)
		for name, value := range pretended {
			w.Header().Set(name, value)
		}
	}
	if answerMCP(w, r, body, behaviour, id) || answerBroken(w, behaviour) {
		return
	}
	switch behaviour {
	case OK, "":
		tool.answer(w, http.StatusOK, id)
	case Reset:
		breakConnection(w)
	case Cut:
		w.Header().Set("content-length", "1000")
		io.WriteString(w, `{"refund_id":`)
		http.NewResponseController(w).Flush()
		breakConnection(w)
	case Stall, Timeout:
		if behaviour == Stall {
			w.Header().Set("content-type", "text/event-stream")
			io.WriteString(w, "data: {}\n\n")
			http.NewResponseController(w).Flush()
		}
		select {
		case <-r.Context().Done():
		case <-tool.ended.Done():
		}
	default:
		status, err := strconv.Atoi(string(behaviour))
		if err != nil {
			http.Error(w, "unknown behaviour "+string(behaviour), http.StatusNotImplemented)
			return
		}
		tool.answer(w, status, id)
	}
}

// receive counts a request, and gives the number of its success.
func (tool *Tool) receive(call Received) (id string) {
	tool.mu.Lock()
	defer tool.mu.Unlock()
	tool.received = append(tool.received, call)
	tool.given++
	return "rf-" + strconv.Itoa(tool.given)
}

func (tool *Tool) answer(w http.ResponseWriter, status int, id string) {
	h := w.Header()
	h.Set("content-type", "application/json")
	if status >= http.StatusBadRequest {
		w.WriteHeader(status)
		io.WriteString(w, `{"error":"the tool failed","call":"`+id+`"}`)
		return
	}
	h.Set("location", "/refunds/"+id)
	h.Set("etag", `"`+id+`"`)
	w.WriteHeader(status)
	io.WriteString(w, `{"refund_id":"`+id+`"}`)
}

// breakConnection ends the connection with a reset, as a crash of the tool does.
func breakConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	reset(conn)
	conn.Close()
}
