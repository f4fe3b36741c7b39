package policy

import (
	"strings"
	"testing"

	"idem/canon"
)

func routedRules(t *testing.T) *Config {
	return parse(t, with(`"calls": [
		{"name": "refunds", "match": {"path": "/refunds", "host": "pay.example.com"}},
		{"name": "routed", "match": {"route": true, "methods": ["POST", "DELETE"], "tools": ["ship*"]}},
		{"name": "watched", "match": {"path_prefix": "/watched/"}, "mode": "shadow"},
		{"name": "all", "match": {"path_prefix": "/"}}]`))
}

func candidatesOn(t *testing.T, c *Config, r Route, method, path string) string {
	t.Helper()
	var found []string
	for _, rule := range c.Candidates(r, []string{upper(method)}, "h", path) {
		found = append(found, rule.Name+" "+string(rule.Mode))
	}
	return strings.Join(found, ", ")
}

// The rule that a route names comes first, wherever the call goes; its methods, and its tools, hold as ever, and what
// they leave out falls under the other rules.
func TestARouteNamesItsRule(t *testing.T) {
	c := routedRules(t)
	for _, call := range []struct {
		route              Route
		method, path, want string
	}{
		{Route{}, "POST", "/x", "all enforce"},
		{Route{Rule: "refunds"}, "POST", "/x", "refunds enforce, all enforce"},
		{Route{Rule: "routed"}, "POST", "/x", "routed enforce, all enforce"},
		{Route{Rule: "routed"}, "DELETE", "/x", "routed enforce"},
		{Route{Rule: "routed"}, "GET", "/x", ""},
		{Route{Rule: "all"}, "POST", "/watched/x", "all enforce, watched shadow"},
		{Route{Rule: "watched", Mode: Enforce}, "POST", "/x", "watched enforce, all enforce"},
		{Route{Mode: Enforce}, "POST", "/watched/x", "watched enforce, all enforce"},
		{Route{Mode: Shadow}, "POST", "/x", "all shadow"},
		{Route{Mode: Off}, "POST", "/x?y=%2F", "all off"},
	} {
		if got := candidatesOn(t, c, call.route, call.method, call.path); got != call.want {
			t.Errorf("%+v: %s %s may fall under %q, want %q", call.route, call.method, call.path, got, call.want)
		}
	}
}

// A route's word that lets calls through counts only where the tool cannot read the path as one of another route.
func TestNoSpellingOfAPathLeadsToARouteThatLetsItThrough(t *testing.T) {
	c := routedRules(t)
	for path, want := range map[string]string{
		"/open/a":             "all off",
		"/open/a/":            "all off",
		"/open/a%20b%C3%A9":   "all off",
		"/open/.well-known/a": "all off",
		"/open/..%2Frefunds":  "all enforce",
		"/open/%2e%2e/x":      "all enforce",
		"/%6fpen/a":           "all enforce",
		"/open/a;v=1":         "all enforce",
		"/open//a":            "all enforce",
		`/open\..\x`:          "all enforce",
		"/open/a%252e":        "all enforce",
	} {
		got := candidatesOn(t, c, Route{Mode: Off}, "POST", path)
		if got != want {
			t.Errorf("%s may fall under %q, want %q", path, got, want)
		}
	}
	labyrinth := "/open/" + strings.Repeat("%2525/", 60) // more readings than are looked at
	if got := candidatesOn(t, c, Route{Mode: Off}, "POST", labyrinth); strings.Contains(got, "off") || !strings.Contains(got, "all enforce") {
		t.Errorf("a path that nobody can read may fall under %q", got)
	}
}

// What a route lets through is only what its rule would let through: another letter case, or a method in a header that a
// tool may heed, leads to the rule's own mode.
func TestARouteThatLetsCallsThroughLeavesNoWayAroundARule(t *testing.T) {
	c := parse(t, with(`"calls": [{"name": "invoke", "match": {"path": "/api/invoke"}}]`))
	for path, want := range map[string]string{"/api/invoke": "off", "/API/invoke": "enforce", "/api/INVOKE/": "enforce", "/api/other": ""} {
		got := ""
		for _, rule := range c.Candidates(Route{Mode: Off}, []string{"POST"}, "h", path) {
			got += string(rule.Mode)
		}
		if got != want {
			t.Errorf("%s is guarded in mode %q, want %q", path, got, want)
		}
	}
	for _, route := range []Route{{Mode: Shadow}, {Mode: Shadow, Rule: "invoke"}} {
		found := c.Candidates(route, []string{"PATCH", "POST"}, "h", "/api/invoke")
		if len(found) != 1 || found[0].Mode != Enforce {
			t.Errorf("%+v: a PATCH that may be meant as POST falls under %d rules", route, len(found))
		}
	}
}

