package e2e_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// namingRules say where things are in a body: one explicitly, one by convention, one as MCP has it.
var namingRules = plugin(
	`{"name":"explicit","match":{"path":"/explicit"},"tool":{"pointer":"/call/name"},"args":{"pointer":"/call/input"},`+
		`"run":[{"pointer":"/run"}],"scope":[{"pointer":"/user"}],"identity":["/order"]}`,
	`{"name":"header","match":{"path":"/header"},"tool":{"header":"x-tool"}}`,
	`{"name":"tools","match":{"path_prefix":"/tools/"}}`,
	`{"name":"mcp","match":{"path":"/mcp","tools":["*"]},"protocol":"mcp"}`)

// badNames are calls that do not say what their rule needs to know, or say it in a way that nobody can keep: what the
// refusal names, and what it says.
var badNames = []struct {
	name, path, body    string
	code, pointer, says string
}{
	{"a tool pointer that finds nothing", "/explicit", `{"user":"a","call":{"input":{"order":1}}}`, "malformed_body", "/call/name", `the body has no "/call/name", where the rule says that the tool's name stands`},
	{"an args pointer that finds nothing", "/explicit", `{"user":"a","call":{"name":"refund"}}`, "malformed_body", "/call/input", `the body has no "/call/input", where the rule says that the args stand`},
	{"a scope pointer that finds nothing", "/explicit", `{"call":{"name":"refund","input":{"order":1}}}`, "unstable_scope", "/user", `the rule's scope is pointer "/user", and this call has none of it`},
	{"an identity that finds nothing", "/explicit", `{"user":"a","call":{"name":"refund","input":{"note":"x"}}}`, "malformed_body", "/call/input", "nothing that the rule's identity lists: /order"},
	{"a run that is an object", "/explicit", `{"user":"a","run":{"id":1},"call":{"name":"refund","input":{"order":1}}}`, "malformed_body", "/run", "the run is an object; use a text or a number"},
	{"a pointer into a text", "/explicit", `{"user":"a","call":"refund"}`, "malformed_body", "/call/input", "the body has no"},
	{"a header that is not there", "/header", `{"a":1}`, "malformed_body", "", `header "x-tool" is not in the call`},
	{"a number", "/tools/x", `{"tool":7,"args":{}}`, "malformed_body", "/tool", "the tool's name is the number 7; use a text of 1 to 1024 bytes"},
	{"null", "/tools/x", `{"tool":null,"args":{}}`, "malformed_body", "/tool", "the tool's name is null; use a text"},
	{"an object", "/tools/x", `{"tool":{"name":"refund"},"args":{}}`, "malformed_body", "/tool", "the tool's name is an object; use a text"},
	{"an empty text", "/tools/x", `{"tool":"","args":{}}`, "malformed_body", "/tool", "the tool's name is an empty text; use a text"},
	{"control characters", "/tools/x", `{"tool":"re\u0007\nfund","args":{}}`, "malformed_body", "/tool", "has a control character"},
	{"10 kB", "/tools/x", `{"tool":"` + strings.Repeat("x", 10<<10) + `","args":{}}`, "malformed_body", "/tool", "has 10240 bytes; use at most 1024"},
	{"a run of 10 kB", "/tools/x", `{"tool":"refund","runId":"` + strings.Repeat("x", 10<<10) + `","args":{}}`, "malformed_body", "/runId", "has 10240 bytes; use at most 1024"},
	{"a path's name of 2000 bytes", "/tools/" + strings.Repeat("x", 2000), `{"a":1}`, "malformed_body", "", "the last segment of the path, the tool's name, has 2000 bytes; use at most 1024"},
	{"no params", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, "malformed_body", "", "params is missing, or no object"},
	{"params that are a list", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["refund"]}`, "malformed_body", "/params", "params is missing, or no object"},
	{"no name", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}`, "malformed_body", "/params", "params has no name"},
	{"a name that is a number", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, "malformed_body", "/params/name", "the tool's name is the number 7; use a text"},
	{"a name that is null", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":null}}`, "malformed_body", "/params/name", "the tool's name is null"},
	{"a name with a line end", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund\n"}}`, "malformed_body", "/params/name", "has a control character"},
	{"a name of 10 kB", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 10<<10) + `"}}`, "malformed_body", "/params/name", "has 10240 bytes"},
	{"half a surrogate pair", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund","arguments":{"a":"\ud83d"}}}`, "malformed_body", "/params/arguments/a", "surrogate"},
	{"an id that is an object", "/mcp", `{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"refund"}}`, "malformed_body", "/id", "must have an id that is a string or a number"},
}

// expectBadName fails the test where a refusal does not say what is wrong, where, and what would be right.
func expectBadName(t *testing.T, i int, r envoytest.Reply) {
	t.Helper()
	c := badNames[i]
	body := string(r.Body)
	if r.Status != http.StatusBadRequest || r.Outcome() != "refused" {
		t.Errorf("%s: %v", c.name, r)
		return
	}
	quoted := strings.Trim(strconv.Quote(c.says), `"`)
	for _, want := range []string{`"code":"` + c.code + `"`, quoted} {
		if !strings.Contains(body, want) {
			t.Errorf("%s: the refusal does not say %s: %s", c.name, want, body)
		}
	}
	if c.pointer != "" && !strings.Contains(body, `"pointer":"`+c.pointer+`"`) {
		t.Errorf("%s: the refusal does not point at %s: %s", c.name, c.pointer, body)
	}
	if mcp := strings.HasPrefix(body, `{"jsonrpc":"2.0","id":null,"error":{"code":-32`); mcp != (c.path == "/mcp") {
		t.Errorf("%s: the refusal has the wrong form: %s", c.name, body)
	}
	if len(body) > 2000 {
		t.Errorf("%s: the refusal has %d bytes", c.name, len(body))
	}
}

func TestCallsThatDoNotSayWhatTheRuleNeeds(t *testing.T) {
	s := envoytest.StartStack(t, envoytest.Options{Plugin: namingRules, Edit: envoytest.Bootstrap.AllToTool})
	for i, c := range badNames {
		expectBadName(t, i, s.Call(t, envoytest.Call{Path: c.path, Body: c.body}))
	}
	expectExecutions(t, s.Tool, 0)
	whole := envoytest.Call{Path: "/explicit", Body: `{"user":"a","call":{"name":"refund","input":{"order":1,"note":"x"}}}`}
	expect(t, "a call without a run", s.Call(t, whole), http.StatusOK, "executed")
	expect(t, "its retry", s.Call(t, whole), http.StatusOK, "replay")
	named := envoytest.Call{Path: "/mcp", Header: map[string]string{"mcp-protocol-version": "2099-01-01"},
		Body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund","arguments":{"a":1}}}`}
	expect(t, "an MCP call of a revision that nobody knows", s.Call(t, named), http.StatusOK, "executed")
	expect(t, "its retry", s.Call(t, named), http.StatusOK, "replay")
	expectExecutions(t, s.Tool, 2)
}

func TestWasmCallsThatDoNotSayWhatTheRuleNeeds(t *testing.T) {
	inWorld(t, setup{plugin: namingRules}, func(t *testing.T, w *world) {
		for i, c := range badNames {
			expectBadName(t, i, w.call(envoytest.Call{Path: c.path, Body: c.body}))
		}
		w.count(0)
		if n := w.ledger.Counters()["arrivals"]; n != 0 {
			t.Errorf("the ledger heard of %d calls that cannot be read", n)
		}
	})
}
