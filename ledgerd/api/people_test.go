package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/api"
	"idem/ledgerd/wire"
)

type holdJSON struct {
	ID, State, Reason, Tool string
	Version                 int64
	Differences             []struct{ Pointer, A, B string }
	Audit                   []struct{ By, What, Reason string }
}

func TestAHoldShowsHowItsCallDiffers(t *testing.T) {
	f := start(t, nil)
	id := f.hold("1")
	var list struct{ Holds []holdJSON }
	f.get("/api/holds").into(t, &list)
	if len(list.Holds) != 1 || list.Holds[0].ID != id || list.Holds[0].Reason != "new_run" {
		t.Fatalf("holds %+v", list)
	}
	differs := list.Holds[0].Differences
	if len(differs) != 1 || differs[0].Pointer != "/args/run" || differs[0].A != `"a"` || differs[0].B != `"b"` {
		t.Fatalf("differences %+v", differs)
	}
	var one holdJSON
	f.get("/api/holds/"+id).into(t, &one)
	if one.ID != id || len(one.Differences) != 1 {
		t.Fatalf("hold %+v", one)
	}
}

func TestAReleasedHoldExecutesOnceAndIsNotAnsweredAgain(t *testing.T) {
	f := start(t, func(c *api.Config) { c.Operators = tokens(t, "ada 0perator-t0ken-01", "operator") })
	id := f.hold("1")
	as := []string{"content-type", asJSON, "authorization", "Bearer 0perator-t0ken-01"}
	r := send(t, "POST", f.admin.URL+"/api/release", fmt.Sprintf(`{"id":%q,"reason":"two parcels"}`, id), as...)
	var h holdJSON
	r.into(t, &h)
	if !strings.Contains(string(r.body), `"next":"Send the same call again: it executes once."`) {
		t.Errorf("the answer does not say what comes of it: %s", r.body)
	}
	if r.status != 200 || h.State != "approved" || len(h.Audit) != 1 || h.Audit[0].By != "ada" || h.Audit[0].Reason != "two parcels" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if got := f.ops(reserve("third", "b", "1"))[0]; got.Kind != wire.AnswerExecute || got.ApprovedBy != id {
		t.Fatalf("answer %+v, want execute by the hold's release", got)
	}
	for _, path := range []string{"release", "deny", "duplicate"} {
		if r := send(t, "POST", f.admin.URL+"/api/holds/"+id+"/"+path, "", as...); r.status != 409 || r.code(t) != "conflict" {
			t.Errorf("%s of an answered hold: %d %s", path, r.status, r.body)
		}
	}
}

func TestDuplicateGivesTheStoredResultAndDenyNone(t *testing.T) {
	f := start(t, nil)
	if r := f.post("/api/holds/"+f.hold("1")+"/duplicate", ""); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if got := f.ops(reserve("x", "b", "1"))[0]; got.Kind != wire.AnswerReplay || string(got.Result.Body) != "done" {
		t.Errorf("after duplicate: %+v", got)
	}
	if r := f.post("/api/holds/"+f.hold("2")+"/deny", `{"reason":"no"}`); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if got := f.ops(reserve("y", "b", "2"))[0]; got.Kind != wire.AnswerDenied {
		t.Errorf("after deny: %+v", got)
	}
}

func TestAnAnswerToAnotherVersionIsAConflict(t *testing.T) {
	f := start(t, nil)
	id := f.hold("1")
	if r := f.post("/api/holds/"+id+"/release", `{"version":99}`); r.status != 409 || r.code(t) != "conflict" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	var h holdJSON
	f.get("/api/holds/"+id).into(t, &h)
	if r := f.post("/api/holds/"+id+"/release", fmt.Sprintf(`{"version":%d}`, h.Version)); r.status != 200 {
		t.Fatalf("its own version: %d %s", r.status, r.body)
	}
}

func TestADoubtIsReleasedOnlyOnceItsExecutionCannotRun(t *testing.T) {
	f := start(t, nil)
	attempt := f.doubt("1")
	var list struct {
		InDoubt []struct{ Attempt string } `json:"in_doubt"`
	}
	f.get("/api/in-doubt").into(t, &list)
	if len(list.InDoubt) != 1 || list.InDoubt[0].Attempt != attempt {
		t.Fatalf("in doubt %+v", list)
	}
	r := f.post("/api/in-doubt/"+attempt+"/resolve", `{"as":"released"}`)
	var p struct {
		RetryAfterMS int64 `json:"retry_after_ms"`
		Retryable    bool
	}
	r.into(t, &p)
	if r.status != 409 || r.code(t) != "conflict" || p.RetryAfterMS <= 0 || !p.Retryable || r.header.Get("Retry-After") == "" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	f.clock.pass(time.Duration(p.RetryAfterMS) * time.Millisecond)
	if r := f.post("/api/in-doubt/"+attempt+"/resolve", `{"as":"released","reason":"the provider has none"}`); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if got := f.ops(reserve("again", "a", "1"))[0]; got.Kind != wire.AnswerExecute {
		t.Fatalf("answer %+v, want execute", got)
	}
}

