package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/wire"
)

func TestHoldsAreListedShownAndAnswered(t *testing.T) {
	r := start(t, "")
	command(t, "holds", "list", "--server", r.url).wants(t, 0, "No hold is open.")
	id := r.hold(t)
	command(t, "holds", "list", "--server", r.url).wants(t, 0, id, "new_run", "b")
	command(t, "holds", "show", id, "--server", r.url).wants(t, 0, id, "/args/by", `"a"`, `"b"`, "committed")
	command(t, "holds", "release", id, "--server", r.url, "--version", "99").wants(t, 3, "conflict")
	command(t, "holds", "release", id, "--server", r.url, "--reason", "two parcels").wants(t, 0, "approved")
	command(t, "holds", "deny", id, "--server", r.url).wants(t, 3, "conflict")
	if got := r.do(t, reserve("a3", "b"))[0]; got.Kind != wire.AnswerExecute {
		t.Errorf("after release: %+v", got)
	}
	command(t, "holds", "show", "none", "--server", r.url).wants(t, 3, "not_found")
}

// A flag that would have no effect is a misunderstanding: it is refused before anything is sent.
func TestFlagsThatWouldHaveNoEffectAreRefused(t *testing.T) {
	r := start(t, "")
	id := r.hold(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"holds", "release", id, "--version", "0", "--server", r.url}, "--version 0"},
		{[]string{"holds", "release", id, "--version", "-1", "--server", r.url}, "--version -1"},
		{[]string{"holds", "list", "--limit", "0", "--server", r.url}, "--limit 0: want 1 to 1000"},
		{[]string{"in-doubt", "list", "--limit", "1001", "--server", r.url}, "--limit 1001: want 1 to 1000"},
		{[]string{"holds", "list", "--timeout", "0s", "--server", r.url}, "--timeout 0s"},
		{[]string{"doctor", "--timeout", "0s"}, "--timeout 0s"},
		{[]string{"serve", "--data-dir", "x", "--store", "redis://h"}, "--data-dir goes with the sqlite store only, and --store is redis"},
		{[]string{"migrate", "--data-dir", "x", "--store", "postgres://u@h/db"}, "--data-dir goes with the sqlite store only"},
		{[]string{"serve", "--data-dir", "x", "--store", "memory"}, "--data-dir goes with the sqlite store only"},
		{[]string{"migrate", "--store", "memory"}, "there is nothing to make"},
		{[]string{"explain", "--rule", "refunds", "-"}, "no plugin configuration was given"},
	} {
		command(t, c.args...).wants(t, 2, c.want)
	}
	command(t, "holds", "release", id, "--version", "1", "--server", r.url).wants(t, 0)
	command(t, "LEDGERD_DATA_DIR=x", "migrate", "--store", "memory").wants(t, 2, "there is nothing to make") // a setting may stand
}

func TestDuplicateAndDenyAreTold(t *testing.T) {
	r := start(t, "")
	command(t, "holds", "duplicate", r.hold(t), "--server", r.url).wants(t, 0, "alias")
	other := start(t, "")
	command(t, "holds", "deny", other.hold(t), "--server", other.url).wants(t, 0, "denied")
}

func TestWhatCallersWroteCannotMoveTheCursor(t *testing.T) {
	r := start(t, "")
	id := r.hold(t)
	for _, args := range [][]string{{"holds", "list"}, {"holds", "show", id}} {
		got := command(t, append(args, "--server", r.url)...)
		got.wants(t, 0, `refund\x1b[2J`)
		if strings.Contains(got.out, "\x1b") {
			t.Errorf("%v writes an escape sequence", args)
		}
	}
}

func TestRepliesComeAsJSONWhereAsked(t *testing.T) {
	r := start(t, "")
	id := r.hold(t)
	var list struct{ Holds []struct{ ID string } }
	got := command(t, "holds", "list", "--json", "--server", r.url)
	if err := json.Unmarshal([]byte(got.out), &list); err != nil || len(list.Holds) != 1 || list.Holds[0].ID != id {
		t.Fatalf("%v in %s", err, got.out)
	}
}

func TestADoubtIsResolvedFromTheCommandLine(t *testing.T) {
	r := start(t, "")
	command(t, "in-doubt", "list", "--server", r.url).wants(t, 0, "No call is in doubt.")
	attempt := r.doubt(t)
	command(t, "in-doubt", "list", "--server", r.url).wants(t, 0, attempt)
	command(t, "in-doubt", "show", attempt, "--server", r.url).wants(t, 0, "in_doubt", "releasable after")
	command(t, "in-doubt", "resolve", attempt, "--server", r.url).wants(t, 2, "--as")
	command(t, "in-doubt", "resolve", attempt, "--as", "released", "--result", "x", "--server", r.url).wants(t, 2, "--result")
	command(t, "in-doubt", "resolve", attempt, "--as", "released", "--server", r.url).wants(t, 3, "conflict", "may be tried again in")
	for _, vain := range [][]string{{"--as", "released", "--status", "200"}, {"--as", "committed", "--status", "99"}, {"--as", "committed", "--status", "200"}} {
		command(t, append([]string{"in-doubt", "resolve", attempt, "--server", r.url}, vain...)...).wants(t, 2, "--status goes with --result only")
	}
	commandWith(t, "{}", "in-doubt", "resolve", attempt, "--as", "committed", "--status", "99", "--result", "-", "--server", r.url).wants(t, 2, "--status 99", "200 to 399")
	commandWith(t, "{", "in-doubt", "resolve", attempt, "--as", "committed", "--result", "-", "--server", r.url).wants(t, 2, "not JSON")
	commandWith(t, `{"id": 9007199254740993}`, "in-doubt", "resolve", attempt, "--as", "committed", "--result", "-", "--server", r.url).wants(t, 0, "committed")
	if got := r.do(t, reserve("a9", "a"))[0]; got.Kind != wire.AnswerReplay || string(got.Result.Body) != `{"id": 9007199254740993}` {
		t.Errorf("after the resolution: %+v", got)
	}
}

