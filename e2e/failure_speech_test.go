package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// speech is how callers speak: a protocol, and the form in which they want the reply.
type speech string

const (
	plain     speech = "json"       // transparent
	enveloped speech = "envelope"   // the same in envelopes
	form      speech = "form"       // a form's body
	mcp       speech = "mcp"        // MCP, takes JSON
	mcpEvents speech = "mcp events" // MCP, takes event streams only
)

func (s speech) isMCP() bool { return s == mcp || s == mcpEvents }

// protocol is the rule's name for it; two speeches of one protocol can share an execution.
func (s speech) protocol() string {
	if s == mcpEvents {
		return string(mcp)
	}
	return string(s)
}

// failureRules are the rules of some sets, for every way to execute and speech: /usual/inline/mcp/ and so on. ledger is
// what the configuration says of the ledger's times.
func failureRules(ledger string, sets ...string) string {
	var rules []string
	for _, set := range sets {
		more := ruleSets[set]
		for _, execution := range []string{"detached", "inline"} {
			for _, s := range []speech{plain, enveloped, form, mcp} {
				match, say := "", ""
				protocol := s.protocol()
				switch s {
				case enveloped:
					if execution == "inline" {
						continue // it passes as it is
					}
					protocol, say = "json", `,"reply":"envelope"`
				case mcp:
					match = `,"tools":["*"]`
				}
				rules = append(rules, fmt.Sprintf(`{"name":"%[1]s %[2]s %[3]s","match":{"path_prefix":"/%[1]s/%[2]s/%[3]s/"%[4]s},
					"protocol":%[5]q,"execution":%[2]q%[6]s%[7]s}`, set, execution, s.protocol(), match, protocol, say, more))
			}
		}
	}
	return strings.Replace(plugin(rules...), `"timeout":"2s"`, ledger, 1)
}

// tableRules are those of the table. Their times are longer than anything takes on a machine that is busy.
func tableRules() string {
	return failureRules(`"timeout":"20s","commit_timeout":"30s"`, "usual", "moved", "strict", "brief")
}

// call is a call for one order. Each caller is a run of its own; id is the caller's, and that of its JSON-RPC request.
func (s speech) call(order string, id int) envoytest.Call {
	c := envoytest.Call{Run: fmt.Sprintf("run-%d", id), Header: map[string]string{}}
	switch s {
	case form:
		c.Type, c.Body = "application/x-www-form-urlencoded", "order="+order
	case mcp, mcpEvents:
		c.Body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"pay","arguments":{"order":%q}}}`, id, order)
		c.Header["accept"] = "application/json, text/event-stream"
		if s == mcpEvents {
			c.Header["accept"] = "text/event-stream"
		}
	default:
		c.Body = fmt.Sprintf(`{"order":%q}`, order)
	}
	return c
}

// hears reads what a caller was told, and fails the test where the reply is not whole in its form.
func (s speech) hears(t *testing.T, who string, r envoytest.Reply, id int) told {
	t.Helper()
	if r.Err != nil {
		t.Errorf("%s got no reply: %v", who, r.Err)
		return told{}
	}
	for name := range r.Header {
		switch name := strings.ToLower(name); {
		case name == "x-idem-outcome", name == "x-idem-fingerprint", name == "x-idem-committed":
		case strings.HasPrefix(name, "x-idem-"):
			t.Errorf("%s sees the header %s: %s", who, name, r.Header.Get(name))
		}
	}
	if len(r.Header.Get("x-idem-fingerprint")) != 64 {
		t.Errorf("%s is not told the fingerprint, but %q", who, r.Header.Get("x-idem-fingerprint"))
	}
	saw := told{status: r.Status, outcome: r.Outcome()}
	if replayed := r.Header.Get("idempotent-replayed") == "true"; replayed != (saw.outcome == "replay" || saw.outcome == "coalesced") {
		t.Errorf("%s: idempotent-replayed is %q with outcome %s", who, r.Header.Get("idempotent-replayed"), saw.outcome)
	}
	if s.isMCP() && r.Status == http.StatusOK {
		return s.hearsResponse(t, who, r, id, saw)
	}
	if p := r.Problem(); p.Code != "" {
		saw.code = p.Code
		expectWhole(t, who, p, saw)
	} else if s == enveloped && r.Status != http.StatusNoContent {
		if e := r.Envelope(); e.Outcome != saw.outcome || len(e.Result) == 0 || e.Fingerprint != r.Header.Get("x-idem-fingerprint") {
			t.Errorf("%s got an envelope that is not whole: %s", who, r.Body)
		}
	}
	return saw
}

// hearsResponse reads a JSON-RPC response, in the form that the caller takes and under its own id.
func (s speech) hearsResponse(t *testing.T, who string, r envoytest.Reply, id int, saw told) told {
	t.Helper()
	message, contentType := r.Body, "application/json"
	if s == mcpEvents {
		contentType = "text/event-stream"
		events := strings.Split(strings.TrimSpace(string(r.Body)), "\n\n") // the last is the response
		_, data, _ := strings.Cut(events[len(events)-1], "data: ")
		message = []byte(data)
	}
	var response struct {
		ID     int
		Error  json.RawMessage
		Result struct {
			IsError bool
			Content []struct{ Text string }
			Meta    struct {
				Problem envoytest.Problem `json:"idem/problem"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal(message, &response); err != nil || response.ID != id || r.Header.Get("content-type") != contentType {
		t.Errorf("%s got no %s response to %d: %v %s %s", who, contentType, id, err, r.Header.Get("content-type"), r.Body)
	}
	if p := response.Result.Meta.Problem; p.Code != "" {
		saw.status, saw.code = p.Status, p.Code
		expectWhole(t, who, p, saw)
		if !response.Result.IsError || len(response.Result.Content) == 0 || p.Retryable == strings.Contains(response.Result.Content[0].Text, "Do not retry") {
			t.Errorf("%s: the model is not told what happened: %s", who, message)
		}
	}
	return saw
}

// expectWhole fails the test where a refusal does not say all that it must, or contradicts itself.
func expectWhole(t *testing.T, who string, p envoytest.Problem, saw told) {
	t.Helper()
	if p.Type != "urn:idem:problem:"+p.Code || p.Title == "" || p.Detail == "" || p.Status != saw.status || p.Outcome != saw.outcome || len(p.Fingerprint) != 64 {
		t.Errorf("%s got a problem that is not whole: %+v", who, p)
	}
	if p.Retryable != (p.Code == "not_sent" || p.Code == "ledger_unavailable") {
		t.Errorf("%s: %s is retryable: %v", who, p.Code, p.Retryable)
	}
}
