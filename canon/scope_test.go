package canon_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"idem/canon"
)

// by is a fixed call with these headers.
func by(headers ...string) canon.Call {
	all := map[string]string{"content-type": "application/json"}
	for n := 0; n < len(headers); n += 2 {
		all[headers[n]] = headers[n+1]
	}
	call := post("", "/cases/pay", `{"customer":"c","amount":"5 USD"}`)
	call.Header = header(all)
	return call
}

// twice is a fixed call with a header that is there twice.
func twice(name, first, second string) canon.Call {
	call := by()
	others := call.Header
	call.Header = func(asked string) []string {
		if asked == name {
			return []string{first, second}
		}
		return others(asked)
	}
	return call
}

func TestEveryCallerHasCallsOfHisOwn(t *testing.T) {
	for _, s := range []struct {
		name     string
		settings canon.Settings
		calls    []canon.Call // each of another caller
		same     [][2]canon.Call
	}{
		{"credentials", canon.Settings{}, []canon.Call{by(), by("authorization", "Bearer a"), by("authorization", "Bearer b"), by("x-api-key", "Bearer a"),
			by("authorization", "Bearer a", "x-api-key", "k"), by("cookie", "s=1"), by("cookie", "s=2")},
			[][2]canon.Call{{by("authorization", "Bearer a", "cookie", "s=1"), by("authorization", "Bearer a", "cookie", "s=2")}}},
		{"headers", canon.Settings{Scope: []canon.Source{{Header: "X-User"}, {Header: "x-team"}}}, []canon.Call{by("x-user", "a"), by("x-user", "b"), by("x-team", "a"), by("x-user", "a", "x-team", "a")},
			[][2]canon.Call{{by("x-user", "a", "authorization", "x"), by("x-user", "a", "authorization", "AWS4-HMAC-SHA256 y")}}},
		{"a cookie", canon.Settings{Scope: []canon.Source{{Cookie: "sid"}}}, []canon.Call{by("cookie", "a=1; sid=2"), by("cookie", "sid=3")},
			[][2]canon.Call{{by("cookie", "a=1; sid=2"), by("cookie", "sid=2;b=1")}}},
		{"a cookie that another was added to", canon.Settings{Scope: []canon.Source{{Cookie: "s.id"}}}, []canon.Call{
			by("cookie", "s.id=1"), by("cookie", "s.id=1; s.id=2"), by("cookie", "s.id=2; s.id=1"), by("cookie", "s.id=1; S.ID=2"), by("cookie", "S.ID=2"),
			by("cookie", "s.id=1; a=b; s.id =2"), by("cookie", `s.id=1; "s.id"=2`), by("cookie", "s.id=1; s%2Eid=2"), by("cookie", "s.id=1; s_id=2"), by("cookie", "s.id=1; s.id[]=2"),
			by("cookie", "s.id=1; a=b, s.id=2"), by("cookie", "s.id=1; s.id"), by("cookie", `s.id="1"`), by("cookie", `s.id="1; s.id=2"`)},
			[][2]canon.Call{{by("cookie", "s.id=1; s.id=2; x=1"), by("cookie", "y=1; s.id=1; s.id=2")}, {by("cookie", "s.id=1; sxid=2"), by("cookie", "s.id=1; xs.id=2, x")}}},
		{"a cookie in two headers", canon.Settings{Scope: []canon.Source{{Cookie: "sid"}}}, []canon.Call{by("cookie", "sid=1"), twice("cookie", "sid=1", "sid=2"), twice("cookie", "sid=1", "x=1; sid=3")}, nil},
		{"a header twice", canon.Settings{Scope: []canon.Source{{Header: "x-user"}}}, []canon.Call{by("x-user", "1"), twice("x-user", "1", "2"), twice("x-user", "2", "1"), by("x-user", "2")}, nil},
		{"credentials twice", canon.Settings{}, []canon.Call{by("authorization", "Bearer 1"), twice("authorization", "Bearer 1", "Bearer 2"), by("authorization", "Bearer 2")}, nil},
		{"none", canon.Settings{ScopeNone: true}, nil, [][2]canon.Call{{by("authorization", "Bearer a"), by("authorization", "DPoP b")}}},
		{"for whom", canon.Settings{Headers: []string{"X-Shop"}}, []canon.Call{by(), by("stripe-account", "a"), by("x-tenant-id", "a"), by("x-org-id", "a"), by("x-org-id", "b"), by("x-shop", "a"), by("x-shop", "\xff")},
			[][2]canon.Call{{by("x-shop", "a", "x-other", "1"), by("x-shop", " a ", "x-other", "2")}}},
	} {
		t.Run(s.name, func(t *testing.T) {
			c := reader(t, s.settings)
			fingerprints, intents := map[string]bool{}, map[string]bool{}
			for _, call := range s.calls {
				a := read(t, c, call)
				fingerprints[a.Fingerprint], intents[a.Intent] = true, true
			}
			if len(fingerprints) != len(s.calls) || len(intents) != len(s.calls) {
				t.Errorf("%d callers have %d fingerprints and %d intents", len(s.calls), len(fingerprints), len(intents))
			}
			for _, pair := range s.same {
				if read(t, c, pair[0]).Fingerprint != read(t, c, pair[1]).Fingerprint {
					t.Error("one caller has two calls")
				}
			}
		})
	}
}

