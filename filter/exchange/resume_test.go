package exchange

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/wire"
)

const (
	primed   = "id: e-1\nretry: 2000\ndata:\n\n"
	progress = "id: e-2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n"
	response = "id: e-3\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[]}}\n\n"
)

// streaming is an MCP call that executes, and what the tool may answer with.
type streaming struct {
	*bench
	c  *caller
	id string // that the tool knows it by
}

// stream brings an MCP caller as far as the tool.
func (b *bench) stream(headers ...[2]string) *streaming {
	b.Helper()
	c := b.arriveMCPWith("a", callMessage, headers)
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	var asked struct{ ID json.RawMessage }
	if err := json.Unmarshal(b.tool().Body, &asked); err != nil {
		b.Fatal(err)
	}
	return &streaming{b, c, string(asked.ID)}
}

// execution is the worker's only one.
func (s *streaming) execution() *execution { return s.worker.executions[s.c.call.attempt] }

// part is a part of an event stream, complete.
func (s *streaming) part(events string) HTTPReply {
	return byTool(200, strings.ReplaceAll(events, "ID", s.id), [2]string{"content-type", "text/event-stream"})
}

// shown lets a piece of the reply that is under way pass.
func (s *streaming) shown(events string) (enough bool) {
	begun := s.part(events)
	piece := begun.Body
	begun.Body = nil
	return s.tool().Passing(begun, piece)
}

// rest waits until the worker asks for the rest of the stream, and gives that call.
func (s *streaming) rest(after time.Duration) *fakeCall {
	s.Helper()
	s.pass(after - TickPeriod)
	if n := s.toolCalls(); n != 0 {
		s.Fatalf("the server is asked before its pause of %s is over", after)
	}
	s.pass(TickPeriod)
	call := s.tool()
	if header(call.Headers, ":method") != "GET" || len(call.Body) != 0 {
		s.Fatalf("the server is sent %v %s, want a request for the rest", call.Headers, call.Body)
	}
	return call
}

// extended acknowledges what the ledger is told meanwhile of the execution's life.
func (s *streaming) extended() {
	s.Helper()
	for _, call := range s.host.calls {
		if call.Cluster != "ledgerd" || call.ops(s.T)[0].Kind != wire.OpExtend {
			continue
		}
		answers := make([]wire.Answer, len(call.ops(s.T)))
		for i := range answers {
			answers[i].Kind = wire.AnswerOK
		}
		call.answer(answers...)
		return
	}
}

// committed acknowledges the commit.
func (s *streaming) committed() Reply {
	s.Helper()
	s.extended()
	commit := s.ledger(wire.OpCommit)
	if r := commit.ops(s.T)[0].Result; string(r.Body) != `{"result":{"content":[]}}` {
		s.Fatalf("stored %s", r.Body)
	}
	commit.answer(wire.Answer{Kind: wire.AnswerOK})
	return s.told(s.c, 200, "executed", "")
}

// inDoubt acknowledges that nobody knows.
func (s *streaming) inDoubt() {
	s.Helper()
	s.extended()
	fail := s.ledger(wire.OpFail)
	if class := fail.ops(s.T)[0].Class; class != wire.ClassUnknown {
		s.Fatalf("the ledger is told class %s, want unknown", class)
	}
	fail.answer(wire.Answer{Kind: wire.AnswerOK})
	s.told(s.c, 200, "in_doubt", "in_doubt")
	if !s.worker.Idle() {
		s.Error("the worker still has something under way")
	}
}

