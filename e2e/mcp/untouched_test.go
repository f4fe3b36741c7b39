package mcp_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

func TestEverythingButToolsCallPassesUntouched(t *testing.T) {
	s := set()
	for _, k := range []kind{kinds[1], kinds[4], kinds[6], kinds[7]} {
		t.Run(k.name, func(t *testing.T) {
			direct := k.connect(t, "http://"+s.front.servers["everything"]+"/mcp")
			through := k.connect(t, s.through("once", "everything"))
			for _, op := range []string{"tools", "prompts", "resources", "ping"} {
				want, got := direct.begin(command{Op: op}).wait(t), through.begin(command{Op: op}).wait(t)
				if want.Error != "" || string(got.Result) != string(want.Result) || got.Error != "" {
					t.Errorf("%s: the client got %s %s, directly %s %s", op, got.Error, got.Result, want.Error, want.Result)
				}
			}
		})
	}
}

// raw sends a message as it is.
func raw(t *testing.T, s *stage, rule, server, body string, header map[string]string) envoytest.Reply {
	t.Helper()
	h := map[string]string{"accept": "application/json, text/event-stream"}
	for name, value := range header {
		h[name] = value
	}
	return s.Call(t, envoytest.Call{Path: "/mcp/" + rule + "/" + server, Body: body, Header: h})
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func message(id, customer string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"_meta":{"progressToken":` + id + `},"name":"refund","arguments":{"customer":"` + customer + `","amount":"1","currency":"USD"}}}`
}

func TestResultComesInTheFormThatTheCallerAccepts(t *testing.T) {
	s := set()
	who := customer(t)
	for i, tc := range []struct{ accept, contentType, prefix string }{
		{"application/json, text/event-stream", "text/event-stream", ""}, // the executor: as the server sent it
		{"application/json, text/event-stream", "application/json", "{"},
		{"application/json", "application/json", "{"},
		{"text/event-stream", "text/event-stream", "event: message\ndata: {"},
	} {
		id := `"c-` + strconv.Itoa(i) + `"`
		r := raw(t, s, "once", "go-plain", message(id, who), map[string]string{"accept": tc.accept})
		if r.Status != 200 || r.Header.Get("content-type") != tc.contentType || !strings.HasPrefix(string(r.Body), tc.prefix) ||
			!strings.Contains(string(r.Body), `"id":`+id) || !strings.Contains(string(r.Body), "rf-") {
			t.Errorf("accept %s: %s %v", tc.accept, r, r.Header)
		}
	}
	if n := s.bank.executions(who); n != 1 {
		t.Errorf("%d executions, want 1", n)
	}
}

func TestSessionIsTheServersMatter(t *testing.T) {
	s := set()
	who := customer(t)
	opened := raw(t, s, "once", "go", initialize, nil)
	session := opened.Header.Get("mcp-session-id")
	if opened.Status != 200 || session == "" {
		t.Fatalf("initialize: %s %v", opened, opened.Header)
	}
	with := map[string]string{"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
	if r := raw(t, s, "once", "go", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, with); r.Status != 202 {
		t.Errorf("a notification: %s", r)
	}
	if r := raw(t, s, "once", "go", message("1", who), with); r.Outcome() != "executed" {
		t.Errorf("a call: %s", r)
	}
	sent := s.front.calls(who)
	if len(sent) != 1 || sent[0].header.Get("mcp-session-id") != session || sent[0].header.Get("mcp-protocol-version") != "2025-11-25" {
		t.Errorf("the server was sent %+v", sent)
	}
	if r := s.Call(t, envoytest.Call{Method: "DELETE", Path: "/mcp/once/go", Header: with}); r.Status != 204 {
		t.Errorf("the end of the session: %s", r)
	}
	// A call that is new meets the end of the session, as without Idem; one that was executed has its result.
	if r := raw(t, s, "once", "go", message("2", "new-"+who), with); r.Status != 404 || r.Outcome() != "failed" {
		t.Errorf("a call in a session that has ended: %s", r)
	}
	if r := raw(t, s, "once", "go", message("3", who), with); r.Status != 200 || r.Outcome() != "replay" {
		t.Errorf("a call that was executed: %s", r)
	}
}

func TestBatchWithAToolsCallIsRefusedAndAnotherPasses(t *testing.T) {
	s := set()
	who := customer(t)
	r := raw(t, s, "once", "go-json", `[{"jsonrpc":"2.0","id":1,"method":"ping"},`+message("2", who)+`]`, map[string]string{"mcp-protocol-version": "2025-03-26"})
	var refusal struct {
		ID    any
		Error struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(r.Body, &refusal); err != nil || r.Status != 400 || refusal.ID != nil || refusal.Error.Code != -32600 || !strings.Contains(refusal.Error.Message, "batch") {
		t.Errorf("a batch with a tools/call: %s", r)
	}
	if len(s.front.calls(who)) != 0 || s.bank.executions(who) != 0 {
		t.Error("the batch reached the server")
	}
	ping := `[{"jsonrpc":"2.0","id":"` + who + `","method":"ping"}]`
	raw(t, s, "once", "go-json", ping, nil)
	if n := len(s.front.requests(func(r request) bool { return string(r.body) == ping })); n != 1 {
		t.Errorf("a batch without one reached the server %d times, want once, as it is", n)
	}
}

func TestUnreadableToolsCallIsRefusedClearly(t *testing.T) {
	s := set()
	for name, body := range map[string]string{
		"a tool's name that is no string": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7,"arguments":{}}}`,
		"no tool's name":                  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}`,
		"no params":                       `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		"no id":                           `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"refund","arguments":{}}}`,
	} {
		before := len(s.front.requests(func(request) bool { return true }))
		r := raw(t, s, "once", "go-json", body, nil)
		var refusal struct {
			Error struct {
				Message string
				Data    envoytest.Problem
			}
		}
		if err := json.Unmarshal(r.Body, &refusal); err != nil || r.Status != 400 || refusal.Error.Message == "" || refusal.Error.Data.Code != "malformed_body" {
			t.Errorf("%s: %s", name, r)
		}
		if after := len(s.front.requests(func(request) bool { return true })); after != before {
			t.Errorf("%s: it reached the server", name)
		}
	}
}
