package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"idem/canon"
	"idem/ledgerd/api"
	"idem/ledgerd/explain"
	"idem/ledgerd/ledger"
	"idem/ledgerd/store/memory"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/wire"
)

// TestMain lets a test start this very program as a process of its own: see startProcess.
func TestMain(m *testing.M) {
	if os.Getenv("IDEM_TEST_IS_LEDGERD") != "" {
		main()
		return
	}
	os.Exit(pgtest.Main(m))
}

// result is what a command gave.
type result struct {
	code     int
	out, err string
}

// command runs a command in this process. A leading NAME=value is environment.
func command(t *testing.T, args ...string) result {
	t.Helper()
	return commandWith(t, "", args...)
}

func commandWith(t *testing.T, input string, args ...string) result {
	t.Helper()
	var environ []string
	for len(args) > 0 && strings.Contains(args[0], "=") && !strings.HasPrefix(args[0], "-") {
		environ, args = append(environ, args[0]), args[1:]
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var out, err bytes.Buffer
	code := run(ctx, args, surroundings{strings.NewReader(input), &out, &err, environ})
	return result{code, out.String(), err.String()}
}

// wants fails the test where a command's exit code or what it wrote is another.
func (r result) wants(t *testing.T, code int, parts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d; out:\n%s\nerr:\n%s", r.code, code, r.out, r.err)
	}
	for _, p := range parts {
		if !strings.Contains(r.out+r.err, p) {
			t.Errorf("%q is not in out:\n%s\nerr:\n%s", p, r.out, r.err)
		}
	}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// running is a ledger with its admin API, for the commands that ask one.
type running struct {
	url    string
	ledger *ledger.Ledger
	now    time.Time
}

func start(t *testing.T, operators string) *running {
	t.Helper()
	r := &running{now: time.Now()}
	kept := memory.New(memory.Options{Clock: func() time.Time { return r.now }})
	var err error
	if r.ledger, err = ledger.New(ledger.Options{Store: kept, SoleOwner: true, SweepEvery: time.Hour, PollEvery: time.Hour}); err != nil {
		t.Fatal(err)
	}
	known, err := api.ParseTokens(operators, "operator")
	if err != nil {
		t.Fatal(err)
	}
	reader, err := explain.ByDefaults(canon.Settings{}, canon.Key{})
	if err != nil {
		t.Fatal(err)
	}
	served, err := api.New(api.Config{Ledger: r.ledger, Operators: known, Explainer: reader})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(served.Admin())
	r.url = server.URL
	t.Cleanup(func() {
		server.Close()
		if err := r.ledger.Close(context.Background()); err != nil {
			t.Error(err)
		}
		kept.Close()
	})
	return r
}

func (r *running) do(t *testing.T, ops ...wire.Op) []wire.Answer {
	t.Helper()
	return r.ledger.Do(t.Context(), ops)
}

func reserve(attempt, run string) wire.Op {
	id := strings.Repeat("1", 64)
	return wire.Op{
		Kind: wire.OpReserve, Attempt: attempt, Intent: id, Fingerprint: id, Run: run, Tool: "refund\x1b[2J",
		Action: []byte(`{"args":{"amount":"$12.00","by":"` + run + `"}}`),
	}
}

// hold makes a held call and gives the hold's id.
func (r *running) hold(t *testing.T) string {
	t.Helper()
	id := strings.Repeat("1", 64)
	r.do(t, reserve("a1", "a"), wire.Op{Kind: wire.OpCommit, Attempt: "a1", Intent: id, Result: &wire.Result{Status: 200}})
	r.now = r.now.Add(time.Minute)
	got := r.do(t, reserve("a2", "b"))[0]
	if got.Kind != wire.AnswerHeld {
		t.Fatalf("answer %+v, want held", got)
	}
	return got.Hold.ID
}

// doubt makes a call in doubt and gives its attempt.
func (r *running) doubt(t *testing.T) string {
	t.Helper()
	r.do(t, reserve("lost", "a"), wire.Op{Kind: wire.OpFail, Attempt: "lost", Intent: strings.Repeat("1", 64), Class: wire.ClassUnknown})
	return "lost"
}