func TestStreamThatEndsBeforeTheResponseIsResumed(t *testing.T) {
	b := newBench(t)
	s := b.stream([2]string{"mcp-session-id", "s-1"}, [2]string{"mcp-protocol-version", "2025-11-25"}, [2]string{"authorization", "Bearer x"},
		[2]string{"content-type", "application/json"}, [2]string{"accept", "application/json, text/event-stream"}, [2]string{"mcp-name", "refund"})
	b.tool().reply(s.part(primed + progress))
	call := s.rest(2 * time.Second)
	want := map[string]string{":path": "/mcp", ":authority": "tools.example", "accept": "text/event-stream", "last-event-id": "e-2",
		"mcp-session-id": "s-1", "mcp-protocol-version": "2025-11-25", "authorization": "Bearer x", "content-type": "", "mcp-name": ""}
	for name, value := range want {
		if got := header(call.Headers, name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	if left := time.Minute - b.host.now; call.Timeout != left {
		t.Errorf("the request for the rest may take %s, want what is left of the execution's time, %s", call.Timeout, left)
	}
	call.reply(s.part(strings.Replace(progress, "e-2", "e-2b", 1)))
	if call = s.rest(2 * time.Second); header(call.Headers, "last-event-id") != "e-2b" {
		t.Errorf("the rest is asked for with %v", call.Headers)
	}
	call.reply(s.part(response))
	all := primed + progress + strings.Replace(progress, "e-2", "e-2b", 1) + strings.Replace(response, "ID", "7", 1)
	if r := s.committed(); string(r.Body) != all {
		t.Errorf("the caller got %s, want all parts as one: %s", r.Body, all)
	}
	if n := b.host.counters["executions.resumed"]; n != 2 {
		t.Errorf("%d resumptions are counted", n)
	}
}

func TestLeaseIsExtendedWhileAStreamPauses(t *testing.T) {
	b := newBench(t)
	s := b.stream()
	b.tool().reply(s.part("id: e-1\nretry: 20000\ndata:\n\n"))
	for range 3 {
		b.pass(5 * time.Second)
		b.ledger(wire.OpExtend).answer(wire.Answer{Kind: wire.AnswerOK})
	}
	s.rest(5 * time.Second).reply(s.part(response))
	b.ledger(wire.OpExtend).answer(wire.Answer{Kind: wire.AnswerOK}, wire.Answer{Kind: wire.AnswerOK})
}

func TestConnectionThatBreaksInAStreamIsResumedAfterItsLastWholeEvent(t *testing.T) {
	b := newBench(t)
	s := b.stream()
	s.shown(primed + progress[:10])
	s.shown(progress[10:] + response[:20])
	b.tool().reply(HTTPReply{})
	call := s.rest(2 * time.Second)
	if header(call.Headers, "last-event-id") != "e-2" {
		t.Fatalf("the rest is asked for with %v", call.Headers)
	}
	s.shown(response[:10])
	call.reply(HTTPReply{}) // once more, and before anything new had come
	call = s.rest(3 * time.Second)
	if header(call.Headers, "last-event-id") != "e-2" {
		t.Fatalf("the rest is asked for with %v", call.Headers)
	}
	call.reply(s.part(response))
	if r := s.committed(); string(r.Body) != primed+progress+strings.Replace(response, "ID", "7", 1) {
		t.Errorf("the caller got %s", r.Body)
	}
}

// What is known is not asked for: the connection broke, or stays open, after the response.
func TestResponseThatHasPassedIsTheEnd(t *testing.T) {
	for name, end := range map[string]func(*streaming){
		"it breaks":     func(s *streaming) { s.tool().reply(HTTPReply{}) },
		"it stays open": func(s *streaming) { s.pass(endPatience) },
		"it ends":       func(s *streaming) { s.tool().reply(s.part(progress + response)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.stream()
			if s.shown(progress + response) {
				t.Error("a stream that may end by itself is ended")
			}
			end(s)
			if r := s.committed(); string(r.Body) != progress+strings.Replace(response, "ID", "7", 1) {
				t.Errorf("the caller got %s", r.Body)
			}
			if name == "it stays open" {
				if !s.shown(": nothing new\n\n") {
					t.Error("nobody ends a stream that stays open")
				}
				s.tool().reply(HTTPReply{})
			}
			if !b.worker.Idle() || b.worker.replies != 0 {
				t.Errorf("%d bytes are kept", b.worker.replies)
			}
		})
	}
}

func TestStreamThatCannotBeResumedIsInDoubt(t *testing.T) {
	for name, events := range map[string]string{
		"without an id":                    "data: {\"method\":\"notifications/progress\"}\n\n",
		"whose id is taken back":           progress + "id\ndata:\n\n",
		"whose id is no header":            "id: a\x01b\ndata:\n\n",
		"whose id is too long for one":     "id: " + strings.Repeat("a", mostID+1) + "\ndata:\n\n",
		"whose id was in an event cut off": "id: e-1\ndata: {",
		"whose pause outlasts the call":    "id: e-1\nretry: 60000\ndata:\n\n",
		"with an absurd pause":             "id: e-1\nretry: 99999999999999999999999\ndata:\n\n",
		"with two responses in one event":  "id: e-1\ndata: [{\"id\":ID,\"result\":{}},{\"id\":ID,\"result\":{}}]\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.stream()
			b.tool().reply(s.part(events))
			s.inDoubt()
		})
	}
}

