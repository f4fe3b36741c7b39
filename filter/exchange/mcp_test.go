package exchange

import (
	"encoding/json"
	"strings"
	"testing"

	"idem/canon"
	"idem/filter/mcp"
	"idem/ledgerd/wire"
)

const callMessage = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"refund","arguments":{}}}`

// arriveMCP lets an MCP caller come with an id of its own.
func (b *bench) arriveMCP(run, message string, accept ...string) *caller {
	b.Helper()
	return b.arriveMCPWith(run, message, nil, accept...)
}

// arriveMCPWith lets an MCP caller come with headers of its own.
func (b *bench) arriveMCPWith(run, message string, headers [][2]string, accept ...string) *caller {
	b.Helper()
	request, refused := mcp.Read([]byte(message), accept, nil)
	if refused != nil || request == nil {
		b.Fatalf("the message is not read as a tools/call: %v", refused)
	}
	c := &caller{}
	c.call = &Call{Rule: b.rule, MCP: request, Caller: c,
		Request: Request{Method: "POST", Authority: "tools.example", Path: "/mcp", Headers: headers, Body: []byte(message)},
		Action:  canon.Action{Tool: "refund", Run: run, Fingerprint: fingerprint1, Intent: intent1}}
	b.worker.Arrive(c.call)
	b.worker.Flush()
	b.tellTime()
	return c
}

// answerMCP lets the tool answer under the id that it was asked with, where the reply says ID.
func (b *bench) answerMCP(status int, body, contentType string, headers ...[2]string) {
	b.Helper()
	call := b.tool()
	var asked struct{ ID json.RawMessage }
	if err := json.Unmarshal(call.Body, &asked); err != nil || len(asked.ID) == 0 {
		b.Fatalf("the tool is asked %s: %v", call.Body, err)
	}
	body = strings.ReplaceAll(body, "ID", string(asked.ID))
	call.reply(byTool(status, body, append([][2]string{{"content-type", contentType}}, headers...)...))
}

func TestToolsCallResultIsGivenBackUnderEachCallersID(t *testing.T) {
	b := newBench(t)
	c := b.arriveMCP("a", callMessage, "application/json, text/event-stream")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	w := b.arriveMCP("b", strings.Replace(callMessage, "7", `"x-9"`, 1), "text/event-stream")
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: c.call.attempt})

	stream := "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\r\n\r\n" +
		"data: {\"jsonrpc\":\"2.0\",\"id\":ID,\ndata: \"result\":{\"content\":[]}}\n\n"
	b.answerMCP(200, stream, "text/event-stream", [2]string{"mcp-session-id", "s-1"})
	commit := b.ledger(wire.OpCommit)
	if r := commit.ops(t)[0].Result; string(r.Body) != `{"result":{"content":[]}}` || header(r.Headers, "mcp-session-id") != "" {
		t.Fatalf("stored %s with %v", r.Body, r.Headers)
	}
	commit.answer(wire.Answer{Kind: wire.AnswerOK})

	if r := b.told(c, 200, "executed", ""); string(r.Body) != strings.Replace(stream, "ID", "7", 1) || header(r.Headers, "mcp-session-id") != "s-1" {
		t.Errorf("the executor got %s with %v, want what the tool sent, under the executor's id", r.Body, r.Headers)
	}
	r := b.told(w, 200, "coalesced", "")
	if want := "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"x-9\",\"result\":{\"content\":[]}}\n\n"; string(r.Body) != want {
		t.Errorf("the waiter got %q, want %q", r.Body, want)
	}
	if header(r.Headers, "content-type") != "text/event-stream" || header(r.Headers, finalHeader) != "" {
		t.Errorf("the waiter got the headers %v", r.Headers)
	}
}

func TestToolsCallEndsAsTheMessageSays(t *testing.T) {
	for _, tc := range []struct {
		name, contentType, body string
		status                  int
		op                      wire.OpKind
		class                   wire.Class
		waiter                  string // the waiter's message; empty: a refusal
	}{
		{"a result", "application/json", `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"isError":false}}`, 200, wire.OpCommit, "", `{"jsonrpc":"2.0","id":8,"result":{"content":[],"isError":false}}`},
		{"isError", "application/json", `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"isError":true}}`, 200, wire.OpFail, wire.ClassDefinite, `{"jsonrpc":"2.0","id":8,"result":{"content":[],"isError":true}}`},
		{"a JSON-RPC error", "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no"}}`, 200, wire.OpFail, wire.ClassDefinite, `{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"no"}}`},
		{"a result and an error that is null", "application/json", `{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"error":null}`, 200, wire.OpCommit, "", `{"jsonrpc":"2.0","id":8,"result":{"content":[]}}`},
		{"a result and an error", "application/json", `{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"error":{"code":1,"message":"no"}}`, 200, wire.OpFail, wire.ClassUnknown, ""},
		{"a gateway that lost the tool", "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"MCP error -32001: Request timed out"}}`, 200, wire.OpFail, wire.ClassUnknown, ""},
		{"a session that is not found", "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"Session not found"}}`, 409, wire.OpFail, wire.ClassDefinite, `{"jsonrpc":"2.0","id":8,"error":{"code":-32001,"message":"Session not found"}}`},
		{"a result that asks for input", "application/json", `{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","inputRequests":{}}}`, 200, wire.OpFail, wire.ClassDefinite, `{"jsonrpc":"2.0","id":8,"result":{"resultType":"input_required","inputRequests":{}}}`},
		{"a stream without a response", "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n", 200, wire.OpFail, wire.ClassUnknown, ""},
		{"an event that was cut", "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{}}\n", 200, wire.OpFail, wire.ClassUnknown, ""},
		{"nothing", "application/json", "", 202, wire.OpFail, wire.ClassUnknown, ""},
		{"the handle of a task", "application/json", `{"jsonrpc":"2.0","id":ID,"result":{"resultType":"task","taskId":"t"}}`, 200, wire.OpCommit, "", `{"jsonrpc":"2.0","id":8,"result":{"resultType":"task","taskId":"t"}}`},
		{"a failed status with an error", "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"no session"}}`, 409, wire.OpFail, wire.ClassDefinite, `{"jsonrpc":"2.0","id":8,"error":{"code":-32000,"message":"no session"}}`},
		{"a failed status without a message", "text/plain", "no", 500, wire.OpFail, wire.ClassDefinite, "no"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			c := b.arriveMCP("a", callMessage)
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
			w := b.arriveMCP("b", strings.Replace(callMessage, "7", "8", 1))
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: c.call.attempt})
			b.answerMCP(tc.status, tc.body, tc.contentType)
			end := b.ledger(tc.op)
			if got := end.ops(t)[0].Class; got != tc.class {
				t.Fatalf("the ledger is told class %q, want %q", got, tc.class)
			}
			end.answer(wire.Answer{Kind: wire.AnswerOK})
			if tc.waiter != "" {
				if r := b.one(w); string(r.Body) != tc.waiter || r.Status != tc.status {
					t.Errorf("the waiter got %d %s, want %d %s", r.Status, r.Body, tc.status, tc.waiter)
				}
				if r := b.one(c); string(r.Body) != strings.Replace(tc.body, "ID", "7", 1) {
					t.Errorf("the executor got %s, want the tool's own %s under its id", r.Body, tc.body)
				}
				return
			}
			b.told(w, 200, "in_doubt", "in_doubt")
		})
	}
}