// Two paths may lead to tools of one name: where a route names a rule for another path than the rule's own, the path
// counts, so that neither is given the other's result. On its own path the rule reads a call as it does without a route.
func TestARuleThatARouteNamesKeepsPathsApart(t *testing.T) {
	c := routedRules(t)
	fingerprint := func(route Route, path string) string {
		t.Helper()
		for _, rule := range c.Candidates(route, []string{"POST"}, "pay.example.com", path) {
			if rule.Name == "refunds" {
				a, err := rule.Canon.Read(canon.Call{Method: "POST", Host: "pay.example.com", Path: path,
					Header: func(name string) []string {
						if name == "content-type" {
							return []string{"application/json"}
						}
						return nil
					}, Body: []byte(`{"tool":"refund","args":{"a":1}}`)})
				if err != nil {
					t.Fatal(err)
				}
				return a.Fingerprint
			}
		}
		t.Fatalf("%s does not fall under the rule", path)
		return ""
	}
	own := fingerprint(Route{}, "/refunds")
	if fingerprint(Route{Rule: "refunds"}, "/refunds") != own {
		t.Error("naming the rule on the route of its own path makes other calls of its calls")
	}
	a, b := fingerprint(Route{Rule: "refunds"}, "/a"), fingerprint(Route{Rule: "refunds"}, "/b")
	if a == b || a == own || b == own {
		t.Errorf("calls of /refunds, /a and /b have the fingerprints %.8s, %.8s and %.8s", own, a, b)
	}
}

func TestMistakesInARoutesMetadataAreNamed(t *testing.T) {
	c := routedRules(t)
	for _, one := range []struct {
		name, value, want string
	}{
		{"rule", "refundz", `/rule: "refundz" is no rule's name; use the name of one of calls, a text`},
		{"rule", "", `/rule: "" is no rule's name; use the name of one of calls, a text`},
		{"rule", "\x00\x00\x00\x00\x00\x00\x1c@", `/rule: 7 is no rule's name; use the name of one of calls, a text`},
		{"mode", "on", `/mode: "on" is no mode; use "enforce", "shadow" or "off"`},
		{"mode", "\x00", `/mode: false is no mode; use "enforce", "shadow" or "off"`},
		{"mode", "\x0a\x01a", `/mode: a value that is no text is no mode; use "enforce", "shadow" or "off"`},
		{"mode", "\x01", `/mode: true is no mode; use "enforce", "shadow" or "off"`},
		{"wait", "1s", `/wait: is not a setting of a route; the settings here are rule and mode`},
	} {
		route, m := c.Route([][2]string{{one.name, one.value}})
		if m == nil || m.String() != one.want || route != (Route{}) {
			t.Errorf("%s %q: %v, %+v; want %s", one.name, one.value, m, route, one.want)
		}
	}
	if route, m := c.Route([][2]string{{"mode", "off"}, {"rule", "all"}}); m != nil || route != (Route{Rule: "all", Mode: Off}) {
		t.Errorf("a right one gives %+v, %v", route, m)
	}
}

func TestARuleForRoutesIsNamedAndHasNoPath(t *testing.T) {
	checkRefusals(t, []refusal{
		{with(`"calls": [{"match": {"route": true}}]`), []string{
			`/calls/0/name: is missing; a rule with match.route is used where a route names it`}},
		{with(`"calls": [{"name": "a", "match": {"route": true, "path": "/a", "host": "h"}}]`), []string{
			`/calls/0/match/path: "/a" stands beside route, which says that the route decides where the rule holds; give one of them`,
			`/calls/0/match/host: "h" stands beside route, which says that the route decides where the rule holds; give one of them`}},
		{with(`"calls": [{"name": "a", "match": {"route": "yes"}}]`), []string{
			`/calls/0/match/route: "yes" is a text; use true or false`,
			`/calls/0/match: {…} does not name what is guarded; give path, path_prefix, host, tools or route`}},
	})
}