func TestServersWordEndsAResumptionOrDelaysIt(t *testing.T) {
	odd := func(s *streaming) HTTPReply { return byTool(200, "{}", [2]string{"content-type", "application/json"}) }
	for _, tc := range []struct {
		name  string
		reply func(*streaming) HTTPReply
		ends  bool
	}{
		{"405", func(*streaming) HTTPReply { return byTool(405, "") }, true},
		{"404", func(*streaming) HTTPReply { return byTool(404, "") }, true},
		{"400", func(*streaming) HTTPReply { return byTool(400, "") }, true},
		{"401", func(*streaming) HTTPReply { return byTool(401, "") }, true},
		{"500", func(*streaming) HTTPReply { return byTool(500, "") }, true},
		{"no event stream", odd, true},
		{"no route", func(*streaming) HTTPReply { return byProxy(404, "NR", "route_not_found", "-") }, true},
		{"no room", func(s *streaming) HTTPReply { r := s.part(response); r.Body, r.Unread = nil, true; return r }, true},
		{"503", func(*streaming) HTTPReply { return byTool(503, "") }, false},
		{"409", func(*streaming) HTTPReply { return byTool(409, "") }, false},
		{"connection refused", func(*streaming) HTTPReply { return byProxy(503, "UF", "connection_failure", "1") }, false},
		{"reset", func(*streaming) HTTPReply { return HTTPReply{} }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			s := b.stream()
			b.tool().reply(s.part("id: e-1\nretry: 1000\ndata:\n\n"))
			s.rest(time.Second).reply(tc.reply(s))
			if tc.ends {
				s.inDoubt()
				return
			}
			s.rest(1500 * time.Millisecond).reply(s.part(response))
			s.committed()
		})
	}
}

// Who says how often it wants to be asked is asked so often; tries that fail are made ever less often, until the
// execution's time is over.
func TestResumptionIsTriedUntilTheTimeIsOver(t *testing.T) {
	for _, tc := range []struct {
		name        string
		reply       func(*streaming) HTTPReply
		least, most int
	}{
		{"a server that is away", func(*streaming) HTTPReply { return byProxy(503, "UF", "connection_failure", "1") }, 5, 15},
		{"a server that has nothing new", func(s *streaming) HTTPReply { return s.part("") }, 55, 60},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			s := b.stream()
			b.tool().reply(s.part("id: e-1\nretry: 1000\ndata:\n\n"))
			asked := 0
			for b.host.now < 2*time.Minute && len(b.worker.executions) > 0 && !b.worker.executions[s.c.call.attempt].ended {
				b.pass(TickPeriod)
				if b.toolCalls() > 0 {
					asked++
					b.tool().reply(tc.reply(s))
				}
				s.extended()
			}
			if asked < tc.least || asked > tc.most || b.host.now > time.Minute {
				t.Errorf("it was asked %d times within %s, want %d to %d times within a minute", asked, b.host.now, tc.least, tc.most)
			}
			s.inDoubt()
		})
	}
}

func TestOnlyADetachedCallBefore2026IsResumed(t *testing.T) {
	b := newBench(t)
	b.rule.Inline = true
	c := b.arriveMCP("a", callMessage)
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	passed := byTool(200, primed, [2]string{"content-type", "text/event-stream"})
	c.call.StreamPassed(&passed)
	c.call.StreamEnded(passed)
	b.worker.Flush()
	if op := b.ledger(wire.OpFail).ops(t)[0]; op.Class != wire.ClassUnknown {
		t.Errorf("inline: the ledger is told %+v", op)
	}

	b = newBench(t)
	c = b.arriveMCP("a", callMessage)
	c.call.MCP.Typed = true
	b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
	if b.tool().Passing != nil {
		t.Error("the reply of a call of 2026-07-28 is watched")
	}
	b.answerMCP(200, primed, "text/event-stream")
	b.ledger(wire.OpFail)
}