func TestCredentialsNeverStandInWhatIsKept(t *testing.T) {
	call := by("authorization", "Bearer secret-token", "x-api-key", "secret-key", "cookie", "secret-cookie")
	a := read(t, reader(t, canon.Settings{}), call)
	all := string(a.Canonical) + string(a.Args)
	for _, change := range a.Changes {
		all += change.From + change.To + change.Why
	}
	for _, form := range []string{"secret", hex.EncodeToString([]byte("secret")), "c2VjcmV0"} {
		if strings.Contains(all, form) {
			t.Errorf("%s stands in %s", form, all)
		}
	}
	other, err := canon.New(canon.Settings{Rule: "r"}, canon.Key{Secret: []byte("another key")})
	if err != nil {
		t.Fatal(err)
	}
	if b := read(t, other, call); scopeIn(b.Canonical) == scopeIn(a.Canonical) {
		t.Error("the digest of the credentials is not keyed")
	}
}

func scopeIn(canonical []byte) string {
	_, rest, _ := strings.Cut(string(canonical), `"scope":"`)
	scope, _, _ := strings.Cut(rest, `"`)
	return scope
}

func TestCredentialsThatDifferOnEveryRequestAreRefused(t *testing.T) {
	for _, s := range []canon.Settings{{}, {Scope: []canon.Source{{Header: "Authorization"}}}} {
		c := reader(t, s)
		for _, bad := range []string{"AWS4-HMAC-SHA256 Credential=a", "aws4-ecdsa-p256-sha256 x", "Digest username=a", "Bearer a, Digest username=a", "Bearer a,Hawk id=1", "DPoP abc", "Hawk id=1", "Signature keyId=a",
			"AWS a:b", "SharedKey a:b", "Negotiate x", "NTLM x", "MAC id=1", `OAuth oauth_nonce="1"`} {
			if e := refusal(t, c, by("authorization", bad)); e.Code != "unstable_scope" || e.Offset != -1 || !strings.Contains(e.Detail, "scope") {
				t.Errorf("%s: %+v", bad, e)
			}
		}
		for _, good := range []string{"Bearer DPoP", "Basic YTpi", "OAuth token", "Signatures x", "token x", "digestive"} {
			read(t, c, by("authorization", good))
		}
	}
}

func TestAClaimThatNobodyVerifiedIsRefused(t *testing.T) {
	c := reader(t, canon.Settings{Scope: []canon.Source{{Metadata: []string{"jwt", "sub"}}}})
	call := by()
	if e := refusal(t, c, call); e.Code != "unstable_scope" || !strings.Contains(e.Detail, "jwt.sub") {
		t.Errorf("%+v", e)
	}
	seen := map[string]bool{}
	for _, sub := range []string{"ada", "bob"} {
		call.Metadata = func(path []string) string { return strings.Join(path, "/") + sub }
		seen[read(t, c, call).Fingerprint] = true
	}
	if len(seen) != 2 {
		t.Error("two subjects are one caller")
	}
}

