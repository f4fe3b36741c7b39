package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
)

// An MCP server that ends the stream of a call and expects to be polled, by a clock that stands still: the caller's bound
// holds, and nobody repeats the call.
func TestWasmServerIsPolledForTheRestOfItsStream(t *testing.T) {
	const rules = `{"ledger":{"cluster":"ledgerd"},"execute":{"cluster":"idem-execute"},
		"calls":[{"match":{"path":"/mcp","tools":["*"]},"protocol":"mcp","execution_timeout":"60s","lease":"15s"}]}`
	for _, tc := range []struct {
		name    string
		polls   int // after which the response comes; 0: never
		outcome string
	}{{"until it answers", 4, "executed"}, {"until the time is over", 0, "in_doubt"}} {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
				var id string
				calls, polls := 0, 0
				w.servers["idem-execute"] = func(_ context.Context, c *wasmhost.Call) *wasmhost.Response {
					for _, h := range c.Headers {
						if strings.HasPrefix(h[0], "x-idem-") {
							t.Errorf("the tool is sent %v, and nobody takes it away", h)
						}
					}
					body := "id: e-1\nretry: 5000\ndata:\n\n"
					if c.Headers.Get(":method") == http.MethodPost {
						calls++
						var m struct{ ID json.RawMessage }
						if err := json.Unmarshal(c.Body, &m); err != nil {
							t.Errorf("the tool is sent %s: %v", c.Body, err)
						}
						id = string(m.ID)
					} else if polls++; polls == tc.polls {
						body = `data: {"jsonrpc":"2.0","id":` + id + `,"result":{"content":[]}}` + "\n\n"
					}
					return &wasmhost.Response{Status: http.StatusOK, Body: []byte(body),
						Headers: append(wasmhost.Headers{{"content-type", "text/event-stream"}}, howItCame("-", "via_upstream", "1")...)}
				}
				began := time.Now()
				call := envoytest.Call{Path: "/mcp", Body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund","arguments":{}}}`}
				s := w.send(call)
				w.passUntil("a reply", 61*time.Second, func() bool { return s.Reply() != nil })
				if r := w.await(s); r.Outcome() != tc.outcome {
					t.Errorf("the caller got %v", r)
				}
				took := time.Since(began)
				if tc.polls > 0 && (took < 20*time.Second || took > 21*time.Second || polls != tc.polls) || tc.polls == 0 && (polls < 10 || took > time.Minute) {
					t.Errorf("it took %v and %d polls, every 5 s", took, polls)
				}
				if calls != 1 {
					t.Errorf("the call was sent %d times", calls)
				}
				if again := w.call(call); tc.outcome == "in_doubt" && again.Outcome() != "in_doubt" || tc.outcome == "executed" && again.Outcome() != "replay" || calls != 1 {
					t.Errorf("the retry got %v; the call was sent %d times", again, calls)
				}
			})
		})
	}
}
