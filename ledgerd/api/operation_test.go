package api_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"idem/ledgerd/api"
	"idem/ledgerd/ledger"
	"idem/ledgerd/store"
)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// broken is a ledger whose every question to the store fails with one error.
type broken struct {
	api.Ledger
	err error
}

func (b broken) Ready(context.Context) error { return b.err }
func (b broken) State(context.Context, int) (ledger.StateView, error) {
	return ledger.StateView{}, b.err
}
func (b broken) Reset(context.Context) error { return b.err }

func TestErrorsOfTheLedgerHaveTheirStatus(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status int
		code   string
	}{
		"unavailable": {errors.Join(store.ErrUnavailable, errors.New("disk s3cret")), 503, "ledger_unavailable"},
		"overloaded":  {store.ErrOverloaded, 429, "overloaded"},
		"not found":   {ledger.ErrNotFound, 404, "not_found"},
		"conflict":    {&ledger.ConflictError{Why: "it was answered"}, 409, "conflict"},
		"unknown":     {errors.New("s3cret inside"), 500, "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, func(cfg *api.Config) { cfg.Ledger = broken{cfg.Ledger, c.err} })
			r := f.get("/api/state")
			if r.status != c.status || r.code(t) != c.code {
				t.Fatalf("%d %s, want %d %s", r.status, r.body, c.status, c.code)
			}
			if strings.Contains(string(r.body), "s3cret") {
				t.Errorf("the inside of an error is told outside: %s", r.body)
			}
			retry := c.status == 503 || c.status == 429
			if got := r.header.Get("Retry-After") != ""; got != retry {
				t.Errorf("Retry-After is there: %v, want %v", got, retry)
			}
		})
	}
}

func TestReadyOnlyWhileTheStoreWritesAndNothingDrains(t *testing.T) {
	f := start(t, nil)
	for _, url := range []string{f.data.URL, f.admin.URL} {
		for _, path := range []string{"/healthz", "/readyz"} {
			if r := send(t, "GET", url+path, ""); r.status != 200 {
				t.Errorf("%s: %d %s", path, r.status, r.body)
			}
		}
	}
	f.api.Drain()
	for _, url := range []string{f.data.URL, f.admin.URL} {
		if r := send(t, "GET", url+"/readyz", ""); r.status != 503 || r.code(t) != "ledger_unavailable" {
			t.Errorf("draining: %d %s", r.status, r.body)
		}
		if r := send(t, "GET", url+"/healthz", ""); r.status != 200 {
			t.Errorf("draining is no illness: %d", r.status)
		}
	}
	g := start(t, func(c *api.Config) { c.Ledger = broken{c.Ledger, store.ErrUnavailable} })
	if r := g.get("/readyz"); r.status != 503 {
		t.Errorf("a store that does not write: %d %s", r.status, r.body)
	}
}

func TestMetricsTellOperationsRequestsAndTheLedgersCounters(t *testing.T) {
	f := start(t, func(c *api.Config) {
		c.Writing = func() api.Writing { return api.Writing{Groups: 3, Writes: 40, Failures: 1, Waiting: 2} }
	})
	f.ops(reserve("a1", "r", "1"), commit("a1", "1", "x"))
	send(t, "POST", f.data.URL+"/v1/ops", `{"op":"made up"}`+"\n", "content-type", asNDJSON)
	f.get("/api/holds/none")
	text := string(f.get("/metrics").body)
	for _, line := range []string{
		`idem_operations_total{answer="execute",op="reserve"} 1`,
		`idem_operations_total{answer="ok",op="commit"} 1`,
		`idem_operations_total{answer="error",op="unreadable"} 1`,
		`idem_http_requests_total{listener="data",route="/v1/ops",status="200"} 2`,
		`idem_http_requests_total{listener="admin",route="/api/holds/{id}",status="404"} 1`,
		`idem_ledger_total{what="executed"} 1`,
		`idem_store_up 1`,
		`idem_store_groups_total 3`,
		`idem_store_writes_total 40`,
		`idem_store_conflicts_total 0`,
		`idem_store_failures_total 1`,
		`idem_store_writes_waiting 2`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is not there", line)
		}
	}
	if strings.Contains(text, "made up") {
		t.Error("a label grows with what clients invent")
	}
	g := start(t, func(c *api.Config) { c.Ledger = broken{c.Ledger, store.ErrUnavailable} })
	if text := string(g.get("/metrics").body); !strings.Contains(text, "idem_store_up 0\n") {
		t.Error("a store that is down is not told")
	}
}