func TestADoubtResolvedAsCommittedReplaysWhatWasGiven(t *testing.T) {
	f := start(t, nil)
	for digit, c := range map[string]struct{ result, body, kind string }{
		"1": {`{"json":{"refund_id":9007199254740993}}`, `{"refund_id":9007199254740993}`, "application/json"},
		"2": {`{"body":"ok","status":201,"headers":{"Content-Type":"text/plain"}}`, "ok", "text/plain"},
		"3": {`{"body_base64":"AAE="}`, "\x00\x01", ""},
	} {
		attempt := f.doubt(digit)
		if r := f.post("/api/in-doubt/"+attempt+"/resolve", `{"as":"committed","result":`+c.result+`}`); r.status != 200 {
			t.Fatalf("%s: %d %s", c.result, r.status, r.body)
		}
		got := f.ops(reserve("then-"+digit, "a", digit))[0]
		if got.Kind != wire.AnswerReplay || got.Result == nil || string(got.Result.Body) != c.body {
			t.Fatalf("%s: %+v", c.result, got)
		}
		kind := ""
		for _, h := range got.Result.Headers {
			if h[0] == "content-type" {
				kind = h[1]
			}
		}
		if kind != c.kind {
			t.Errorf("%s: content-type %q, want %q", c.result, kind, c.kind)
		}
	}
}

func TestABadResolutionIsRefusedByTheMemberThatIsWrong(t *testing.T) {
	f := start(t, nil)
	attempt := f.doubt("1")
	for body, pointer := range map[string]string{
		`{}`:                             "/as",
		`{"as":"maybe"}`:                 "/as",
		`{"as":"released","result":{}}`:  "/result",
		`{"as":"committed","resutl":{}}`: "/resutl",
		`{"as":"committed","result":7}`:  "/result",
		`[]`:                             "",
		`{"as":1}`:                       "/as",
		`{"as":"committed","as":"x"}`:    "/as",
		`{"as":"committed","result":{"status":500}}`:                       "/result/status",
		`{"as":"committed","result":{"body":"x","json":1}}`:                "/result",
		`{"as":"committed","result":{"body_base64":"!"}}`:                  "/result/body_base64",
		`{"as":"committed","result":{"headers":{"x-idem-outcome":"x"}}}`:   "/result/headers",
		`{"as":"committed","result":{"headers":{"a b":"x"}}}`:              "/result/headers",
		`{"as":"committed","result":{"headers":{"location":"x\r\ny: z"}}}`: "/result/headers",
	} {
		r := f.post("/api/in-doubt/"+attempt+"/resolve", body)
		var p struct{ Pointer string }
		r.into(t, &p)
		if r.status != 400 || r.code(t) != "malformed_request" || p.Pointer != pointer {
			t.Errorf("%s: %d, pointer %q, want 400, %q: %s", body, r.status, p.Pointer, pointer, r.body)
		}
	}
	if got := f.ops(reserve("still", "a", "1"))[0]; got.Kind != wire.AnswerInDoubt {
		t.Errorf("a refused resolution changed the row: %+v", got)
	}
}

func TestWhatIsNotThereIs404(t *testing.T) {
	f := start(t, nil)
	for _, path := range []string{"/api/holds/none", "/api/in-doubt/none", "/api/rows/none", "/api/nothing"} {
		if r := f.get(path); r.status != 404 || r.code(t) != "not_found" {
			t.Errorf("GET %s: %d %s", path, r.status, r.body)
		}
	}
	for path, body := range map[string]string{
		"/api/holds/none/release": "", "/api/in-doubt/none/resolve": `{"as":"released"}`, "/api/nothing": "", "/api/release": `{"id":"none"}`,
	} {
		if r := f.post(path, body); r.status != 404 || r.code(t) != "not_found" {
			t.Errorf("POST %s: %d %s", path, r.status, r.body)
		}
	}
	if r := f.post("/api/release", `{}`); r.status != 400 {
		t.Errorf("release without an id: %d %s", r.status, r.body)
	}
	if r := f.get("/api/release"); r.status != 405 || r.code(t) != "method_not_allowed" || r.header.Get("Allow") != "POST" {
		t.Errorf("GET /api/release: %d %s", r.status, r.body)
	}
}