func TestADoubtIsReleasedOnceItMay(t *testing.T) {
	r := start(t, "")
	attempt := r.doubt(t)
	r.now = r.now.Add(time.Hour)
	command(t, "in-doubt", "resolve", attempt, "--as", "released", "--server", r.url).wants(t, 0, "released")
}

func TestTheOperatorsTokenComesFromWhereServeTakesIt(t *testing.T) {
	r := start(t, "ada 0perator-t0ken-01")
	command(t, "holds", "list", "--server", r.url).wants(t, 3, "unauthorized")
	command(t, "LEDGERD_TOKEN=0perator-t0ken-01", "holds", "list", "--server", r.url).wants(t, 3, "unauthorized") // that is the filter's
	command(t, "LEDGERD_OPERATOR_TOKEN=0perator-t0ken-01", "holds", "list", "--server", r.url).wants(t, 0)
	tokens := file(t, "tokens", "# the operators'\nada 0perator-t0ken-01\nbob another-t0ken-001\n")
	command(t, "LEDGERD_OPERATOR_TOKEN_FILE="+tokens, "holds", "list", "--server", r.url).wants(t, 0)
	command(t, "LEDGERD_OPERATOR_TOKEN=wrong", "holds", "list", "--server", r.url, "--token-file", tokens).wants(t, 0)
	command(t, "holds", "list", "--server", r.url, "--token", "0perator-t0ken-01").wants(t, 0)
}

func TestALedgerdThatIsNotThereIsNamed(t *testing.T) {
	command(t, "holds", "list", "--server", "http://127.0.0.1:1").wants(t, 1, "http://127.0.0.1:1", "--server")
	command(t, "holds", "list", "--server", "localhost").wants(t, 2, "--server")
}

func TestWithoutAnIDTheListThatShowsThemIsNamed(t *testing.T) {
	for _, verb := range []string{"show", "release", "duplicate", "deny"} {
		command(t, "holds", verb).wants(t, 2, "give the id of one hold: ledgerd holds "+verb+" HOLD", "`ledgerd holds list`")
	}
	command(t, "in-doubt", "show").wants(t, 2, "ledgerd in-doubt show ATTEMPT", "`ledgerd in-doubt list`")
	command(t, "in-doubt", "resolve", "--as", "released").wants(t, 2, "its attempt", "`ledgerd in-doubt list`")
}

// A caller that complains knows the fingerprint: it stands in its reply.
func TestACallIsFoundByItsFingerprintOrTheBeginningOfItsID(t *testing.T) {
	r := start(t, "")
	id := r.hold(t)
	command(t, "holds", "list", "--server", r.url).wants(t, 0, "FINGERPRINT", " 111111111111 ")
	command(t, "holds", "list", "--json", "--server", r.url).wants(t, 0, `"fingerprint":"`+strings.Repeat("1", 64)+`"`)
	command(t, "holds", "show", strings.Repeat("1", 12), "--server", r.url).wants(t, 0, id)
	command(t, "holds", "show", id[:len(id)-1], "--server", r.url).wants(t, 0, id)
	command(t, "holds", "release", strings.Repeat("1", 12), "--server", r.url).wants(t, 0, id)

	other := start(t, "")
	attempt := other.doubt(t)
	command(t, "in-doubt", "list", "--server", other.url).wants(t, 0, "FINGERPRINT", " 111111111111 ")
	command(t, "in-doubt", "resolve", "11111", "--as", "committed", "--server", other.url).wants(t, 0, attempt)
}

func TestABeginningOfTwoIDsMeansNeither(t *testing.T) {
	r := start(t, "")
	r.hold(t)
	one, two := reserve("b1", "x"), reserve("b2", "y")
	one.Fingerprint, two.Fingerprint = "1111"+strings.Repeat("2", 60), "1111"+strings.Repeat("2", 60)
	one.Intent, two.Intent = one.Fingerprint, one.Fingerprint
	r.do(t, one, wire.Op{Kind: wire.OpCommit, Attempt: "b1", Intent: one.Intent, Result: &wire.Result{Status: 200}})
	r.now = r.now.Add(time.Minute)
	if got := r.do(t, two)[0]; got.Kind != wire.AnswerHeld {
		t.Fatalf("answer %+v, want held", got)
	}
	command(t, "holds", "deny", "1111", "--server", r.url).wants(t, 2, "begins 2")
	command(t, "holds", "deny", "11112", "--server", r.url).wants(t, 0, "denied")
}

func TestAnAnswerSaysWhatComesOfIt(t *testing.T) {
	for decision, next := range map[string]string{
		"release": "Send the same call again: it executes once.", "duplicate": "it gets the stored result.", "deny": "refused from now on",
	} {
		r := start(t, "")
		command(t, "holds", decision, r.hold(t), "--server", r.url).wants(t, 0, next)
	}
	r := start(t, "")
	command(t, "in-doubt", "resolve", r.doubt(t), "--as", "committed", "--server", r.url).wants(t, 0, "result_unavailable")
	r = start(t, "")
	attempt := r.doubt(t)
	r.now = r.now.Add(time.Hour)
	command(t, "in-doubt", "resolve", attempt, "--as", "released", "--server", r.url).wants(t, 0, "Send the same call again: it executes.")
}
