package main

import (
	"encoding/json"
	"strings"
	"testing"
)

const (
	refund      = `{"tool":"refund","runId":"a","args":{"customer":"Ada@Example.com","amount":"$12.00"}}`
	refundAgain = `{"args":{"amount":"1200 cents","customer":"ada@example.com"},"tool":"refund","trace_id":"t"}`
	refundMore  = `{"tool":"refund","args":{"customer":"ada@example.com","amount":"$12.01"}}`
	plugin      = `{"ledger":{"cluster":"l","token_env":"T"},"execute":{"cluster":"e"},"fingerprint":{"key_env":"K"},
	  "calls":[{"name":"refunds","match":{"path":"/api/invoke","tools":["refund*"]}}]}`
	key = "K=00112233445566778899aabbccddeeff"
)

func TestExplainSaysOneCallOrTwoByItsExitCode(t *testing.T) {
	a, b, c := file(t, "a.json", refund), file(t, "b.json", refundAgain), file(t, "c.json", refundMore)
	command(t, "explain", a).wants(t, 0, "fingerprint", `"amount_minor":1200`, "money:", "runId")
	command(t, "explain", a, b).wants(t, 0, "One call", "/args/amount", "no")
	command(t, "explain", a, c).wants(t, 1, "Two calls", "yes", "1201")
	commandWith(t, refundAgain, "explain", a, "-").wants(t, 0, "One call")
	command(t, "explain", "-", "-").wants(t, 2, "standard input")
	command(t, "explain", file(t, "bad.json", `{"a":1,"a":2}`)).wants(t, 1, "malformed_body", "/a")
	command(t, "explain", "/nowhere.json").wants(t, 2, "/nowhere.json")
}

func TestExplainAsJSONIsOneReport(t *testing.T) {
	got := command(t, "explain", file(t, "a.json", refund), file(t, "c.json", refundMore), "--json")
	var report struct {
		Same        bool
		A, B        struct{ Fingerprint string }
		Differences []struct{ Pointer, A, B string }
	}
	if err := json.Unmarshal([]byte(got.out), &report); err != nil || got.code != 1 || report.Same || len(report.Differences) == 0 || len(report.B.Fingerprint) != 64 {
		t.Fatalf("%d, %v, %s", got.code, err, got.out)
	}
}

func TestExplainReadsAsTheFilterDoes(t *testing.T) {
	a, rules := file(t, "a.json", refund), file(t, "plugin.json", plugin)
	command(t, "explain", a, "--rules", rules).wants(t, 2, "no rule matches", "refunds")
	command(t, "explain", a, "--rules", rules, "--path", "/api/invoke").wants(t, 0, "refunds", "not the filter's")
	keyed := command(t, key, "T=token", "explain", a, "--rules", rules, "--path", "/api/invoke")
	keyed.wants(t, 0, "refunds")
	if strings.Contains(keyed.out, "not the filter's") {
		t.Error("with the key the fingerprints are the filter's")
	}
	one := command(t, "explain", a, "--header", "authorization: Bearer x", "--json").out
	two := command(t, "explain", a, "--header", "authorization: Bearer y", "--json").out
	if one == two {
		t.Error("another caller's call has the same fingerprint")
	}
	command(t, "explain", a, "--header", "nonsense").wants(t, 2, "--header")
	command(t, "explain", a, "--rules", rules, "--tool", "x").wants(t, 2, "--tool")
}

func TestTheRuleIsTheOneThatTheFilterWouldUse(t *testing.T) {
	two := file(t, "plugin.json", `{"ledger":{"cluster":"l"},"execute":{"cluster":"e"},"calls":[
		{"name":"payouts","match":{"path":"/api/invoke","tools":["payout*"]}},
		{"name":"rest","match":{"path":"/api/invoke"}}]}`)
	for body, want := range map[string]string{
		`{"tool":"payout_all","args":{}}`: "payouts",
		`{"tool":"refund","args":{}}`:     "rest",
		`{`:                               "payouts", // cannot be read: the first rule's to refuse
	} {
		got := commandWith(t, body, "explain", "-", "--rules", two, "--path", "/api/invoke", "--json")
		if !strings.Contains(got.out, `"rule": "`+want+`"`) {
			t.Errorf("%s is not read by %s: %s", body, want, got.out)
		}
	}
	a := file(t, "a.json", `{"tool":"payout"}`)
	command(t, "explain", a, "--rules", two, "--rule", "rest", "--json").wants(t, 0, `"rule": "rest"`)
	command(t, "explain", a, "--rules", two, "--rule", "none").wants(t, 2, `"none"`, "payouts, rest")
	command(t, "explain", a, "--rule", "none").wants(t, 2, `"none"`)
}

func TestCheckSaysWhatIsGuardedOrWhatIsWrong(t *testing.T) {
	command(t, "check", file(t, "plugin.json", plugin)).wants(t, 0, "refunds", "enforce", "POST /api/invoke tools refund*", "T, K")
	command(t, key, "T=x", "check", file(t, "plugin.json", plugin)).wants(t, 0, "refunds")
	command(t, "check", file(t, "plugin.json", `{"ledger":{"cluster":"l"},"execute":{"cluster":"e"}}`)).wants(t, 1, "/calls")
	commandWith(t, `{"ledger":`, "check", "-").wants(t, 1, "JSON")
	command(t, "check", "/nowhere").wants(t, 2, "/nowhere")
}

func TestCheckReadsYAMLAndEnvoysConfigurationToo(t *testing.T) {
	command(t, "check", file(t, "plugin.yaml", `
ledger: {cluster: l}
execute: {cluster: e}
calls:
- name: tools
  match: {path_prefix: /tools/}
`)).wants(t, 0, "POST /tools/…", "plain SHA-256")
	command(t, "check", "../envoy/demo.yaml").wants(t, 0, "invoke", "envelope", "tools")
	command(t, "check", file(t, "envoy.yaml", "static_resources: {listeners: []}\n")).wants(t, 1, "no wasm filter")
}