// Whoever has nothing of what the rule says of callers would share results with everyone else who has not.
func TestACallThatHasNothingOfItsScopeIsRefused(t *testing.T) {
	for _, s := range []struct {
		scope   []canon.Source
		bad     []canon.Call
		good    canon.Call
		says    string
		pointer string
	}{
		{[]canon.Source{{Header: "x-user"}}, []canon.Call{by(), by("x-user", ""), by("x-user", "  "), by("authorization", "Bearer a")}, by("x-user", "a"), `header "x-user"`, ""},
		{[]canon.Source{{Cookie: "sid"}}, []canon.Call{by(), by("cookie", "sid="), by("cookie", "side=a")}, by("cookie", "sid=a"), `cookie "sid"`, ""},
		{[]canon.Source{{Header: "x-user"}, {Pointer: "/user/id"}}, []canon.Call{by()}, by("x-user", "a"), `header "x-user", pointer "/user/id"`, "/user/id"},
		{[]canon.Source{{Pointer: "/user"}}, []canon.Call{by(), post("", "/x", `{"user":null}`), post("", "/x", `{"user":""}`)}, post("", "/x", `{"user":7}`), `pointer "/user"`, "/user"},
	} {
		c := reader(t, canon.Settings{Scope: s.scope})
		for _, call := range s.bad {
			if e := refusal(t, c, call); e.Code != "unstable_scope" || e.Pointer != s.pointer || !strings.Contains(e.Detail, s.says) {
				t.Errorf("%s: %+v", s.says, e)
			}
		}
		read(t, c, s.good)
	}
	anonymous := reader(t, canon.Settings{Scope: []canon.Source{{Header: "x-user"}, {Value: "anyone"}}})
	if read(t, anonymous, by()).Fingerprint == read(t, anonymous, by("x-user", "a")).Fingerprint {
		t.Error("a caller and anyone are one")
	}
}

func TestACallWithoutTheCertificateOfItsScopeIsRefused(t *testing.T) {
	c := reader(t, canon.Settings{Scope: []canon.Source{{Certificate: "uri_san"}}})
	call := by()
	if e := refusal(t, c, call); e.Code != "unstable_scope" || !strings.Contains(e.Detail, `certificate "uri_san"`) {
		t.Errorf("%+v", e)
	}
	seen := map[string]bool{}
	for _, name := range []string{"spiffe://a/ada", "spiffe://a/bob", "spiffe://a/ada"} {
		call.Certificate = func(part string) string { return map[string]string{"uri_san": name}[part] }
		seen[read(t, c, call).Fingerprint] = true
	}
	if len(seen) != 2 {
		t.Errorf("two workloads have %d fingerprints", len(seen))
	}
}

