package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
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

// What a person sees of two bodies fits a screen, whatever is in them; what counts and where is always among it.
func TestAComparisonFitsOneScreen(t *testing.T) {
	many := func(n int, text string) string {
		body := `{"tool":"refund","runId":"worker-` + strconv.Itoa(n) + `","args":{"customer":"Ada@Example.com","amount":"$12.00"`
		for i := range n {
			body += fmt.Sprintf(`,"%s%d":{"request_id":"%s%d","n":"%s"}`, text, i, text, i, text)
		}
		return body + `}}`
	}
	long, wide := strings.Repeat("parcel ", 2000), strings.Repeat(`\u001b[2J\u202e`, 300)
	rules := file(t, "plugin.json", strings.Replace(plugin, `"refunds"`, `"`+strings.Repeat("refunds-", 7)+`"`, 1))
	for name, c := range map[string]struct {
		a, b string
		code int
		want []string
	}{
		"usual": {`{"tool":"refund","runId":"worker-a","request_id":"8f14e45f-ceea","args":{"customer":"Ada@Example.com","amount":"$12.00","currency":"usd","order_id":"O-1","items":[{"qty":2}]}}`,
			`{"tool":"refund","runId":"worker-b","trace_id":"t-2","args":{"customer":"ada@example.com","amount":"1200 cents","currency":"USD","order_id":"O-2","items":[{"qty":2.0}]}}`, 1,
			[]string{"Near-duplicates", "/args/order_id", `"O-1"`, `"O-2"`, "/args/items/0/qty", "/runId", "fingerprint:", "worker-b", `{"amount_minor":1200,"currency":"USD"}`, "--all"}},
		"one call":                     {refund, refundAgain, 0, []string{"One call", "/args/amount", "1200 cents"}},
		"many differences":             {many(50, "a"), many(50, "b"), 1, []string{"differ", "yes", "more (--all)"}},
		"long values":                  {many(2, long), many(2, long+"!"), 1, []string{"yes", "…"}},
		"a long text, and where":       {`{"a":"` + long + `x"}`, `{"a":"` + long + `y"}`, 1, []string{`parcel x"`, `parcel y"`, "yes"}},
		"what moves the cursor":        {many(3, wide), many(4, wide), 1, []string{`\x1b`}},
		"both refused":                 {`{"a":1,"` + long + `":tru}`, `{"` + long + `":1,"` + long + `":1}`, 1, []string{"Both are refused", "malformed_body"}},
		"many that count and need not": {`{"x":[` + strings.Repeat(`{"n":1,"request_id":"1"},`, 30) + `0]}`, `{"x":[` + strings.Repeat(`{"n":1,"request_id":"2"},`, 30) + `0]}`, 1, []string{`"volatile": {"drop": ["request_id"]}`, "and 20 more"}},
	} {
		a, b := file(t, "a.json", c.a), file(t, "b.json", c.b)
		for _, more := range [][]string{nil, {"--rules", rules, "--rule", strings.Repeat("refunds-", 7)}} {
			got := command(t, append([]string{"explain", a, b}, more...)...)
			if more == nil {
				got.wants(t, c.code, c.want...)
			}
			lines := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
			if len(lines) > 40 || len(lines) < 5 {
				t.Errorf("%s: %d lines", name, len(lines))
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > 120 {
					t.Errorf("%s: %d columns: %s", name, n, line)
				}
			}
		}
		command(t, "explain", a, b, "--all").wants(t, c.code)
	}
	a, b := file(t, "a.json", many(50, "a")), file(t, "b.json", many(50, "b"))
	command(t, "explain", a, b, "--all").wants(t, 1, "/args/a49", "/args/b49", "canonical:", "COUNTS AS")
	command(t, "explain", a, b, "--json").wants(t, 1, "/args/a49", `"canonical"`)
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
	command(t, "explain", a, "--rules", rules, "--path", "/elsewhere").wants(t, 2, "no rule matches", "refunds (POST /api/invoke tools refund*)", "--rule", "--path")
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
	command(t, "explain", a, "--rules", two, "--rule", "none").wants(t, 2, `"none"`, "payouts (POST /api/invoke tools payout*), rest (POST /api/invoke)")
	command(t, "explain", a, "--rule", "none").wants(t, 2, `"none"`)
}

func TestCheckSaysWhatIsGuardedOrWhatIsWrong(t *testing.T) {
	command(t, "check", file(t, "plugin.json", plugin)).wants(t, 0, "refunds", "enforce", "POST /api/invoke tools refund*", "T, K")
	command(t, key, "T=x", "check", file(t, "plugin.json", plugin)).wants(t, 0, "refunds")
	command(t, "check", file(t, "plugin.json", `{"ledger":{"cluster":"l"},"execute":{"cluster":"e"}}`)).wants(t, 1, "/calls")
	commandWith(t, `{"ledger":`, "check", "-").wants(t, 1, "JSON")
	commandWith(t, `{"ledger":{"cluster":"l"},"execute":{"cluster":"e"},"calls":[{"match":{"path":"/a"}}],}`, "check", "-").wants(t, 1, "JSON")
	commandWith(t, `{ledger: {cluster: l}, execute: {cluster: e}, calls: [{match: {path: /a}}]}`, "check", "-").wants(t, 1, "JSON")
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
	routed := func(metadata string) string { return routedFile(t, "{name: pay, match: {route: true}}", metadata) }
	command(t, "check", routed(`{rule: pay, mode: shadow}`)).wants(t, 0, "pay", "POST routes that name it")
	command(t, "check", routed(`{rule: play}`)).wants(t, 1, `route prefix /b: metadata.filter_metadata.idem/rule: "play" is no rule's name`)
	command(t, "check", routed(`{mode: 1, wait: 1s}`)).wants(t, 1, "idem/mode: 1 is no mode", "idem/wait: is not a setting of a route")
}

