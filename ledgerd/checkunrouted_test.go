package main

import (
	"os"
	"strings"
	"testing"

	"idem/filter/policy"
)

func TestARouteMayTakeARulesPath(t *testing.T) {
	for _, c := range []struct {
		rule  policy.Match
		route object
		want  bool
	}{
		{policy.Match{Path: "/pay"}, object{"path": "/pay"}, true},
		{policy.Match{Path: "/pay"}, object{"path": "/pay/"}, true},
		{policy.Match{Path: "/pay/"}, object{"path": "/pay"}, true},
		{policy.Match{Path: "/pay"}, object{"path": "/PAY", "case_sensitive": false}, true},
		{policy.Match{Path: "/pay"}, object{"path": "/payment"}, false},
		{policy.Match{Path: "/pay"}, object{"prefix": "/"}, true},
		{policy.Match{Path: "/pay"}, object{"prefix": "/pay/"}, true},
		{policy.Match{Path: "/pay"}, object{"prefix": "/pay/x"}, false},
		{policy.Match{Path: "/pay"}, object{"path_separated_prefix": "/pay"}, true},
		{policy.Match{Path: "/payment"}, object{"path_separated_prefix": "/pay"}, false},
		{policy.Match{Path: "/"}, object{"prefix": "/tools/"}, false},
		{policy.Match{PathPrefix: "/tools/"}, object{"path": "/tools/refund"}, true},
		{policy.Match{PathPrefix: "/tools/"}, object{"path": "/tools"}, false},
		{policy.Match{PathPrefix: "/tools/"}, object{"prefix": "/to"}, true},
		{policy.Match{PathPrefix: "/tools/"}, object{"prefix": "/tools/refund"}, true},
		{policy.Match{PathPrefix: "/tools/"}, object{"prefix": "/other"}, false},
		{policy.Match{PathPrefix: "/tools/"}, object{"path_separated_prefix": "/tools"}, true},
		{policy.Match{PathPrefix: "/tool"}, object{"path_separated_prefix": "/tools"}, true},
		{policy.Match{PathPrefix: "/tools"}, object{"path_separated_prefix": "/tools"}, true},
		{policy.Match{PathPrefix: "/toolsets"}, object{"path_separated_prefix": "/tools"}, false},
		{policy.Match{Path: "/pay"}, object{"safe_regex": object{"regex": "/x"}}, true}, // nobody knows
		{policy.Match{Path: "/pay"}, object{"path": "/%70ay"}, true},
	} {
		if got := mayTake(c.route, c.rule); got != c.want {
			t.Errorf("%v and %+v: got %t", c.route, c.rule, got)
		}
	}
}

// The commonest mistake of a setup: the first listener has the tool's routes, and the one for executions has not.
func TestCheckAndDoctorWarnOfARuleThatNoExecutionRouteTakes(t *testing.T) {
	const warning = `/api/invoke, which rule "invoke" guards`
	warned := func(change func(string) string) string {
		var text string
		for _, f := range examineEnvoy(envoyDocument{read: demoDump(t, change)}) {
			if strings.Contains(f.Detail, "502 not_sent") {
				text += f.Detail
			}
		}
		return text
	}
	if text := warned(nil); text != "" {
		t.Errorf("the shipped configuration: %s", text)
	}
	// The execution listener stands last.
	const whole = `"path": "/api/invoke"`
	other := func(with string) func(string) string {
		return func(text string) string {
			i := strings.LastIndex(text, whole)
			return text[:i] + with + text[i+len(whole):]
		}
	}
	if text := warned(other(`"path": "/api"`)); !strings.Contains(text, warning) || strings.Contains(text, "/tools/") {
		t.Errorf("got %q, want a warning of /api/invoke alone", text)
	}
	for _, with := range []string{`"safe_regex": {"regex": ".*"}`, `"prefix": "/"`} {
		if text := warned(other(with)); text != "" {
			t.Errorf("a route with %s: %s", with, text)
		}
	}
	text := command(t, "check", "../envoy/demo.yaml")
	if text.wants(t, 0); strings.Contains(text.out, "not_sent") {
		t.Errorf("the shipped configuration: %s", text.out)
	}
	shipped, err := os.ReadFile("../envoy/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	i := strings.LastIndex(string(shipped), "{path: /api/invoke}")
	command(t, "check", file(t, "envoy.yaml", string(shipped[:i])+"{path: /api}"+string(shipped[i+len("{path: /api/invoke}"):]))).wants(t, 0, "warn", warning)
}