func TestRefusalOfAToolsCallIsAToolResultThatTheModelReads(t *testing.T) {
	b := newBench(t)
	c := b.arriveMCP("a", callMessage)
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerHeld, Hold: &wire.Hold{ID: "h-1", Reason: "new_run"}})
	r := b.told(c, 200, "held", "held")
	var m struct {
		JSONRPC string
		ID      int
		Result  struct {
			IsError bool
			Content []struct{ Type, Text string }
			Meta    struct {
				Problem struct {
					Code string
					Hold struct{ ID string }
				} `json:"idem/problem"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal(r.Body, &m); err != nil {
		t.Fatalf("%v: %s", err, r.Body)
	}
	if m.JSONRPC != "2.0" || m.ID != 7 || !m.Result.IsError || m.Result.Meta.Problem.Code != "held" || m.Result.Meta.Problem.Hold.ID != "h-1" ||
		len(m.Result.Content) != 1 || m.Result.Content[0].Type != "text" || !strings.Contains(m.Result.Content[0].Text, "h-1") ||
		!strings.Contains(m.Result.Content[0].Text, "Do not retry") {
		t.Errorf("the caller got %s", r.Body)
	}
}

func TestToolKnowsTheCallByAnIDThatNoClientCanCancel(t *testing.T) {
	for _, tc := range []struct {
		name, id, header, value string
		own                     bool
	}{
		{"a number", "7", "", "", true},
		{"a text", `"7"`, "", "", true},
		{"a body whose digest is told", "7", "content-digest", "sha-256=:x:", false},
		{"a signed request", "7", "authorization", "AWS4-HMAC-SHA256 Credential=x", false},
		{"a token", "7", "authorization", "Bearer x", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			message := strings.Replace(callMessage, "7", tc.id, 1)
			c := b.arriveMCPWith("a", message, [][2]string{{tc.header, tc.value}})
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
			var asked struct {
				ID     json.RawMessage
				Method string
			}
			if err := json.Unmarshal(b.tool().Body, &asked); err != nil || asked.Method != "tools/call" {
				t.Fatalf("the tool is asked %s: %v", b.tool().Body, err)
			}
			if own := string(asked.ID) != tc.id; own != tc.own || (asked.ID[0] == '"') != (tc.id[0] == '"') {
				t.Errorf("the tool is asked under id %s, the caller's is %s", asked.ID, tc.id)
			}
			b.answerMCP(200, `{"jsonrpc":"2.0","id":ID,"result":{"id":ID}}`, "application/json")
			b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
			if r := b.one(c); !strings.HasPrefix(string(r.Body), `{"jsonrpc":"2.0","id":`+tc.id+`,"result":{"id":`+string(asked.ID)+`}`) {
				t.Errorf("the caller got %s", r.Body)
			}
		})
	}
}

func TestEndOfOneClientsSessionIsNoAnswerToAnother(t *testing.T) {
	b := newBench(t)
	c := b.arriveMCP("a", callMessage)
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	w := b.arriveMCP("b", strings.Replace(callMessage, "7", "8", 1))
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerInFlight, Attempt: c.call.attempt})
	b.answerMCP(404, "no such session", "text/plain")
	b.ledger(wire.OpFail).answer(wire.Answer{Kind: wire.AnswerOK})
	b.told(c, 404, "failed", "")
	b.waits(w)
	b.worker.Flush()
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: w.call.attempt, LeaseMS: 15000})
	b.answerMCP(200, `{"jsonrpc":"2.0","id":ID,"result":{}}`, "application/json")
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
	b.told(w, 200, "executed", "")
}

func TestSessionHeaderThatIsTheRunReachesTheTool(t *testing.T) {
	b := newBench(t)
	b.rule.RunHeaders = []string{"mcp-session-id", "x-idem-run"}
	c := b.arriveMCPWith("a", callMessage, [][2]string{{"mcp-session-id", "s-1"}, {"x-idem-run", "a"}})
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	if h := b.tool().Headers; header(h, "mcp-session-id") != "s-1" || header(h, "x-idem-run") != "" {
		t.Errorf("the tool is called with %v", h)
	}
}

func TestClientThatLeavesAfterTheResponseHasItsCallCommitted(t *testing.T) {
	progress := "data: {\"method\":\"notifications/progress\"}\n\n"
	response := "data: {\"id\":7,\"result\":{}}\n\n"
	for _, tc := range []struct {
		name, body string
		op         wire.OpKind
	}{
		{"after the response", progress + response, wire.OpCommit},
		{"before it", progress, wire.OpFail},
		{"in the middle of it", response[:len(response)-1], wire.OpFail},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			b.rule.Inline = true
			c := b.arriveMCP("a", callMessage)
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
			if len(c.passed) != 1 {
				t.Fatal("the stream did not go on")
			}
			passed := byTool(200, tc.body, [2]string{"content-type", "text/event-stream"})
			c.call.StreamPassed(&passed)
			c.call.StreamLeft(passed)
			b.worker.Flush()
			if op := b.ledger(tc.op).ops(t)[0]; tc.op == wire.OpFail && op.Class != wire.ClassUnknown || tc.op == wire.OpCommit && string(op.Result.Body) != `{"result":{}}` {
				t.Errorf("the ledger is told %+v", op)
			}
		})
	}
}

func TestUnreadableMessageIsAJSONRPCErrorWithoutAnID(t *testing.T) {
	b := newBench(t)
	for body, code := range map[string]int{"": -32700, "hello": -32700, `{"id":1`: -32700, `[{"id":1,"method":"tools/call"}]`: -32600} {
		r := b.worker.Unreadable(&canon.Error{Code: "malformed_body", Offset: 0, Detail: "cut"}, canon.MCP, []byte(body))
		var m struct {
			ID    any
			Error struct {
				Code int
				Data struct{ Code string }
			}
		}
		if err := json.Unmarshal(r.Body, &m); err != nil {
			t.Fatalf("%v: %s", err, r.Body)
		}
		if r.Status != 400 || m.ID != nil || m.Error.Code != code || m.Error.Data.Code != "malformed_body" || header(r.Headers, "content-type") != "application/json" {
			t.Errorf("%s: the caller got %d %s", body, r.Status, r.Body)
		}
	}
}

func TestAPersonsResultIsGivenAsAResponse(t *testing.T) {
	b := newBench(t)
	c := b.arriveMCP("a", callMessage)
	given := wire.Result{Status: 201, Headers: [][2]string{{"content-type", "text/plain"}}, Body: []byte("refunded by hand")}
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerReplay, Attempt: "other", Result: &given})
	r := b.told(c, 200, "replay", "")
	want := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"refunded by hand"}]}}`
	if string(r.Body) != want || header(r.Headers, "content-type") != mcp.ContentJSON {
		t.Errorf("got %s with %v, want %s", r.Body, r.Headers, want)
	}
}