func TestOneRuleNeedsNotBeChosen(t *testing.T) {
	a, rules := file(t, "a.json", refund), file(t, "plugin.json", plugin)
	alone := command(t, "explain", a, "--rules", rules, "--host", "pay.example", "--json")
	alone.wants(t, 0, `"rule": "refunds"`, "/api/invoke is taken here")
	said := command(t, "explain", a, "--rules", rules, "--host", "pay.example", "--path", "/api/invoke", "--json").out
	if fingerprint(t, alone.out) != fingerprint(t, said) {
		t.Error("the one rule's own path gives another fingerprint than the same path given")
	}
	two := file(t, "two.json", `{"ledger":{"cluster":"l"},"execute":{"cluster":"e"},"calls":[
		{"name":"one","match":{"path":"/one"}},{"name":"other","match":{"path_prefix":"/other/"}}]}`)
	command(t, "explain", a, "--rules", two).wants(t, 2, "one (POST /one)", "other (POST /other/…)", "--rule", "--path", "--method", "--host")
	command(t, "explain", a, "--rules", two, "--rule", "other").wants(t, 0, "other")
}

func fingerprint(t *testing.T, report string) string {
	t.Helper()
	var r struct{ A struct{ Fingerprint string } }
	if err := json.Unmarshal([]byte(report), &r); err != nil || r.A.Fingerprint == "" {
		t.Fatalf("%v in %s", err, report)
	}
	return r.A.Fingerprint
}

func TestTheFingerprintKeyStandsForTheOneThatTheRulesName(t *testing.T) {
	a, rules, secret := file(t, "a.json", refund), file(t, "plugin.json", plugin), file(t, "key", "00112233445566778899aabbccddeeff\n")
	byEnv := command(t, key, "T=token", "explain", a, "--rules", rules, "--json")
	byFile := command(t, "explain", a, "--rules", rules, "--fingerprint-key-file", secret, "--json")
	byFile.wants(t, 0, `"keyed": true`)
	if fingerprint(t, byEnv.out) != fingerprint(t, byFile.out) {
		t.Error("the key in the file gives another fingerprint than the same key in the environment")
	}
	command(t, "explain", a, "--rules", rules, "--fingerprint-key", "short").wants(t, 2, "/fingerprint/key_env", "16")
	keyless := file(t, "keyless.json", `{"ledger":{"cluster":"l"},"execute":{"cluster":"e"},"calls":[{"match":{"path_prefix":"/"}}]}`)
	command(t, "explain", a, "--rules", keyless, "--fingerprint-key-file", secret).wants(t, 2, "--fingerprint-key", "fingerprint.key_env")
}

func TestCheckSaysWhereTheRunIsRead(t *testing.T) {
	const head = `{"ledger":{"cluster":"l"},"execute":{"cluster":"e"},"calls":[`
	byDefault := file(t, "default.json", head+`{"name":"flat","match":{"path_prefix":"/tools/"}}]}`)
	command(t, "check", byDefault).wants(t, 0, "RUN", "header x-idem-run, else /runId or /run_id beside /args", "Warning: in a body without /args", "rules: flat", `{"pointer": "/runId"}`)
	said := file(t, "said.json", head+`{"name":"told","match":{"path_prefix":"/tools/"},"run":[{"header":"X-Job"},{"pointer":"/job"},{"metadata":["a","b"]}]},
		{"name":"agent","match":{"path":"/mcp","tools":["*"]},"protocol":"mcp"}]}`)
	got := command(t, "check", said)
	got.wants(t, 0, "header x-job, else /job, else metadata a/b")
	if strings.Contains(got.out, "without a run") {
		t.Errorf("a rule that says where its run is, and one of MCP, are warned of: %s", got.out)
	}
}

// The help names every setting that the reference has.
func TestCheckPointsToTheReferenceOfSettings(t *testing.T) {
	command(t, "check", file(t, "plugin.json", plugin)).wants(t, 0, "check --help", "filter/policy/doc.go")
	help := command(t, "check", "--help").out
	reference, err := os.ReadFile("../filter/policy/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, m := range regexp.MustCompile(`(?m)^//\t((?:  ){0,2}[a-z][a-z_, ]*?)(?::([a-z_, ]+))?(?:  |$)`).FindAllStringSubmatch(string(reference), -1) {
		for _, name := range regexp.MustCompile(`[a-z_]+`).FindAllString(m[1]+" "+m[2], -1) {
			names++
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(help) {
				t.Errorf("%s is not in the help", name)
			}
		}
	}
	if names < 50 {
		t.Errorf("%d settings in the reference: it is written in another way than this test reads", names)
	}
}

func TestTheConsoleIsToldWhichRulesThereAre(t *testing.T) {
	rules := file(t, "plugin.json", plugin)
	p := startProcess(t, "--store", "memory", "--rules", rules)
	if status, text := fetch(t, "GET", "http://"+p.admin+"/api/rules", "", ""); status != 200 || !strings.Contains(text, `{"rules":[{"name":"refunds","guards":"POST /api/invoke tools refund*"}]}`) {
		t.Errorf("%d %s", status, text)
	}
}
