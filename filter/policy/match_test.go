package policy

import (
	"strings"
	"testing"
)

// matched names the rules that a call may be for.
func matched(c *Config, method, host, path string) string {
	var names []string
	for _, rule := range c.Candidates(Route{}, []string{upper(method)}, host, path) {
		names = append(names, rule.Name)
	}
	return strings.Join(names, " ")
}

func TestARuleMatchesByPathPrefixHostAndMethod(t *testing.T) {
	c := parse(t, with(`"calls": [
		{"name": "exact", "match": {"path": "/api/invoke"}},
		{"name": "prefix", "match": {"path_prefix": "/api/", "methods": ["POST", "DELETE"]}},
		{"name": "host", "match": {"host": "pay.example.com"}},
		{"name": "refunds", "match": {"tools": ["refund*"]}}]`))
	for _, call := range []struct{ method, host, path, want string }{
		{"POST", "h", "/api/invoke", "exact prefix refunds"},
		{"POST", "h", "/api/invoke?dry=1", "exact prefix refunds"},
		{"POST", "h", "/api/invoke#x", "exact prefix refunds"},
		{"POST", "h", "/api/", "prefix refunds"},
		{"POST", "h", "/api", "refunds"},
		{"POST", "h", "/API/INVOKE", "exact prefix refunds"},
		{"POST", "h", "/api/invoker", "prefix refunds"},
		{"DELETE", "h", "/api/invoke", "prefix"},
		{"GET", "h", "/api/invoke", ""},
		{"post", "h", "/api/invoke", "exact prefix refunds"},
		{"POST", "pay.example.com", "/x", "host refunds"},
		{"POST", "PAY.example.com:8443", "/x", "host refunds"},
		{"POST", "pay.example.com.", "/x", "host refunds"},
		{"POST", "pay.example.com.evil", "/x", "refunds"},
		{"POST", "[::1]:80", "/x", "refunds"},
		{"POST", "", "*", "refunds"},
		{"POST", "", "", "refunds"},
	} {
		if got := matched(c, call.method, call.host, call.path); got != call.want {
			t.Errorf("%s %s %s matches %q, want %q", call.method, call.host, call.path, got, call.want)
		}
	}
}

func TestNoSpellingOfAPathLeadsAroundAGuard(t *testing.T) {
	c := parse(t, with(`"calls": [
		{"name": "open", "match": {"path_prefix": "/public/"}, "mode": "off"},
		{"name": "guard", "match": {"path": "/api/invoke"}}]`))
	for _, path := range []string{
		"/api/invoke", "/api/invoke/", "/api/invoke//", "//api/invoke", "/api//invoke", "/api/./invoke", "/./api/invoke",
		"/api/x/../invoke", "/../api/invoke", "/api/invoke/.", "/api/invoke/x/..", "/api/%69nvoke", "/api/%2569nvoke",
		"/%61%70%69/invoke", "/api%2Finvoke", "/api%2finvoke", "/api%252Finvoke", "/api%5Cinvoke", `/api\invoke`,
		"/api/%2e/invoke", "/api/x/%2E%2e/invoke", "/api/.%2e/api/invoke", "/api/invoke;v=1", "/api;v=1/invoke",
		"/api/invoke%3Bv=1", "/api/invoke;a%2F..", "/api/invoke%3Fx", "/api/invoke%23x", "/api/invoke?", "/api/invoke#",
		"/API/invoke", "/api/Invoke/", "/Api/%49NVOKE", "/public/../API/invoke",
		"/public/../api/invoke", "/public/..%2fapi/invoke", "/public/%2e%2e/api/invoke", "/public/..;/api/invoke",
		`/public/..\api\invoke`, "/public/../api/invoke?a=/public/",
	} {
		if got := matched(c, "POST", "", path); got != "guard" {
			t.Errorf("%s matches %q, want the guard alone", path, got)
		}
	}
}

func TestAModeThatLetsThroughNeedsEveryReading(t *testing.T) {
	c := parse(t, with(`"calls": [{"name": "open", "match": {"path_prefix": "/public/"}, "mode": "shadow"}]`))
	for path, want := range map[string]string{
		"/public/a": "open", "/public//a": "open", "/public/%61": "open", "/public/a;b": "open",
		"/%70ublic/a": "", "/public/../a": "", "/x/../public/a": "",
	} {
		if got := matched(c, "POST", "", path); got != want {
			t.Errorf("%s matches %q, want %q", path, got, want)
		}
	}
}

// A rule that lets calls through is for its path as it is written.
func TestLetterCaseOpensNothing(t *testing.T) {
	c := parse(t, with(`"calls": [
		{"name": "open", "match": {"path_prefix": "/tools/open/"}, "mode": "off"}, {"name": "guard", "match": {"path_prefix": "/tools/"}}]`))
	for path, want := range map[string]string{"/tools/open/x": "open guard", "/tools/OPEN/x": "guard", "/Tools/open/x": "guard"} {
		if got := matched(c, "POST", "", path); got != want {
			t.Errorf("%s matches %q, want %q", path, got, want)
		}
	}
}

