package e2e_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// acceptanceCase is one line of the corpus; its README tells what the members mean.
type acceptanceCase struct {
	ID, Kind, Why, Protocol, Tool string

	Steps      []step
	Expect     []*expectation
	Executions int
}

type step struct {
	AtMS          int64  `json:"at_ms"`
	Run           string // absent where null
	ContentType   string `json:"content_type"`
	Headers       map[string]string
	Body          string
	BodyB64       string `json:"body_b64"`
	ToolBehaviour string `json:"tool_behaviour"`
	Fault         string
	Admin         string
	TargetStep    int `json:"target_step"`
}

type expectation struct{ Outcome, Code string }

// met says whether a reply is what was expected.
func (e *expectation) met(r envoytest.Reply) bool {
	return r.Err == nil && r.Outcome() == e.Outcome && (e.Code == "" || strings.Contains(string(r.Body), `"code":"`+e.Code+`"`))
}

// readCases reads the corpus.
func readCases(t *testing.T) []acceptanceCase {
	t.Helper()
	file, err := os.Open("../canon/testdata/cases/corpus.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var cases []acceptanceCase
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c acceptanceCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("line %d: %v", len(cases)+1, err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	return cases
}

// breaksTheLedger says whether the ledger is down during a step.
func (c acceptanceCase) breaksTheLedger() bool {
	for _, s := range c.Steps {
		if s.Fault == "ledger_down" {
			return true
		}
	}
	return false
}

// caseRules are the rules that the cases run under, one for each protocol.
func caseRules() string {
	rule := func(protocol, more string) string {
		return fmt.Sprintf(`{"name":"%s","match":{"path_prefix":"/%[1]s/"%s},"protocol":"%[1]s","execution_timeout":"3s"}`, protocol, more)
	}
	return plugin(rule("json", ""), rule("form", ""), rule("mcp", `,"tools":["*"]`))
}

// call is a step as a caller sends it, under a host of the case's own.
func (c acceptanceCase) call(s step, host string) envoytest.Call {
	call := envoytest.Call{
		Path: "/" + c.Protocol + "/" + c.Tool, Host: host, Run: s.Run, Type: s.ContentType, Body: s.Body,
		Header: map[string]string{envoytest.BehaviourHeader: s.ToolBehaviour},
	}
	if s.BodyB64 != "" {
		body, err := base64.StdEncoding.DecodeString(s.BodyB64)
		if err != nil {
			panic(err)
		}
		call.Body = string(body)
	}
	if c.Protocol == "mcp" {
		call.Header["accept"] = "application/json, text/event-stream"
	}
	for name, value := range s.Headers {
		call.Header[strings.ToLower(name)] = value
	}
	return call
}