func TestStreamBeyondTheRoomIsNotResumed(t *testing.T) {
	b := newBench(t)
	s := b.stream()
	s.shown(primed + progress)
	s.shown(": " + strings.Repeat("x", mostRead) + "\n\n")
	if kept := s.execution().stream.events.Size(); b.worker.replies != 0 || kept != 0 {
		t.Errorf("%d bytes are kept of a stream that is too long, and %d counted", kept, b.worker.replies)
	}
	b.tool().reply(HTTPReply{})
	s.inDoubt()
}

func TestStreamThatGoesOnAfterTheResponseIsNotKept(t *testing.T) {
	b := newBench(t)
	s := b.stream()
	s.shown(primed + response)
	kept := b.worker.replies
	s.shown(": " + strings.Repeat("x", mostRead) + "\n\n")
	if b.worker.replies != kept {
		t.Errorf("%d bytes are kept of a stream whose response has %d", b.worker.replies, kept)
	}
	b.tool().reply(HTTPReply{})
	b.ledger(wire.OpCommit).answer(wire.Answer{Kind: wire.AnswerOK})
	b.told(s.c, 200, "executed", "")
}

func TestResponseInAnArrayIsOurs(t *testing.T) {
	for _, tc := range []struct {
		name, contentType, body string
		op                      wire.OpKind
	}{
		{"JSON", "application/json", ` [ {"jsonrpc":"2.0","id":ID,"result":{"content":[]}} ] `, wire.OpCommit},
		{"among others", "application/json", `[{"jsonrpc":"2.0","method":"notifications/progress"},{"jsonrpc":"2.0","id":"x","result":{"isError":true}},{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}]`, wire.OpCommit},
		{"an event", "text/event-stream", "data: [{\"id\":\"x\",\"result\":{}},\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[]}}]\n\n", wire.OpCommit},
		{"twice", "application/json", `[{"id":ID,"result":{}},{"id":ID,"result":{}}]`, wire.OpFail},
		{"another's alone", "application/json", `[{"id":"x","result":{}}]`, wire.OpFail},
		{"another's error", "application/json", `[{"id":null,"error":{"code":1}}]`, wire.OpFail},
		{"cut short", "application/json", `[{"id":ID,"result":{}}`, wire.OpFail},
		{"more after it", "application/json", `[{"id":ID,"result":{}}]]`, wire.OpFail},
		{"no objects", "application/json", `[{"id":ID,"result":{}},7]`, wire.OpFail},
		{"empty", "application/json", `[]`, wire.OpFail},
		{"an array of arrays", "application/json", `[[{"id":ID,"result":{}}]]`, wire.OpFail},
		{"another's, alone", "application/json", `{"id":"x","result":{}}`, wire.OpFail},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			c := b.arriveMCP("a", callMessage)
			b.ledger(wire.OpReserve).answer(wire.Answer{Kind: wire.AnswerExecute, Attempt: c.call.attempt, LeaseMS: 15000})
			b.answerMCP(200, tc.body, tc.contentType)
			op := b.ledger(tc.op)
			if tc.op == wire.OpFail {
				if class := op.ops(t)[0].Class; class != wire.ClassUnknown {
					t.Errorf("the ledger is told class %s, want unknown", class)
				}
				return
			}
			if r := op.ops(t)[0].Result; string(r.Body) != `{"result":{"content":[]}}` {
				t.Errorf("stored %s", r.Body)
			}
			op.answer(wire.Answer{Kind: wire.AnswerOK})
			if r := b.told(c, 200, "executed", ""); string(r.Body) != strings.Replace(tc.body, "ID", "7", 1) {
				t.Errorf("the caller got %s, want %s under its id", r.Body, tc.body)
			}
		})
	}
}