// What a tool may take for a guarded method is guarded, and what it may take for another is let through by no rule.
func TestNoNameOfAMethodLeadsAroundAGuard(t *testing.T) {
	c := parse(t, with(`"calls": [
		{"name": "watched", "match": {"path_prefix": "/", "methods": ["POST"]}, "mode": "shadow"},
		{"name": "guard", "match": {"path_prefix": "/", "methods": ["DELETE"]}}]`))
	for _, call := range []struct{ method, target, name, value, want string }{
		{"POST", "/a", "", "", "watched"},
		{"DELETE", "/a", "", "", "guard"},
		{"delete", "/a", "", "", "guard"},
		{"POST", "/a", "x-http-method-override", "DELETE", "guard"},
		{"GET", "/a", "x-http-method", " delete ", "guard"},
		{"POST", "/a", "x-method-override", "Delete", "guard"},
		{"POST", "/a", "x-method-override", "POST", "watched"},
		{"POST", "/a?_method=DELETE", "", "", "guard"},
		{"POST", "/a?x=1&%5Fmethod=%44elete", "", "", "guard"},
		{"POST", "/a?method=DELETE", "", "", "watched"},
		{"GET", "/a?_method=PUT", "", "", ""},
	} {
		header := func(name string) []string {
			if name == call.name {
				return []string{call.value}
			}
			return nil
		}
		var names []string
		for _, rule := range c.Candidates(Route{}, Methods(call.method, call.target, header), "", call.target) {
			names = append(names, rule.Name)
		}
		if got := strings.Join(names, " "); got != call.want {
			t.Errorf("%s %s %s: %s matches %q, want %q", call.method, call.target, call.name, call.value, got, call.want)
		}
	}
}

func TestOtherPathsStayOther(t *testing.T) {
	c := parse(t, with(`"calls": [{"name": "guard", "match": {"path": "/api/invoke"}}]`))
	for _, path := range []string{
		"/", "/api", "/api/", "/api/invoke/x", "/api/invoke2", "/api/in%20voke", "/api/..", "/api/invoke/..", "/api/invoke/../x", "/api/invoke;a/../b",
		"/x?path=/api/invoke", "/x#/api/invoke", "/x;/api", "/x/api/invoke", "/api/invok%", "/api/invok%6", "/api/invok%zz",
	} {
		if got := matched(c, "POST", "", path); got != "" {
			t.Errorf("%s matches %q, want nothing", path, got)
		}
	}
}

func TestAPathOfTooManyReadingsIsGuardedByEveryRule(t *testing.T) {
	c := parse(t, with(`"calls": [
		{"name": "open", "match": {"path_prefix": "/x"}, "mode": "off"}, {"name": "a", "match": {"path": "/a"}},
		{"name": "other host", "match": {"host": "h"}}, {"name": "b", "match": {"path_prefix": "/b/"}}]`))
	path := "/x%" + strings.Repeat("25", 200) + "41"
	if got := matched(c, "POST", "", path); got != "a b" {
		t.Errorf("matches %q, want %q", got, "a b")
	}
}

func TestTheRulesOfAFormerConfigurationMatchLikeTheCurrentOnes(t *testing.T) {
	c := parse(t, with(`"fingerprint": {"previous": [{"calls": [{"name": "old", "match": {"path": "/old"}}]}]}`))
	if got := c.Previous[0].Candidates(Route{}, []string{"POST"}, "", "/old?x"); len(got) != 1 || got[0].Name != "old" {
		t.Errorf("got %v", got)
	}
	if got := c.Previous[0].Candidates(Route{}, []string{"POST"}, "", "/tools/x"); len(got) != 0 {
		t.Errorf("a current rule is among the former ones: %v", got[0])
	}
}

func TestToolsAreGlobs(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"refund", "refund", true}, {"refund", "refunds", false}, {"refund", "Refund", false}, {"refund*", "refund", true},
		{"refund*", "refund_order", true}, {"refund*", "do_refund", false}, {"*refund", "do_refund", true}, {"*", "", true},
		{"*", "anything/at.all", true}, {"?", "é", true}, {"?", "", false}, {"?", "ab", false}, {"a?c", "abc", true},
		{"*a*b*c", "xaybzc", true}, {"*a*b*c", "xaybzcd", false}, {"*ab", "aab", true}, {"**", "x", true}, {"a*?", "a", false},
		{"a*?", "ab", true}, {"", "", true}, {"*é?", "xéé€", true},
	} {
		if got := (Match{Tools: []string{"never", c.glob}}).MatchesTool(c.name); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.glob, c.name, got, c.want)
		}
	}
	if !(Match{}).MatchesTool("anything") {
		t.Error("a rule that names no tools is not for every tool")
	}
}

func TestAGlobTakesNoMoreThanTheProductOfTheLengths(t *testing.T) {
	if globMatches(strings.Repeat("*a", 30)+"b", strings.Repeat("a", 20000)) {
		t.Error("it matches")
	}
}

func BenchmarkCandidatesOfAPlainPath(b *testing.B) {
	c, err := Parse([]byte(with()), getenv)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Candidates(Route{}, []string{"POST"}, "localhost:10000", "/tools/refund?x=1")
	}
}
