package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"idem/canon"
	"idem/ledgerd/api"
	"idem/ledgerd/console"
	"idem/ledgerd/explain"
	"idem/ledgerd/ledger"
	"idem/ledgerd/store/memory"
	"idem/ledgerd/wire"
)

// faces are the two faces of a real ledger over the memory store, each on a server of its own, by a clock that only
// the test moves.
type faces struct {
	t           *testing.T
	api         *api.API
	ledger      *ledger.Ledger
	data, admin *httptest.Server
	clock       *clock
	log         *lockedBuffer
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start serves a new ledger; change may set whatever a test needs.
func start(t *testing.T, change func(*api.Config)) *faces {
	t.Helper()
	f := &faces{t: t, clock: &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, log: &lockedBuffer{}}
	kept := memory.New(memory.Options{Clock: f.clock.read})
	log := slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	f.ledger, err = ledger.New(ledger.Options{Store: kept, SoleOwner: true, Log: log, SweepEvery: 10 * time.Millisecond, PollEvery: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := explain.ByDefaults(canon.Settings{}, canon.Key{})
	if err != nil {
		t.Fatal(err)
	}
	c := api.Config{Ledger: f.ledger, Pages: console.Handler(), Explainer: reader, Log: log}
	if change != nil {
		change(&c)
	}
	if f.api, err = api.New(c); err != nil {
		t.Fatal(err)
	}
	f.data, f.admin = httptest.NewServer(f.api.Data()), httptest.NewServer(f.api.Admin())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := f.ledger.Close(ctx); err != nil {
			t.Error(err)
		}
		f.data.Close()
		f.admin.Close()
		kept.Close()
	})
	return f
}

func tokens(t *testing.T, text, name string) api.Tokens {
	t.Helper()
	parsed, err := api.ParseTokens(text, name)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// into reads the reply's JSON.
func (r reply) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
}

// code is the problem's code; a reply that is no problem fails the test.
func (r reply) code(t *testing.T) string {
	t.Helper()
	var p struct {
		Type, Title, Detail, Code string
		Status                    int
	}
	r.into(t, &p)
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("content-type of a refusal is %q", got)
	}
	if p.Status != r.status || p.Type != "urn:idem:problem:"+p.Code || p.Title == "" || p.Detail == "" {
		t.Errorf("a problem is not whole, or has another status than its reply (%d): %s", r.status, r.body)
	}
	return p.Code
}

// send sends a request. Headers are pairs of name and value.
func send(t *testing.T, method, url, body string, headers ...string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, text}
}

const (
	asJSON   = "application/json"
	asNDJSON = "application/x-ndjson"
)

func (f *faces) get(path string) reply { return send(f.t, "GET", f.admin.URL+path, "") }

func (f *faces) post(path, body string) reply {
	return send(f.t, "POST", f.admin.URL+path, body, "content-type", asJSON)
}

// ops sends a batch and reads the answers.
func (f *faces) ops(ops ...wire.Op) []wire.Answer {
	f.t.Helper()
	var body []byte
	for i := range ops {
		body = wire.AppendOp(body, &ops[i])
	}
	r := send(f.t, "POST", f.data.URL+"/v1/ops", string(body), "content-type", asNDJSON)
	if r.status != 200 {
		f.t.Fatalf("status %d: %s", r.status, r.body)
	}
	return answers(f.t, r.body)
}

func answers(t *testing.T, body []byte) []wire.Answer {
	t.Helper()
	var list []wire.Answer
	for line := range wire.Lines(body) {
		a, err := wire.ReadAnswer(line)
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		list = append(list, a)
	}
	return list
}

func digest(c string) string { return strings.Repeat(c, 64) }

// reserve is a call: its intent and fingerprint are one digit, repeated.
func reserve(attempt, run, digit string) wire.Op {
	return wire.Op{
		Kind: wire.OpReserve, Attempt: attempt, Intent: digest(digit), Fingerprint: digest(digit), Run: run, Tool: "refund",
		Action: []byte(`{"args":{"amount":"$12.00","run":"` + run + `"}}`),
	}
}

func commit(attempt, digit, body string) wire.Op {
	return wire.Op{
		Kind: wire.OpCommit, Attempt: attempt, Intent: digest(digit),
		Result: &wire.Result{Status: 201, Headers: [][2]string{{"location", "/refunds/1"}}, Body: []byte(body)},
	}
}

// hold makes a call of a new run that is held, and gives the hold's id.
func (f *faces) hold(digit string) string {
	f.t.Helper()
	f.ops(reserve("first-"+digit, "a", digit), commit("first-"+digit, digit, "done"))
	f.clock.pass(time.Minute)
	got := f.ops(reserve("second-"+digit, "b", digit))[0]
	if got.Kind != wire.AnswerHeld {
		f.t.Fatalf("answer %+v, want held", got)
	}
	return got.Hold.ID
}

// doubt makes a call that is in doubt, and gives its attempt.
func (f *faces) doubt(digit string) string {
	f.t.Helper()
	attempt := "lost-" + digit
	f.ops(reserve(attempt, "a", digit), wire.Op{Kind: wire.OpFail, Attempt: attempt, Intent: digest(digit), Class: wire.ClassUnknown})
	if got := f.ops(reserve("next-"+digit, "a", digit))[0]; got.Kind != wire.AnswerInDoubt {
		f.t.Fatalf("answer %+v, want in_doubt", got)
	}
	return attempt
}
