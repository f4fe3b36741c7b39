package api_test

import (
	"strings"
	"testing"

	"idem/ledgerd/api"
)

func TestRolesOpenWhatTheyShould(t *testing.T) {
	f := start(t, func(c *api.Config) {
		c.Operators, c.Viewers, c.AllowReset = tokens(t, "ada 0perator-t0ken-01", "operator"), tokens(t, "v1ewer-t0ken-0001", "viewer"), true
	})
	looking := []string{
		"GET /api/state", "GET /api/holds", "GET /api/holds/x", "GET /api/in-doubt", "GET /api/in-doubt/x", "GET /api/rows/x",
		"GET /api/rules", "POST /api/explain", "GET /metrics",
	}
	answering := []string{
		"POST /api/holds/x/release", "POST /api/holds/x/duplicate", "POST /api/holds/x/deny", "POST /api/release",
		"POST /api/in-doubt/x/resolve", "POST /api/reset",
	}
	try := func(route, token string) int {
		method, path, _ := strings.Cut(route, " ")
		headers := []string{"content-type", asJSON}
		if token != "" {
			headers = append(headers, "authorization", "Bearer "+token)
		}
		return send(t, method, f.admin.URL+path, `{}`, headers...).status
	}
	refused := func(status int) bool { return status == 401 || status == 403 }
	for _, route := range append(append([]string{}, looking...), answering...) {
		if got := try(route, ""); got != 401 {
			t.Errorf("%s without a token: %d, want 401", route, got)
		}
		if got := try(route, "wrong"); got != 401 {
			t.Errorf("%s with a wrong token: %d, want 401", route, got)
		}
		if got := try(route, "0perator-t0ken-01"); refused(got) {
			t.Errorf("%s with the operator's token: %d", route, got)
		}
	}
	for _, route := range looking {
		if got := try(route, "v1ewer-t0ken-0001"); refused(got) {
			t.Errorf("%s with the viewer's token: %d", route, got)
		}
	}
	for _, route := range answering {
		if got := try(route, "v1ewer-t0ken-0001"); got != 403 {
			t.Errorf("%s with the viewer's token: %d, want 403", route, got)
		}
	}
	for _, path := range []string{"/", "/console/main.js", "/healthz", "/readyz"} {
		if got := try("GET "+path, ""); got != 200 {
			t.Errorf("%s without a token: %d, want 200", path, got)
		}
	}
}

