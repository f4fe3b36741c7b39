package policy

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"idem/canon"
	"idem/ledgerd/wire"
)

// ruleWith is a configuration with one rule that matches /a and has the members given.
func ruleWith(members string) string {
	return with(`"calls": [{"match": {"path": "/a"}, ` + members + `}]`)
}

func TestARuleHasEveryDefault(t *testing.T) {
	got := *parse(t, with()).Calls[0]
	got.Canon, got.elsewhere = nil, nil
	want := Rule{
		Name: "POST /tools/*", Mode: Enforce, Protocol: canon.JSON,
		Match:      Match{PathPrefix: "/tools/", Methods: []string{"POST"}},
		RunHeaders: []string{"x-idem-run"},
		Wait:       30 * time.Second, ExecutionTimeout: 60 * time.Second, Lease: 15 * time.Second,
		MaxBodyBytes: 1 << 20, MaxResultBytes: 1 << 20,
		Ledger:   wire.DefaultRule(),
		settings: canon.Settings{Rule: "POST /tools/*", Paths: true, Protocol: canon.JSON},
	}
	want.Ledger.Name = "POST /tools/*"
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestEverySettingOfARuleIsRead(t *testing.T) {
	got := *parse(t, with(`"calls": [{
		"name": "refunds", "mode": "shadow",
		"match": {"path": "/api/invoke", "host": "API.example.com", "methods": ["POST", "PUT"], "tools": ["refund*", "payout"]},
		"protocol": "json", "tool": {"pointer": "/tool"}, "args": {"pointer": "/args"},
		"run": [{"header": "X-Run"}, {"pointer": "/runId"}, {"cookie": "run"}],
		"scope": [{"header": "Authorization"}, {"metadata": ["jwt", "sub"]}, {"value": "shop"}],
		"headers": ["Stripe-Account"], "volatile": {"drop": ["attempt"], "keep": ["timestamp"]}, "identity": ["/customer", "/a~1b~0"],
		"money": [{"pointer": "/fee", "unit": "minor", "currency": "JPY"}, {"pointer": "/tax", "currency": "EUR"}],
		"symbols": {"$": "CAD", "kr": null}, "intent": {"customer": ["/customer"], "amount": ["/amount"]},
		"near_duplicates": {"window": "6s", "horizon": "2h", "hold_wait": "10s", "hold_term": "48h", "approval_term": "2h",
			"on_new_run": "join", "on_same_intent": "execute", "on_absent_run": "hold"},
		"wait": "31s", "execution_timeout": "61s", "lease": "16s", "retention": "25h",
		"max_body_bytes": 2000, "max_result_bytes": 1000, "keep_headers": ["Set-Cookie"], "reply": "envelope", "execution": "detached",
		"failures": {"success": [404], "definite": ["504"], "unknown": ["500-503"], "strict": true},
		"provider_key": {"header": "Idempotency-Key", "on_in_doubt": "retry"}
	}]`)).Calls[0]
	got.Canon, got.elsewhere = nil, nil
	want := Rule{
		Name: "refunds", Mode: Shadow, Protocol: canon.JSON,
		Match:      Match{Path: "/api/invoke", Host: "api.example.com", Methods: []string{"POST", "PUT"}, Tools: []string{"refund*", "payout"}},
		RunHeaders: []string{"x-run"},
		Ledger: wire.Rule{
			Name: "refunds", WindowMS: 6000, HorizonMS: 7_200_000, HoldTermMS: 172_800_000, ApprovalTermMS: 7_200_000,
			LeaseMS: 16_000, WaitMS: 31_000, ExecutionMS: 61_000, RetentionMS: 90_000_000, MaxResultBytes: 1000,
			OnNewRun: wire.PolicyJoin, OnSameIntent: wire.PolicyExecute, OnAbsentRun: wire.PolicyHold, RetryInDoubt: true,
		},
		Wait: 31 * time.Second, HoldWait: 10 * time.Second, ExecutionTimeout: 61 * time.Second, Lease: 16 * time.Second,
		MaxBodyBytes: 2000, MaxResultBytes: 1000, KeepHeaders: []string{"set-cookie"}, Envelope: true,
		Failures: Failures{
			Success: []StatusRange{{404, 404}}, Definite: []StatusRange{{504, 504}}, Unknown: []StatusRange{{500, 503}}, Strict: true,
		},
		ProviderKey: &ProviderKey{Header: "idempotency-key", RetryInDoubt: true},
		settings: canon.Settings{
			Rule: "refunds", Protocol: canon.JSON,
			Tool: &canon.Source{Pointer: "/tool"}, Args: &canon.Source{Pointer: "/args"},
			Run:     []canon.Source{{Header: "x-run"}, {Pointer: "/runId"}, {Cookie: "run"}},
			Scope:   []canon.Source{{Header: "authorization"}, {Metadata: []string{"jwt", "sub"}}, {Value: "shop"}},
			Headers: []string{"stripe-account"}, Drop: []string{"attempt"}, Keep: []string{"timestamp"},
			Identity: []string{"/customer", "/a~1b~0"},
			Money:    []canon.MoneyField{{Pointer: "/fee", Unit: "minor", Currency: "JPY"}, {Pointer: "/tax", Currency: "EUR"}},
			Symbols:  map[string]string{"$": "CAD", "kr": ""},
			Customer: []string{"/customer"}, Amount: []string{"/amount"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestTheOtherWordsOfARuleAreRead(t *testing.T) {
	c := parse(t, with(`"calls": [
		{"name": "a", "match": {"path": "/a"}, "mode": "off", "protocol": "form", "scope": "none", "execution": "inline", "reply": "transparent"},
		{"name": "b", "match": {"path": "/b", "tools": ["*"]}, "protocol": "mcp", "run": [{"pointer": "/params/_meta/run"}],
		 "near_duplicates": {"on_new_run": "execute"}, "provider_key": {"header": "paypal-request-id"}}]`))
	a, b := c.Calls[0], c.Calls[1]
	if a.Mode != Off || a.Protocol != canon.Form || !a.settings.ScopeNone || !a.Inline || a.Envelope {
		t.Errorf("a is %+v", a)
	}
	if b.Protocol != canon.MCP || len(b.RunHeaders) != 0 || b.Ledger.OnNewRun != wire.PolicyExecute {
		t.Errorf("b is %+v", b)
	}
	if b.ProviderKey == nil || b.ProviderKey.RetryInDoubt || b.Ledger.RetryInDoubt {
		t.Errorf("b's provider key is %+v", b.ProviderKey)
	}
}

func TestAShortRetentionShortensWhatRefersToIt(t *testing.T) {
	rule := parse(t, ruleWith(`"retention": "2s"`)).Calls[0]
	if rule.Ledger.WindowMS != 2000 || rule.Ledger.HorizonMS != 2000 {
		t.Errorf("window %d, horizon %d, want 2000 each", rule.Ledger.WindowMS, rule.Ledger.HorizonMS)
	}
}

func TestARuleWithoutANameIsNamedByItsMatch(t *testing.T) {
	for match, want := range map[string]string{
		`{"path": "/a"}`:                                 "POST /a",
		`{"path_prefix": "/a"}`:                          "POST /a*",
		`{"host": "h"}`:                                  "POST h/*",
		`{"tools": ["x", "y*"]}`:                         "POST /* x,y*",
		`{"path": "/a", "host": "h", "tools": ["x"]}`:    "POST h/a x",
		`{"path": "/a", "methods": ["PUT", "DELETE"]}`:   "PUT,DELETE /a",
		`{"path_prefix": "/tools/", "methods": ["PUT"]}`: "PUT /tools/*",
	} {
		rule := parse(t, with(`"calls": [{"match": `+match+`}]`)).Calls[0]
		if rule.Name != want || rule.Ledger.Name != want {
			t.Errorf("%s is named %q and %q, want %q", match, rule.Name, rule.Ledger.Name, want)
		}
	}
}

func TestMistakesInARuleAreNamed(t *testing.T) {
	const header = `a header's name, such as "stripe-account"`
	const pointer = `a JSON pointer (RFC 6901), such as "/customer"`
	const sourceForm = `one source, such as {"header": "authorization"} or {"pointer": "/runId"}`
	const status = `a status such as 404, "5xx" or "500-599", from 200 to 599`
	long := strings.Repeat("n", 129)
	const duration = `a duration such as "500ms", "30s" or "24h"`
	one := func(members, want string) refusal { return refusal{ruleWith(members), []string{"/calls/0/" + want}} }
	checkRefusals(t, []refusal{
		{with(`"calls": [{}]`), []string{`/calls/0/match: is missing; name what is guarded, such as {"path_prefix": "/tools/"}`}},
		one(`"lese": "15s"`, `lese: is not a setting; the settings here are name, mode, match, protocol, tool, args, run, scope, headers, volatile, identity, `+
			`money, symbols, intent, near_duplicates, wait, execution_timeout, lease, retention, max_body_bytes, max_result_bytes, keep_headers, reply, execution, failures and provider_key`),
		one(`"a/b~c": 1`, `a~1b~0c: is not a setting; the settings here are name, mode, match, protocol, tool, args, run, scope, headers, volatile, identity, `+
			`money, symbols, intent, near_duplicates, wait, execution_timeout, lease, retention, max_body_bytes, max_result_bytes, keep_headers, reply, execution, failures and provider_key`),
		one(`"name": ""`, `name: "" is empty; use a name for people and metrics`),
		one(`"name": "a\nb"`, `name: "a\nb" has a character that does not print, at byte 1; use a name that can be read`),
		one(`"name": "`+long+`"`, `name: "`+long[:80]+`…" is 129 bytes long; use at most 128`),
		one(`"mode": "on"`, `mode: "on" is none of the words here; use "enforce", "shadow" or "off"`),
		one(`"mode": true`, `mode: true is a boolean; use "enforce", "shadow" or "off"`),
		one(`"protocol": "xml"`, `protocol: "xml" is none of the words here; use "json", "form" or "mcp"`),
		one(`"protocol": "mcp"`, `match/tools: is missing; with protocol "mcp" name the tools, such as ["refund*"], or ["*"] for all`),
		one(`"tool": "/tool"`, `tool: "/tool" is a text; use `+sourceForm),
		one(`"tool": {}`, `tool: {} must have exactly one of pointer, header, cookie, value, metadata and certificate; use `+sourceForm),
		one(`"tool": {"pointer": "tool"}`, `tool/pointer: "tool" is not a JSON pointer (RFC 6901); it begins with a slash, such as "/tool"`),
		one(`"args": {"pointer": "/a", "header": "b"}`, `args: {…} must have exactly one of pointer, header, cookie, value, metadata and certificate; use `+sourceForm),
		one(`"args": {"pointer": "/a~2"}`, `args/pointer: "/a~2" is not a JSON pointer (RFC 6901); write ~0 for a tilde and ~1 for a slash in a name`),
		one(`"args": {"pointer": "/a~"}`, `args/pointer: "/a~" is not a JSON pointer (RFC 6901); write ~0 for a tilde and ~1 for a slash in a name`),
		one(`"run": []`, `run: [] names no source; leave it out for the default`),
		one(`"run": [{"header": ":path"}]`, `run/0/header: ":path" is not the name of a header (RFC 9110 section 5.1); use `+header),
		one(`"run": [{"header": "Content-Type"}]`, `run/0/header: "Content-Type" has a meaning of its own, and the run's header is not passed on to the tool; use a header that names the run and nothing else, such as "x-idem-run"`),
		one(`"run": [{"cookie": "a b"}]`, `run/0/cookie: "a b" is not the name of a cookie (RFC 6265 section 4.1.1); use a name without spaces and separators`),
		one(`"scope": "all"`, `scope: "all" is no scope; use a list of sources, such as [{"header": "authorization"}], or "none"`),
		one(`"scope": []`, `scope: [] names no source; use "none" where every caller may be given every result, or leave it out for the default`),
		one(`"scope": [{"certificate": "email"}]`, `scope/0/certificate: "email" is none of the words here; use "uri_san", "dns_san", "subject" or "sha256"`),
		one(`"scope": [{"metadata": ["jwt"]}]`, `scope/0/metadata: […] names no value; use a path of names, such as ["envoy.filters.http.jwt_authn", "claims", "sub"]`),
		one(`"scope": [{"value": ""}]`, `scope/0/value: "" is empty; use the text that counts`),
		one(`"headers": "x"`, `headers: "x" is a text; use a list, each item `+header),
		one(`"headers": ["A", "a"]`, `headers/1: "a" is in this list twice; give it once`),
		one(`"volatile": {"dropped": []}`, `volatile/dropped: is not a setting; the settings here are drop and keep`),
		one(`"volatile": {"drop": ["a", "a"]}`, `volatile/drop/1: "a" is in this list twice; give it once`),
		one(`"volatile": {"keep": [1]}`, `volatile/keep/0: 1 is a number; use a field's name, such as "attempt"`),
		one(`"identity": ["customer"]`, `identity/0: "customer" is not a JSON pointer (RFC 6901); it begins with a slash, such as "/customer"`),
		{ruleWith(`"money": [{}]`), []string{
			`/calls/0/money/0/pointer: is missing; use ` + pointer,
			`/calls/0/money/0: {} says nothing of the field; give its unit, its currency or both`,
		}},
		one(`"money": [{"pointer": "/fee"}]`, `money/0: {…} says nothing of the field; give its unit, its currency or both`),
		one(`"money": [{"pointer": "/fee", "unit": "cents"}]`, `money/0/unit: "cents" is none of the words here; use "minor" or "major"`),
		one(`"money": [{"pointer": "/fee", "currency": "usd"}]`, `money/0/currency: "usd" is not a currency; use a code of ISO 4217, such as "USD"`),
		one(`"money": [{"pointer": "/a", "unit": "minor"}, {"pointer": "/a", "unit": "major"}]`, `money/1/pointer: "/a" is in this list twice; give it once`),
		one(`"symbols": {"$": "dollar"}`, `symbols/$: "dollar" is not a currency; use a code of ISO 4217, such as "USD"`),
		one(`"symbols": {"$": "USD", "$": "CAD"}`, `symbols/$: "CAD" is the second value of this symbol; give it once`),
		one(`"symbols": {"": "USD"}`, `symbols/: "USD" stands under an empty name; name a symbol, such as "$"`),
		one(`"symbols": []`, `symbols: [] is a list; use an object, such as {"$": "CAD"}`),
		one(`"intent": {"customer": "/customer"}`, `intent/customer: "/customer" is a text; use a list, each item `+pointer),
		one(`"intent": {"amount": [""]}`, `intent/amount/0: "" is empty; use `+pointer),
		one(`"near_duplicates": {"window": "25h"}`, `near_duplicates/window: "25h" is longer than the rule's retention (24h); use at most "24h"`),
		one(`"near_duplicates": {"horizon": "2h"}, "retention": "1h"`, `near_duplicates/horizon: "2h" is longer than the rule's retention (1h); use at most "1h"`),
		one(`"near_duplicates": {"window": "-1s"}`, `near_duplicates/window: "-1s" is too short; use at least "0s"`),
		one(`"near_duplicates": {"hold_wait": "25h"}`, `near_duplicates/hold_wait: "25h" is too long; use at most "24h"`),
		one(`"near_duplicates": {"hold_term": "0s"}`, `near_duplicates/hold_term: "0s" is too short; use at least "1s"`),
		one(`"near_duplicates": {"approval_term": "9000h"}`, `near_duplicates/approval_term: "9000h" is too long; use at most "8760h"`),
		one(`"near_duplicates": {"on_new_run": "ask"}`, `near_duplicates/on_new_run: "ask" is none of the words here; use "hold", "join" or "execute"`),
		one(`"near_duplicates": {"on_same_intent": "join"}`, `near_duplicates/on_same_intent: "join" is none of the words here; use "hold" or "execute"`),
		one(`"near_duplicates": {"on_absent_run": "join"}`, `near_duplicates/on_absent_run: "join" is none of the words here; use "execute" or "hold"`),
		one(`"wait": 30`, `wait: 30 is a number; use `+duration),
		one(`"wait": "25h"`, `wait: "25h" is too long; use at most "24h"`),
		one(`"execution_timeout": "0s"`, `execution_timeout: "0s" is too short; use at least "1ms"`),
		one(`"lease": "5s"`, `lease: "5s" is not more than twice ledger.timeout (5s); use more than "10s"`),
		one(`"lease": "10s"`, `lease: "10s" is not more than twice ledger.timeout (5s); use more than "10s"`),
		one(`"retention": "forever"`, `retention: "forever" is not a duration; write it like "500ms", "30s" or "24h"`),
		one(`"max_body_bytes": 0`, `max_body_bytes: 0 is too small; use at least 1 bytes`),
		one(`"max_body_bytes": "1MB"`, `max_body_bytes: "1MB" is a text; use a number of bytes, such as 1048576`),
		one(`"max_result_bytes": 1.5`, `max_result_bytes: 1.5 is not a whole number; use a number of bytes, such as 1048576`),
		one(`"max_result_bytes": 16777217`, `max_result_bytes: 16777217 is too large; use at most 16777216 bytes`),
		one(`"max_result_bytes": 1e300`, `max_result_bytes: 1e300 is not a whole number; use a number of bytes, such as 1048576`),
		one(`"keep_headers": ["Connection"]`, `keep_headers/0: "Connection" belongs to one connection and is never stored; leave it out`),
		one(`"keep_headers": ["Server"]`, `keep_headers/0: "Server" is written by the proxy itself and is never stored; leave it out`),
		one(`"keep_headers": ["x-idem-outcome"]`, `keep_headers/0: "x-idem-outcome" is written by the proxy itself and is never stored; leave it out`),
		one(`"reply": "raw"`, `reply: "raw" is none of the words here; use "transparent" or "envelope"`),
		one(`"execution": "async"`, `execution: "async" is none of the words here; use "detached" or "inline"`),
		one(`"reply": "envelope", "execution": "inline"`, `reply: "envelope" cannot be had with execution "inline", where the reply streams past; use "transparent", or execution "detached"`),
		one(`"failures": {"success": [600]}`, `failures/success/0: 600 is no range of final statuses; use `+status),
		one(`"failures": {"success": ["6xx"]}`, `failures/success/0: "6xx" is no range of final statuses; use `+status),
		one(`"failures": {"definite": ["599-500"]}`, `failures/definite/0: "599-500" is no range of final statuses; use `+status),
		one(`"failures": {"definite": ["teapot"]}`, `failures/definite/0: "teapot" is not a status; use `+status),
		one(`"failures": {"definite": [null]}`, `failures/definite/0: null is null; use `+status),
		one(`"failures": {"success": [404], "unknown": ["400-499"]}`, `failures/unknown/0: "400-499" is classified at /calls/0/failures/success/0 too; give every status once`),
		one(`"failures": {"strict": "yes"}`, `failures/strict: "yes" is a text; use true or false`),
		one(`"provider_key": "idempotency-key"`, `provider_key: "idempotency-key" is a text; use an object`),
		one(`"provider_key": {}`, `provider_key/header: is missing; name the header that the tool reads its key from, such as "idempotency-key"`),
		one(`"provider_key": {"header": "Host"}`, `provider_key/header: "Host" has a meaning of its own; use the header that the tool reads its key from, such as "idempotency-key"`),
		one(`"provider_key": {"header": "x-idem-key"}`, `provider_key/header: "x-idem-key" is never passed on to the tool; use another header, such as "idempotency-key"`),
		one(`"provider_key": {"header": "traceparent"}`, `provider_key/header: "traceparent" has a meaning of its own; use the header that the tool reads its key from, such as "idempotency-key"`),
		one(`"provider_key": {"header": "X-Forwarded-For"}`, `provider_key/header: "X-Forwarded-For" has a meaning of its own; use the header that the tool reads its key from, such as "idempotency-key"`),
		one(`"scope": [{"header": "X-Request-Id"}]`, `scope/0/header: "X-Request-Id" is another with every attempt of one call, so that no retry would be recognized; use a header that says who calls, such as "authorization" or "x-api-key"`),
		one(`"scope": [{"header": "x-idem-run"}]`, `scope/0/header: "x-idem-run" is another with every attempt of one call, so that no retry would be recognized; use a header that says who calls, such as "authorization" or "x-api-key"`),
		one(`"scope": [{"header": "idempotency-key"}]`, `scope/0/header: "idempotency-key" is another with every attempt of one call, so that no retry would be recognized; use a header that says who calls, such as "authorization" or "x-api-key"`),
		one(`"headers": ["traceparent"]`, `headers/0: "traceparent" is another with every attempt of one call, so that no retry would be recognized; use a header that says who calls, such as "authorization" or "x-api-key"`),
		one(`"scope": [{"header": "authorization"}, {"header": "Authorization"}]`, `scope/1: {…} is in this list twice (the header "authorization", in whatever letter case); give it once`),
		{with(`"calls": [{"match": {"path": "/a", "tools": ["*"]}, "protocol": "mcp", "reply": "envelope"}]`), []string{
			`/calls/0/reply: "envelope" has no meaning with protocol "mcp", whose results have a form of their own; use "transparent", or leave it out`}},
		{with(`"calls": [{"match": {"path": "/a", "tools": ["*"], "methods": ["PUT"]}, "protocol": "mcp"}]`), []string{
			`/calls/0/match/methods: […] guards nothing with protocol "mcp", where a tools/call is sent by POST; use ["POST"], or leave it out`}},
		one(`"provider_key": {"header": "a", "on_in_doubt": "go"}`, `provider_key/on_in_doubt: "go" is none of the words here; use "stop" or "retry"`),
	})
}

func TestWhatTheCanonicalFormRefusesIsReportedWhereItStands(t *testing.T) {
	for _, document := range []string{
		ruleWith(`"money": [{"pointer": "/fee", "currency": "XQZ"}]`),
		ruleWith(`"args": {"header": "x"}`),
		ruleWith(`"volatile": {"drop": ["a"], "keep": ["a"]}`),
	} {
		got := mistakes(t, document)
		if len(got) != 1 || !strings.HasPrefix(got[0], "/calls/0/") {
			t.Errorf("%s\nis refused with %q, want one mistake with its pointer", document, got)
		}
	}
}

func TestMistakesInAMatchAreNamed(t *testing.T) {
	const plain = `can be read in several ways; use the plain one, `
	const host = `a host name without a port, such as "api.example.com"`
	one := func(match, want string) refusal {
		return refusal{with(`"calls": [{"match": ` + match + `}]`), []string{"/calls/0/match" + want}}
	}
	checkRefusals(t, []refusal{
		one(`{}`, `: {} does not name what is guarded; give path, path_prefix, host, tools or route`),
		one(`{"path": "/a", "methods": ["*"]}`, `/methods/0: "*" is not a method (RFC 9110 section 9.1); use a method in capitals, such as "POST"`),
		one(`{"methods": ["PUT"]}`, `: {…} does not name what is guarded; give path, path_prefix, host, tools or route`),
		one(`"/a"`, `: "/a" is a text; use an object`),
		one(`{"path": "a"}`, `/path: "a" does not begin with a slash; use "/a"`),
		one(`{"path": "/a?b=1"}`, `/path: "/a?b=1" has a query or a fragment, and neither is matched; use "/a"`),
		one(`{"path": "/a//b"}`, `/path: "/a//b" `+plain+`"/a/b"`),
		one(`{"path": "/a/./b"}`, `/path: "/a/./b" `+plain+`"/a/b"`),
		one(`{"path_prefix": "/%61/"}`, `/path_prefix: "/%61/" `+plain+`"/a/"`),
		one(`{"path_prefix": "/a;v=1"}`, `/path_prefix: "/a;v=1" `+plain+`"/a"`),
		one(`{"path": "/a", "path_prefix": "/a/"}`, `/path_prefix: "/a/" stands beside a path; give one of them`),
		one(`{"host": "h:80"}`, `/host: "h:80" is no plain host name; use `+host),
		one(`{"host": "*.example.com"}`, `/host: "*.example.com" is no plain host name; use `+host),
		one(`{"path": "/a", "methods": []}`, `/methods: [] names no method; leave it out for ["POST"]`),
		one(`{"path": "/a", "methods": ["post"]}`, `/methods/0: "post" is not in capitals; use "POST"`),
		one(`{"path": "/a", "methods": ["P T"]}`, `/methods/0: "P T" is not a method (RFC 9110 section 9.1); use a method in capitals, such as "POST"`),
		one(`{"path": "/a", "methods": ["PUT", "PUT"]}`, `/methods/1: "PUT" is in this list twice; give it once`),
		one(`{"path": "/a", "tools": []}`, `/tools: [] names no tool; leave it out for every tool`),
		one(`{"path": "/a", "tools": [""]}`, `/tools/0: "" is empty; use a tool's name, where * and ? stand for any characters and for one, such as "refund*"`),
		one(`{"path": "/a", "verb": "x"}`, `/verb: is not a setting; the settings here are route, path, path_prefix, host, methods and tools`),
	})
}

func TestNamesThatAreThereTwiceAreRefused(t *testing.T) {
	checkRefusals(t, []refusal{
		{with(`"calls": [{"name": "a", "match": {"path": "/a"}}, {"name": "a", "match": {"path": "/b"}}]`),
			[]string{`/calls/1/name: "a" is the name of /calls/0 too; give every rule a name of its own`}},
		{with(`"calls": [{"match": {"path": "/a"}}, {"match": {"path": "/a"}, "wait": "1s"}]`),
			[]string{`/calls/1: is named "POST /a" by its match, as /calls/0 is; give it a name of its own, or another match`}},
	})
}