func TestARowTellsItsHistory(t *testing.T) {
	f := start(t, nil)
	f.ops(reserve("a1", "r", "1"), commit("a1", "1", "done"))
	var row struct {
		State, Tool string
		Status      int
		History     []struct{ State string }
	}
	f.get("/api/rows/a1").into(t, &row)
	if row.State != "committed" || row.Status != 201 || row.Tool != "refund" || len(row.History) != 2 {
		t.Fatalf("row %+v", row)
	}
}

func TestResetForgetsOnlyWhereItIsAllowed(t *testing.T) {
	f := start(t, nil)
	f.ops(reserve("a1", "r", "1"), commit("a1", "1", "done"))
	if r := f.post("/api/reset", ""); r.status != 403 || r.code(t) != "reset_not_allowed" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if got := f.ops(reserve("a2", "r", "1"))[0]; got.Kind != wire.AnswerReplay {
		t.Fatalf("a refused reset forgot: %+v", got)
	}
	g := start(t, func(c *api.Config) { c.AllowReset = true })
	g.ops(reserve("a1", "r", "1"), commit("a1", "1", "done"))
	if r := g.post("/api/reset", ""); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if got := g.ops(reserve("a2", "r", "1"))[0]; got.Kind != wire.AnswerExecute {
		t.Fatalf("after a reset: %+v", got)
	}
}

func TestListsAreLimited(t *testing.T) {
	f := start(t, nil)
	f.hold("1")
	f.hold("2")
	var list struct{ Holds []holdJSON }
	f.get("/api/holds?limit=1").into(t, &list)
	if len(list.Holds) != 1 {
		t.Errorf("limit=1 gave %d", len(list.Holds))
	}
	for _, text := range []string{"0", "1001", "x", "-1"} {
		for _, path := range []string{"/api/holds", "/api/in-doubt", "/api/state"} {
			if r := f.get(path + "?limit=" + text); r.status != 400 || !strings.Contains(string(r.body), "1 to 1000") {
				t.Errorf("%s?limit=%s: %d %s", path, text, r.status, r.body)
			}
		}
	}
}

func TestAnAdminBodyIsBounded(t *testing.T) {
	f := start(t, func(c *api.Config) { c.Limits.AdminBytes = 100 })
	if r := f.post("/api/release", `{"id":"`+strings.Repeat("x", 200)+`"}`); r.status != 413 || r.code(t) != "body_too_large" {
		t.Fatalf("%d %s", r.status, r.body)
	}
}

func TestExplainSaysWhyTwoBodiesAreOneCall(t *testing.T) {
	f := start(t, nil)
	var report struct {
		Same    bool
		Verdict string
		A       struct{ Fingerprint string }
	}
	r := f.post("/api/explain", `{"a":{"body":"{\"tool\":\"refund\",\"args\":{\"amount\":\"$12.00\"}}"},"b":{"body":"{\"args\":{\"amount\":\"1200 cents\"},\"tool\":\"refund\"}"}}`)
	r.into(t, &report)
	if r.status != 200 || !report.Same || len(report.A.Fingerprint) != 64 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := f.post("/api/explain", `{}`); r.status != 400 {
		t.Errorf("without a call: %d %s", r.status, r.body)
	}
	if r := f.post("/api/explain", `{"a":{"rule":"nope","body":"{}"}}`); r.status != 400 || !strings.Contains(string(r.body), "nope") {
		t.Errorf("a rule that there is not: %d %s", r.status, r.body)
	}
}

func TestAReasonThatTheAuditWouldCutIsRefused(t *testing.T) {
	f := start(t, nil)
	hold, long := f.hold("1"), fmt.Sprintf(`{"reason":%q}`, strings.Repeat("y", 1025))
	for _, path := range []string{"/api/holds/" + hold + "/release", "/api/in-doubt/any/resolve"} {
		r := f.post(path, strings.Replace(long, "{", `{"as":"released",`, strings.Count(path, "in-doubt")))
		if r.status != 400 || !strings.Contains(string(r.body), "the reason has 1025 bytes: want at most 1024") {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	if r := f.post("/api/holds/"+hold+"/release", fmt.Sprintf(`{"reason":%q}`, strings.Repeat("y", 1024))); r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
}