// The three tokens are mixed up easily: who shows the wrong one is told which it is.
func TestTheFiltersTokenOnTheAdminAPIIsToldApart(t *testing.T) {
	f := start(t, func(c *api.Config) {
		c.Data, c.Operators = tokens(t, "f1lter-t0ken-0001", "filter"), tokens(t, "0perator-t0ken-01", "operator")
	})
	r := send(t, "GET", f.admin.URL+"/api/holds", "", "authorization", "Bearer f1lter-t0ken-0001")
	if r.status != 401 || !strings.Contains(string(r.body), "this is the filter's token (--token); use the operator's") {
		t.Errorf("%d %s", r.status, r.body)
	}
	r = send(t, "POST", f.data.URL+"/v1/ops", "", "content-type", asNDJSON, "authorization", "Bearer 0perator-t0ken-01")
	if r.status != 401 || !strings.Contains(string(r.body), "this is the operator's token") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestAFilterWithAnotherTokenIsInTheLogAndDoesNotFillIt(t *testing.T) {
	f := start(t, func(c *api.Config) { c.Data = tokens(t, "f1lter-t0ken-0001", "filter") })
	for range 20 {
		send(t, "POST", f.data.URL+"/v1/ops", "", "content-type", asNDJSON, "authorization", "Bearer wr0ng")
	}
	log := f.log.String()
	if strings.Count(log, "level=WARN") != 1 || !strings.Contains(log, "the token does not match; the filter's (its ledger.token_env) must be this ledgerd's --token") {
		t.Errorf("log: %s", log)
	}
	if strings.Contains(log, "wr0ng") {
		t.Error("the log shows the token")
	}
}

func TestWithoutAnOperatorsTokenNobodyAnswers(t *testing.T) {
	f := start(t, func(c *api.Config) { c.Viewers = tokens(t, "v1ewer-t0ken-0001", "viewer") })
	r := send(t, "POST", f.admin.URL+"/api/release", `{"id":"x"}`, "content-type", asJSON, "authorization", "Bearer v1ewer-t0ken-0001")
	if r.status != 403 || !strings.Contains(string(r.body), "--operator-token") {
		t.Fatalf("%d %s", r.status, r.body)
	}
}

func TestAnotherSiteCannotAnswer(t *testing.T) {
	f := start(t, nil)
	for name, headers := range map[string][]string{
		"fetch metadata": {"sec-fetch-site", "cross-site"},
		"same site":      {"sec-fetch-site", "same-site"},
		"origin":         {"origin", "http://evil.example"},
	} {
		r := send(t, "POST", f.admin.URL+"/api/release", `{"id":"x"}`, append(headers, "content-type", asJSON)...)
		if r.status != 403 || r.code(t) != "cross_origin" {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	own := send(t, "POST", f.admin.URL+"/api/release", `{"id":"x"}`, "content-type", asJSON, "sec-fetch-site", "same-origin", "origin", f.admin.URL)
	if own.status != 404 {
		t.Errorf("the console's own request: %d %s", own.status, own.body)
	}
}

func TestOnlyKnownHostsAreAnswered(t *testing.T) {
	f := start(t, func(c *api.Config) { c.AllowHosts = []string{"Idem.Example.com", "[2001:db8::1]"} })
	for host, want := range map[string]int{
		"localhost:7413": 200, "localhost:10000": 200, "localhost:31999": 200, "127.0.0.1:10000": 200, "localhost": 200, "127.0.0.1": 200, "[::1]:7413": 200, "LOCALHOST.": 200, "demo.localhost": 200, "127.1.2.3:1": 200,
		"idem.example.com:443": 200, "[2001:db8::1]:443": 200,
		"evil.example": 403, "localhost.evil.example": 403, "10.0.0.1": 403, "idem.example.com.evil.example": 403,
	} {
		for _, path := range []string{"/api/state", "/", "/metrics"} {
			if r := send(t, "GET", f.admin.URL+path, "", "host", host); r.status != want {
				t.Errorf("%s with Host %s: %d, want %d", path, host, r.status, want)
			}
		}
		if r := send(t, "GET", f.admin.URL+"/healthz", "", "host", host); r.status != 200 {
			t.Errorf("/healthz with Host %s: %d; a probe comes by address", host, r.status)
		}
	}
}

func TestAnyHostCanBeAllowed(t *testing.T) {
	f := start(t, func(c *api.Config) { c.AllowHosts = []string{"*"} })
	if r := send(t, "GET", f.admin.URL+"/api/state", "", "host", "whatever.example"); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
}

func TestAHostThatIsNoneIsRefusedAtTheStart(t *testing.T) {
	for _, host := range []string{"", "http://idem.example", "idem.example:443", "a b"} {
		f := start(t, nil)
		if _, err := api.New(api.Config{Ledger: f.ledger, AllowHosts: []string{host}}); err == nil || !strings.Contains(err.Error(), "allowed host") {
			t.Errorf("%q: %v", host, err)
		}
	}
}

func TestEveryPostMustSayJSON(t *testing.T) {
	f := start(t, func(c *api.Config) { c.AllowReset = true })
	for _, path := range []string{"/api/holds/x/release", "/api/release", "/api/in-doubt/x/resolve", "/api/reset", "/api/explain"} {
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"} {
			if r := send(t, "POST", f.admin.URL+path, `{}`, "content-type", kind); r.status != 415 || r.code(t) != "unsupported_media_type" {
				t.Errorf("%s as %q: %d", path, kind, r.status)
			}
		}
	}
	if r := send(t, "POST", f.admin.URL+"/api/reset", "", "content-type", "application/json; charset=UTF-8"); r.status != 200 {
		t.Errorf("JSON in UTF-8: %d %s", r.status, r.body)
	}
}

func TestATokenThatIsGuessedIsRefused(t *testing.T) {
	for _, text := range []string{"x", "abcdefghijklmno", "# the filter's\nada abcdefghijklmnop\nbob 0123456789abcde"} {
		_, err := api.ParseTokens(text, "x")
		if err == nil || !strings.Contains(err.Error(), "want at least 16 characters; `openssl rand -hex 32` makes one") {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "abcdef") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

func TestOtherTokensAreTakenForEveryRequestFromThenOn(t *testing.T) {
	f := start(t, func(c *api.Config) {
		c.Data, c.Operators = tokens(t, "0ld-filter-t0ken-1", "filter"), tokens(t, "0ld-operator-t0ken", "operator")
	})
	try := func(method, url, token string) int {
		kind := asJSON
		if method == "POST" {
			kind = asNDJSON
		}
		return send(t, method, url, "", "content-type", kind, "authorization", "Bearer "+token).status
	}
	ops, state := f.data.URL+"/v1/ops", f.admin.URL+"/api/state"
	for range 2 {
		if a, b := try("POST", ops, "0ld-filter-t0ken-1"), try("GET", state, "0ld-operator-t0ken"); a != 200 || b != 200 {
			t.Fatalf("the first tokens: %d, %d", a, b)
		}
	}
	f.api.Admit(api.Doors{Data: tokens(t, "n3w-filter-t0ken-1", "filter"), Operators: tokens(t, "n3w-operator-t0ken", "operator"), Viewers: tokens(t, "n3w-viewer-t0ken-1", "viewer")})
	if a, b := try("POST", ops, "0ld-filter-t0ken-1"), try("GET", state, "0ld-operator-t0ken"); a != 401 || b != 401 {
		t.Errorf("the former tokens: %d, %d", a, b)
	}
	if a, b, c := try("POST", ops, "n3w-filter-t0ken-1"), try("GET", state, "n3w-operator-t0ken"), try("GET", state, "n3w-viewer-t0ken-1"); a != 200 || b != 200 || c != 200 {
		t.Errorf("the new tokens: %d, %d, %d", a, b, c)
	}
}

func TestTokensAreReadStrictly(t *testing.T) {
	for _, text := range []string{"two words more", "with\"quote", "ada ünsafe", "====", "a\tb\tc"} {
		if _, err := api.ParseTokens(text, "x"); err == nil {
			t.Errorf("%q was taken", text)
		} else if strings.Contains(err.Error(), text) {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
	for text, empty := range map[string]bool{"": true, "\n \n# nobody\n": true, "abcdefghijklmn==": false, "ada abcdefghijklmnop\n\nbob 0123456789abcdef": false} {
		if got, err := api.ParseTokens(text, "x"); err != nil || got.Empty() != empty {
			t.Errorf("%q: %v, empty %v", text, err, got.Empty())
		}
	}
}
