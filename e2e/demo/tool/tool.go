// Package tool is the demo's tool server: the thing that must not happen twice. It stands in for a payment provider,
// answers slowly, gives every execution an id of its own, and counts what it did, so that what Idem says can be held
// against what the tool says.
//
// Calls come as POST /api/invoke with {"tool": "refund", "args": {…}}, or as POST /tools/refund with the args as the
// body, or as an MCP client's tools/call to /mcp. The tools:
//
//	refund  takes 2.5 s, answers 200 with a random refund_id
//	fail    answers 500 at once
//	slow    takes 10 s, or args.seconds
//	echo    answers at once with what it was sent
//
// GET /executions says what was done; POST /executions/reset forgets it. GET /api/invoke gives the same count and the
// console's scenarios. It trusts everyone who reaches it: it is for loopback.
package tool

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Tool is the server. Its zero value is not ready; see [New].
type Tool struct {
	refund, slow time.Duration
	scenarios    json.RawMessage

	mu   sync.Mutex
	done []Execution
	sum  Count
}

// Count is how often tools ran.
type Count struct {
	Total  int            `json:"total"`
	ByTool map[string]int `json:"by_tool"`
}

// Execution is one run of a tool: the essentials of what it was asked and what it answered.
type Execution struct {
	N        int       `json:"n"` // from 1
	Tool     string    `json:"tool"`
	At       time.Time `json:"at"`
	Run      string    `json:"run,omitempty"`
	Customer any       `json:"customer,omitempty"`
	Amount   any       `json:"amount,omitempty"`
	RefundID string    `json:"refund_id,omitempty"`
}

// Option changes what New makes.
type Option func(*Tool)

// Refund sets how long a refund takes instead of 2.5 s.
func Refund(takes time.Duration) Option { return func(t *Tool) { t.refund = takes } }

// New gives a tool server that has done nothing yet.
func New(options ...Option) *Tool {
	t := &Tool{refund: 2500 * time.Millisecond, slow: 10 * time.Second, scenarios: scenarios}
	t.forget()
	for _, o := range options {
		o(t)
	}
	return t
}

// Executions gives what was done so far.
func (t *Tool) Executions() (Count, []Execution) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := Count{Total: t.sum.Total, ByTool: map[string]int{}}
	for name, n := range t.sum.ByTool {
		sum.ByTool[name] = n
	}
	return sum, append([]Execution{}, t.done...)
}

func (t *Tool) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done, t.sum = nil, Count{ByTool: map[string]int{}}
}

// Handler gives the routes of the package comment.
func (t *Tool) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /executions", func(w http.ResponseWriter, _ *http.Request) {
		sum, done := t.Executions()
		reply(w, http.StatusOK, struct {
			Count
			Executions []Execution `json:"executions"`
		}{sum, done})
	})
	mux.HandleFunc("POST /executions/reset", func(w http.ResponseWriter, _ *http.Request) {
		t.forget()
		reply(w, http.StatusOK, map[string]bool{"reset": true})
	})
	mux.HandleFunc("GET /api/invoke", func(w http.ResponseWriter, _ *http.Request) {
		sum, _ := t.Executions()
		reply(w, http.StatusOK, map[string]any{"demo": true, "executions": sum, "scenarios": t.scenarios})
	})
	mux.HandleFunc("POST /api/invoke", func(w http.ResponseWriter, r *http.Request) { t.invoke(w, r, "") })
	mux.HandleFunc("POST /tools/{name}", func(w http.ResponseWriter, r *http.Request) { t.invoke(w, r, r.PathValue("name")) })
	mux.Handle("/mcp", t.mcpHandler())
	return mux
}

// call is what a tool is asked. Unknown members are no matter to a tool.
type call struct {
	Tool  string         `json:"tool"`
	Run   string         `json:"runId"`
	Args  map[string]any `json:"args"`
	whole json.RawMessage
}

const maxBody = 16 << 20

func (t *Tool) invoke(w http.ResponseWriter, r *http.Request, name string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		reply(w, http.StatusRequestEntityTooLarge, map[string]string{"error": "the body is too large"})
		return
	}
	c, err := readCall(body, name)
	if err != nil {
		reply(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	if c.Run == "" {
		c.Run = r.Header.Get("x-idem-run")
	}
	t.run(w, c)
}

// readCall reads a body; a tool named by the path takes the whole body as its args, or the member args of it.
func readCall(body []byte, name string) (call, error) {
	c := call{whole: body}
	if len(bytes.TrimSpace(body)) == 0 {
		c.whole = []byte("{}")
	} else {
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		if err := d.Decode(&c); err != nil {
			return c, fmt.Errorf("the body is not a JSON object with tool and args: %w", err)
		}
	}
	if name != "" {
		c.Tool = name
		if c.Args == nil {
			d := json.NewDecoder(bytes.NewReader(c.whole))
			d.UseNumber()
			_ = d.Decode(&c.Args) // it was read before
		}
	}
	if c.Tool == "" {
		return c, fmt.Errorf("no tool is named; there are: refund, fail, slow, echo")
	}
	return c, nil
}

// run counts first and answers later. Who leaves meanwhile does not stop it: that is what tools are like.
func (t *Tool) run(w http.ResponseWriter, c call) {
	switch {
	case strings.HasPrefix(c.Tool, "refund"):
		e := t.count(c, "re_"+random())
		<-time.After(t.refund)
		reply(w, http.StatusOK, map[string]any{
			"refund_id": e.RefundID, "status": "succeeded", "customer": e.Customer, "amount": e.Amount, "executed_at": e.At,
		})
	case c.Tool == "fail":
		e := t.count(c, "")
		reply(w, http.StatusInternalServerError, map[string]any{"error": "the tool failed, as it was asked to", "execution": e.N})
	case c.Tool == "slow":
		e := t.count(c, "")
		<-time.After(t.slowness(c.Args))
		reply(w, http.StatusOK, map[string]any{"execution": e.N, "id": random()})
	case c.Tool == "echo":
		e := t.count(c, "")
		reply(w, http.StatusOK, map[string]any{"execution": e.N, "id": random(), "received": c.whole})
	default:
		reply(w, http.StatusNotFound, map[string]string{"error": fmt.Sprintf("there is no tool %q; there are: refund, fail, slow, echo", c.Tool)})
	}
}

// mostKept bounds what is remembered of single executions; the counts go on.
const mostKept = 1000

func (t *Tool) count(c call, refundID string) Execution {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.Total++
	t.sum.ByTool[c.Tool]++
	e := Execution{
		N: t.sum.Total, Tool: c.Tool, At: time.Now().UTC(), Run: c.Run,
		Customer: c.Args["customer"], Amount: c.Args["amount"], RefundID: refundID,
	}
	t.done = append(t.done, e)
	if len(t.done) > mostKept {
		t.done = t.done[len(t.done)-mostKept:]
	}
	return e
}

func (t *Tool) slowness(args map[string]any) time.Duration {
	const most = 10 * time.Minute
	if n, ok := args["seconds"].(json.Number); ok {
		if s, err := n.Float64(); err == nil && s >= 0 && s <= most.Seconds() {
			return time.Duration(s * float64(time.Second))
		}
	}
	return t.slow
}

func random() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func reply(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client may be gone; people read it on a terminal
}
