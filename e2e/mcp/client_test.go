package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// client is a client of an SDK with an open session.
type client interface {
	// begin lets the client do something, and does not wait for it.
	begin(c command) *pending
}

// command is what a client is to do: op is call, tools, prompts, resources or ping.
type command struct {
	ID      int            `json:"id"`
	Op      string         `json:"op"`
	Name    string         `json:"name,omitempty"`
	Args    map[string]any `json:"args,omitempty"`
	Timeout int64          `json:"timeout_ms,omitempty"` // 0: a minute

	// Of a client in another program.
	Session  int    `json:"session"`
	SDK      string `json:"sdk,omitempty"`
	URL      string `json:"url,omitempty"`
	Revision string `json:"revision,omitempty"`
	Run      string `json:"run,omitempty"`
}

// pending is a command under way.
type pending struct {
	progress chan float64
	done     chan answer
}

func newPending() *pending { return &pending{make(chan float64, 100), make(chan answer, 1)} }

// answer is how a command ended: what the SDK gave to the agent.
type answer struct {
	Error  string          // what it threw
	Result json.RawMessage // in the protocol's own form

	Content           []struct{ Type, Text string }
	IsError           bool
	StructuredContent refunded
	Meta              struct {
		Problem struct {
			Code string
			Hold struct{ ID string }
		} `json:"idem/problem"`
	} `json:"_meta"`
}

func (p *pending) end(err string, result json.RawMessage) {
	a := answer{Error: err, Result: result}
	if err == "" && len(result) > 0 {
		if wrong := json.Unmarshal(result, &a); wrong != nil {
			a.Error = "the result is unreadable: " + wrong.Error() + ": " + string(result)
		}
	}
	select {
	case p.done <- a:
	default: // it has ended before
	}
}

// wait gives the end, and fails the test where it does not come.
func (p *pending) wait(t *testing.T) answer {
	t.Helper()
	select {
	case a := <-p.done:
		return a
	case <-time.After(time.Minute):
		t.Fatal("the client does not answer within a minute")
		return answer{}
	}
}

// text is what the model reads.
func (a answer) text() string {
	var all []string
	for _, c := range a.Content {
		all = append(all, c.Text)
	}
	return strings.Join(all, "\n")
}

// refundID is the reference of a refund that succeeded, and fails the test where it did not.
func (a answer) refundID(t *testing.T) string {
	t.Helper()
	if a.Error != "" || a.IsError || !strings.HasPrefix(a.StructuredContent.RefundID, "rf-") {
		t.Fatalf("the refund did not succeed: %s %s", a.Error, a.Result)
	}
	return a.StructuredContent.RefundID
}

// refund is the call that most tests are about.
func refund(customer string) command {
	return command{Op: "call", Name: "refund", Args: map[string]any{"customer": customer, "amount": "$12.00", "currency": "usd"}}
}

// refundAgain is the same refund as another model would write it.
func refundAgain(customer string) command {
	return command{Op: "call", Name: "refund", Args: map[string]any{"currency": "USD", "amount": "12.00 USD", "customer": strings.ToUpper(customer[:1]) + customer[1:]}}
}

func call(tool, customer string) command {
	return command{Op: "call", Name: tool, Args: map[string]any{"customer": customer}}
}

// kind is a client of one SDK and one revision of the protocol, and a server that speaks it.
type kind struct {
	name    string
	server  string
	connect connects
}

// connects opens a session of a client with the server at a URL. The client is set to send its run's id, where one is
// given, as a header of every request.
type connects func(t *testing.T, url string, run ...string) client

// kinds are all of them: each SDK, each revision, each way of serving.
var kinds = []kind{
	{"Go 2025-03-26", "py-json", goClient("2025-03-26")},
	{"Go 2025-06-18", "py", goClient("2025-06-18")},
	{"Go 2025-11-25", "go", goClient("2025-11-25")},
	{"Go 2026-07-28", "py-plain", goClient("2026-07-28")},
	{"Python handshake", "go-json", driven(python, "", "legacy")},
	{"Python 2026-07-28", "py-plain-json", driven(python, "", "2026-07-28")},
	{"TypeScript v1", "go", driven(node, "v1", "legacy")},
	{"TypeScript v2 handshake", "py", driven(node, "v2", "legacy")},
	{"TypeScript v2 2026-07-28", "go-plain", driven(node, "v2", "2026-07-28")},
}

// eachKind runs a story for every kind of client.
func eachKind(t *testing.T, story func(t *testing.T, s *stage, k kind)) {
	s := set()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { story(t, s, k) })
	}
}