func TestTheEndpointCounts(t *testing.T) {
	c := reader(t, canon.Settings{})
	base := by()
	base.Path = "/a%2fb/%70ay?b=2&a=1&a=0&c"
	want := read(t, c, base).Fingerprint
	with := func(change func(*canon.Call)) string {
		call := base
		change(&call)
		return read(t, c, call).Fingerprint
	}
	for _, path := range []string{"/a%2Fb/pay?a=1&a=0&b=2&c", "/a%2fb/pay?c&a=1&b=2&a=0&", "/a%2Fb/pay?a=%31&&a=0&b=2&c"} {
		if with(func(c *canon.Call) { c.Path = path }) != want {
			t.Errorf("%s is another endpoint", path)
		}
	}
	for _, path := range []string{"/a%2Fb/pay?a=0&a=1&b=2&c", "/a/b/pay?a=1&a=0&b=2&c", "/a%2Fb/pay", "/a%2Fb/Pay?a=1&a=0&b=2&c", "/a%2Fb/pay/?a=1&a=0&b=2&c", "/a%2Fb/pay?a=1&a=0&b=2&c=",
		"/a%2Fb/pay?a=1&a=0&b=2&c&request_id=1"} {
		if with(func(c *canon.Call) { c.Path = path }) == want {
			t.Errorf("%s is the same endpoint", path)
		}
	}
	for _, host := range []string{"TOOLS.example", "tools.example.", "tools.example:80", "tools.example:443", "Tools.Example.:443"} {
		if with(func(c *canon.Call) { c.Host = host }) != want {
			t.Errorf("%s is another host", host)
		}
	}
	for _, host := range []string{"other.example", "tools.example:8080", "tools.example:4430", "tools.example.80", "tools.example..", "[tools.example:80"} {
		if with(func(c *canon.Call) { c.Host = host }) == want {
			t.Errorf("%s is the same host", host)
		}
	}
	for _, header := range []string{"x-http-method-override", "x-http-method", "x-method-override", "if-match", "if-none-match"} {
		call := by(header, "DELETE")
		call.Path = base.Path
		if read(t, c, call).Fingerprint == want {
			t.Errorf("%s, which asks for another thing, does not count", header)
		}
	}
	if with(func(c *canon.Call) { c.Method = "PUT" }) == want {
		t.Error("the method does not count")
	}
	if read(t, reader(t, canon.Settings{Rule: "other"}), base).Fingerprint == want {
		t.Error("the rule's name does not count")
	}
	for _, list := range [][2]string{{"i[][a]=1&i[][b]=2&i[][a]=3", "i[][a]=1&i[][a]=3&i[][b]=2"}, {"i%5b%5D%5Ba]=1&i[][b]=2", "i[][b]=2&i%5b%5D%5Ba]=1"}} {
		if with(func(c *canon.Call) { c.Path = "/p?" + list[0] }) == with(func(c *canon.Call) { c.Path = "/p?" + list[1] }) {
			t.Errorf("%s and %s are one query: which element has the b?", list[0], list[1])
		}
		if with(func(c *canon.Call) { c.Path = "/p?x=1&" + list[0] }) != with(func(c *canon.Call) { c.Path = "/p?" + list[0] + "&x=1" }) {
			t.Errorf("%s is another query beside what is not of the list", list[0])
		}
	}
	plus := read(t, c, func() canon.Call { c := base; c.Path = "/p?a=x+y"; return c }())
	space := read(t, c, func() canon.Call { c := base; c.Path = "/p?a=x%20y"; return c }())
	if plus.Fingerprint == space.Fingerprint {
		t.Error("a plus in a query is a space")
	}

	dropping := reader(t, canon.Settings{Drop: []string{"attempt"}})
	one, two := base, base
	one.Path, two.Path = "/p?attempt=1&x=1", "/p?x=1&Attempt=2"
	if read(t, dropping, one).Fingerprint != read(t, dropping, two).Fingerprint {
		t.Error("a parameter that the rule drops counts")
	}
}

func TestARuleForSeveralPathsCountsThePathInAnyCase(t *testing.T) {
	call := by()
	call.Body = []byte(`{"tool":"create","args":{"customer":"C-1","amount":"1.00 USD"}}`)
	mcp := by()
	mcp.Body = []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create","arguments":{"customer":"C-1","amount":"1.00 USD"}}}`)
	for _, tc := range []struct {
		settings canon.Settings
		call     canon.Call
		same     bool
	}{
		{canon.Settings{}, call, true},
		{canon.Settings{Paths: true}, call, false},
		{canon.Settings{Protocol: canon.MCP}, mcp, true},
		{canon.Settings{Protocol: canon.MCP, Paths: true}, mcp, false},
		{canon.Settings{Tool: &canon.Source{Pointer: "/tool"}, Paths: true}, call, false},
	} {
		c := reader(t, tc.settings)
		a, b := tc.call, tc.call
		a.Path, b.Path = "/payments/invoke", "/crm/invoke"
		one, other := read(t, c, a), read(t, c, b)
		if (one.Fingerprint == other.Fingerprint) != tc.same || (one.Intent == other.Intent) != tc.same {
			t.Errorf("%+v: one call %v and one intent %v, want %v", tc.settings, one.Fingerprint == other.Fingerprint, one.Intent == other.Intent, tc.same)
		}
	}
}
