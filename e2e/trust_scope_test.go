package e2e_test

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// as is the refund as a caller with these headers asks for it.
func as(path string, headers ...string) envoytest.Call {
	c := envoytest.Call{Path: path, Run: "run-1", Body: refundA, Header: map[string]string{}}
	for i := 0; i < len(headers); i += 2 {
		c.Header[headers[i]] = headers[i+1]
	}
	return c
}

// No caller is given another's result, though both ask for the same in the same run; a caller is known by its
// credentials, however many other headers change.
func scopeByCredentials(t *testing.T, w *web) {
	const path = "/tools/refund"
	apart(t, w, as(path), as(path, "authorization", "Bearer a"), as(path, "authorization", "Bearer b"), as(path, "authorization", "Basic a"),
		as(path, "x-api-key", "a"), as(path, "x-api-key", "b"), as(path, "authorization", "Bearer a", "x-api-key", "a"),
		as(path, "cookie", "session=a"), as(path, "cookie", "session=b"))
	once(t, w, as(path, "authorization", "Bearer a"), as(path, "authorization", "Bearer a", "user-agent", "another", "cookie", "session=b"),
		as(path, "authorization", "Bearer a", "x-forwarded-for", "10.0.0.1", "x-request-id", "7", "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
	once(t, w, as("/tools/session/refund", "cookie", "session=a; theme=dark"), as("/tools/session/refund", "cookie", "lang=en; session=a", "authorization", "Bearer x"))
	apart(t, w, as("/tools/session/refund", "cookie", "session=a"), as("/tools/session/refund", "cookie", "session=b"),
		as("/tools/session/refund", "cookie", `session="a"`))
	// Whoever can set a cookie for a parent domain adds his own to another's; which of the two a tool heeds is the tool's affair.
	apart(t, w, as("/tools/session/refund", "cookie", "session=a"), as("/tools/session/refund", "cookie", "session=a; session=b"),
		as("/tools/session/refund", "cookie", "session=b; session=a"), as("/tools/session/refund", "cookie", "session=a; Session=b"), as("/tools/session/refund", "cookie", "session=b"))
	w.Fresh(t)
	for _, other := range [][]string{nil, {"cookie", "xsession=a"}, {"authorization", "Bearer a"}} {
		expectProblem(t, "a caller without the cookie", w.Call(t, as("/tools/session/refund", other...)), http.StatusBadRequest, "unstable_scope")
	}
	expectExecutions(t, w.Tool, 0)
	for _, name := range []string{"stripe-account", "x-tenant-id", "x-org-id"} {
		apart(t, w, as(path), as(path, name, "a"), as(path, name, "b"))
		once(t, w, as(path, name, "a"), as(path, strings.ToUpper(name), "a"))
	}

	// Not even while it runs: another caller's call executes beside it.
	w.Fresh(t)
	release := w.Tool.Hold()
	replies := map[string]chan envoytest.Reply{"a": make(chan envoytest.Reply, 2), "b": make(chan envoytest.Reply, 2)}
	for range 2 {
		for who, reply := range replies {
			go func() { reply <- w.Try(t.Context(), as(path, "authorization", "Bearer "+who)) }()
		}
	}
	w.AwaitArrivals(t, 4)
	w.Tool.AwaitCount(t, 2)
	release()
	ids := map[string]string{}
	for who, reply := range replies {
		first, second := <-reply, <-reply
		if first.Status != http.StatusOK || !bytes.Equal(first.Body, second.Body) || first.Outcome() == second.Outcome() {
			t.Errorf("%s got %v and %v", who, first, second)
		}
		ids[who] = refundID(t, first)
	}
	if ids["a"] == ids["b"] {
		t.Errorf("two callers have the result %s", ids["a"])
	}
	expectExecutions(t, w.Tool, 2)

	// Credentials that differ on every request say nothing of the caller; the refusal says what to do.
	w.Fresh(t)
	for _, credentials := range []string{
		"AWS4-HMAC-SHA256 Credential=AKID/20260101/eu/s3/aws4_request, Signature=1", "AWS AKID:sig", "Digest username=\"a\", nonce=\"1\"", "DPoP eyJ", "dpop eyJ",
		"Hawk id=\"a\", ts=\"1\"", "Signature keyId=\"a\",signature=\"1\"", "  Digest x", "Negotiate abc", "NTLM abc", "OAuth oauth_nonce=\"1\"",
	} {
		p := expectProblem(t, credentials, w.Call(t, as(path, "authorization", credentials)), http.StatusBadRequest, "unstable_scope")
		if !strings.Contains(p.Detail, "rule's scope") || strings.Contains(p.Detail, "AKID") {
			t.Errorf("%s: the refusal says %q", credentials, p.Detail)
		}
	}
	expectExecutions(t, w.Tool, 0)
}

// Neither the logs nor the store nor what people are shown hold what callers and tools prove themselves with.
func noCredentialsKept(t *testing.T, w *web) {
	const secret = "s3cr3t-"
	w.Fresh(t)
	credentials := []string{
		"authorization", "Bearer " + secret + "bearer", "x-api-key", secret + "key", "cookie", "session=" + secret + "cookie",
		"proxy-authorization", "Basic " + secret + "proxy", "stripe-account", "acct_1",
	}
	w.Tool.Answer(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("set-cookie", "session="+secret+"set")
		rw.Write([]byte(`{"refund_id":"rf-1"}`))
	})
	for _, path := range []string{
		"/tools/refund", "/tools/session/refund", "/tools/inline/refund", "/tools/key/refund", "/tools/query/refund?a=1&access_token=" + secret + "query",
	} {
		first := as(path, credentials...)
		expect(t, path, w.Call(t, first), http.StatusOK, "executed")
		expect(t, path, w.Call(t, first), http.StatusOK, "replay")
		similar := as(path, credentials...)
		similar.Run, similar.Body = "run-2", strings.Replace(refundA, `"currency"`, `"note":"again","currency"`, 1)
		w.Call(t, similar) // is held, with all that a person is shown of it
	}
	for _, behaviour := range []envoytest.Behaviour{"500", envoytest.Reset} {
		call := as("/tools/ship", credentials...)
		call.Header[envoytest.BehaviourHeader] = string(behaviour)
		w.Call(t, call)
	}
	w.Call(t, as("/tools/refund", "authorization", "Digest "+secret+"digest"))
	refused := as("/tools/refund", credentials...)
	refused.Body = "{"
	w.Call(t, refused)

	seen := map[string]string{"Envoy's log": w.Log(), "ledgerd's log": w.Ledgerd.Log()}
	for _, path := range []string{"/api/state", "/api/holds", "/api/in-doubt", "/metrics"} {
		seen[path] = string(w.admin(t, path))
	}
	if !strings.Contains(seen["/api/holds"], "again") || !strings.Contains(seen["/api/in-doubt"], "ship") {
		t.Errorf("people are shown neither hold nor doubt: %s %s", seen["/api/holds"], seen["/api/in-doubt"])
	}
	err := filepath.WalkDir(w.Ledgerd.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		seen[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range seen {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("%s holds a credential: …%q…", where, text[max(0, i-60):min(len(text), i+40)])
		}
	}
}

// admin gets a page of ledgerd's admin API.
func (w *web) admin(t *testing.T, path string) []byte {
	t.Helper()
	response, err := http.Get("http://" + w.Ledgerd.Admin + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, response.StatusCode, err)
	}
	return body.Bytes()
}