func TestLogsHaveNoBodyAndNoCredential(t *testing.T) {
	f := start(t, func(c *api.Config) {
		c.Data, c.Operators = tokens(t, "d4ta-t0ken-000001", "filter"), tokens(t, "0perator-t0ken-01", "operator")
	})
	send(t, "POST", f.data.URL+"/v1/ops", `{"op":"secret-line"}`, "content-type", asNDJSON, "authorization", "Bearer d4ta-t0ken-000001")
	send(t, "POST", f.data.URL+"/v1/ops", ``, "content-type", asNDJSON, "authorization", "Bearer wr0ng-t0ken")
	send(t, "POST", f.admin.URL+"/api/release?secret-query", `{"id":"secret-id","x":1}`, "content-type", asJSON, "authorization", "Bearer 0perator-t0ken-01")
	send(t, "GET", f.admin.URL+"/api/rows/secret-path", "", "authorization", "Bearer 0perator-t0ken-01")
	text := f.log.String()
	if !strings.Contains(text, "request") {
		t.Fatal("nothing was logged, so nothing is shown")
	}
	for _, word := range []string{"secret-", "t0ken", "Bearer"} {
		if strings.Contains(text, word) {
			t.Errorf("%q is in the log:\n%s", word, text)
		}
	}
}

func TestAnAnswerToAHoldIsLoggedWithWhoGaveIt(t *testing.T) {
	f := start(t, func(c *api.Config) { c.Operators = tokens(t, "ada 0perator-t0ken-01", "operator") })
	id := f.hold("1")
	send(t, "POST", f.admin.URL+"/api/holds/"+id+"/deny", "", "content-type", asJSON, "authorization", "Bearer 0perator-t0ken-01")
	if text := f.log.String(); !strings.Contains(text, "a hold was answered") || !strings.Contains(text, "by=ada") {
		t.Errorf("the log does not say who answered:\n%s", text)
	}
}

func TestRepliesAreNotKeptFramedOrSniffed(t *testing.T) {
	f := start(t, nil)
	for _, path := range []string{"/api/state", "/api/nothing", "/metrics"} {
		h := f.get(path).header
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", path, name, h.Get(name), want)
			}
		}
	}
}

func TestHTTP2IsSpokenWithoutTLS(t *testing.T) {
	f := start(t, nil)
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.Server(t.Context(), f.api.Data(), quiet())
	server.Start()
	defer server.Close()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols, TLSClientConfig: &tls.Config{}}}
	response, err := client.Get(server.URL + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.ProtoMajor != 2 || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", response.Proto, response.Status)
	}
}

func TestEveryMistakeInTheSettingsIsReported(t *testing.T) {
	_, err := api.New(api.Config{AllowHosts: []string{"a:1"}, Limits: api.Limits{BatchOps: -1}})
	for _, part := range []string{"ledger", "allowed host", "limits"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}

// A store that is away and one that is there and must not be used are not the same to whoever is called at night; and
// neither of them is a reason never to ask again.
func TestReadinessTellsAStoreThatIsAwayFromOneThatIsUnfit(t *testing.T) {
	for want, err := range map[string]error{
		"the store does not answer":                           store.ErrUnavailable,
		"the store answers, but cannot be used as it is; led": store.ErrUnfit,
	} {
		f := start(t, func(cfg *api.Config) { cfg.Ledger = broken{cfg.Ledger, errors.Join(err, errors.New("s3cret"))} })
		for _, path := range []string{"/readyz", "/api/state"} {
			r := f.get(path)
			if r.status != 503 || !strings.Contains(string(r.body), want) || strings.Contains(string(r.body), "s3cret") {
				t.Errorf("%s: %d %s, want 503 and %q", path, r.status, r.body, want)
			}
			if !strings.Contains(string(r.body), `"retryable":true`) || r.header.Get("Retry-After") == "" {
				t.Errorf("%s: %s, want it retryable, and when", path, r.body)
			}
		}
	}
}
