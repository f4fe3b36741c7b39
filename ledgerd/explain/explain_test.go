package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"idem/canon"
	"idem/ledgerd/explain"
	"idem/ledgerd/wire"
)

func defaults(t *testing.T) *explain.Explainer {
	t.Helper()
	x, err := explain.ByDefaults(canon.Settings{}, canon.Key{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestTwoBodiesAreToldApart(t *testing.T) {
	a := `{"tool":"refund","args":{"customer":"Ada@Example.com","amount":"$12.00","note":"x"}}`
	for name, c := range map[string]struct {
		b                string
		same, sameIntent bool
		verdict          string
		pointer          string // of the first difference
		counts           bool
	}{
		"another spelling": {`{"args":{"note":"x","amount":"1200 cents","customer":"ada@example.com"},"tool":"refund"}`, true, true, "One call", "/args/amount", false},
		"another note":     {`{"tool":"refund","args":{"customer":"ada@example.com","amount":"$12.00","note":"y"}}`, false, true, "Near-duplicates", "/args/note", true},
		"another amount":   {`{"tool":"refund","args":{"customer":"ada@example.com","amount":"$12.01","note":"x"}}`, false, false, "Two calls: one thing differs", "/args/amount/amount_minor", true},
		"malformed":        {`{"tool":"refund",`, false, false, "The second is refused", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := defaults(t).Compare(explain.Call{Body: a}, explain.Call{Body: c.b})
			if err != nil {
				t.Fatal(err)
			}
			if r.Same != c.same || r.SameIntent != c.sameIntent || !strings.HasPrefix(r.Verdict, c.verdict) {
				t.Fatalf("same %v, intent %v, %q", r.Same, r.SameIntent, r.Verdict)
			}
			if c.pointer != "" && (len(r.Differences) == 0 || r.Differences[0].Pointer != c.pointer || r.Differences[0].Counts != c.counts || r.Differences[0].Why == "") {
				t.Errorf("differences %+v", r.Differences)
			}
		})
	}
}

func TestACallThatIsRefusedSaysWhere(t *testing.T) {
	r, err := defaults(t).Explain(explain.Call{Body: `{"a":1,"a":2}`})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.A.Problem; p == nil || p.Code != "malformed_body" || p.Pointer != "/a" || p.Offset <= 0 || r.A.Fingerprint != "" {
		t.Fatalf("form %+v, problem %+v", r.A, r.A.Problem)
	}
}

func TestDifferencesNameTheSmallestParts(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		want []explain.Written
	}{
		"equal":     {`{"a":1}`, `{ "a": 1 }`, []explain.Written{}},
		"nested":    {`{"a":{"b/c":1,"d":[1,2]}}`, `{"a":{"b/c":2,"d":[1]}}`, []explain.Written{{"/a/b~1c", "1", "2"}, {"/a/d/1", "2", ""}}},
		"null":      {`{"a":null}`, `{}`, []explain.Written{{"/a", "null", ""}}},
		"big":       {`9007199254740993`, `9007199254740992`, []explain.Written{{"", "9007199254740993", "9007199254740992"}}},
		"markup":    {`"<b>"`, `"&"`, []explain.Written{{"", `"<b>"`, `"&"`}}},
		"not JSON":  {`{`, `{}`, []explain.Written{{"", "{", "{}"}}},
		"not, both": {`{`, `{`, []explain.Written{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := explain.Differences([]byte(c.a), []byte(c.b))
			if len(got) != len(c.want) || got == nil {
				t.Fatalf("%+v, want %+v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("%+v, want %+v", got[i], c.want[i])
				}
			}
		})
	}
}

// by reads every call by one rule with these terms and settings.
func by(t *testing.T, settings canon.Settings, change func(*wire.Rule)) *explain.Explainer {
	t.Helper()
	settings.Rule = "one"
	form, err := canon.New(settings, canon.Key{})
	if err != nil {
		t.Fatal(err)
	}
	terms := wire.DefaultRule()
	if change != nil {
		change(&terms)
	}
	choose := func(c explain.Call) (explain.Reader, error) {
		return explain.Reader{Rule: "one", Form: form, Terms: terms, Protocol: settings.Protocol, Call: c}, nil
	}
	return explain.New(choose, []explain.Rule{{Name: "one"}}, false)
}

func TestTheVerdictSaysWhatHappensToTheTwoRuns(t *testing.T) {
	call := func(run, note string) explain.Call {
		head := ""
		if run != "" {
			head = `"runId":"` + run + `",`
		}
		return explain.Call{Body: `{"tool":"refund",` + head + `"args":{"customer":"a@b.com","amount":"$1","note":"` + note + `"}}`}
	}
	hold := func(r *wire.Rule) { r.OnAbsentRun = wire.PolicyHold }
	execute := func(r *wire.Rule) { r.OnNewRun, r.OnSameIntent = wire.PolicyExecute, wire.PolicyExecute }
	join := func(r *wire.Rule) { r.OnNewRun = wire.PolicyJoin }
	none := func(r *wire.Rule) { r.HorizonMS, r.WindowMS = 0, 0 }
	for _, c := range []struct {
		name   string
		a, b   explain.Call
		change func(*wire.Rule)
		want   string
	}{
		{"near, no runs", call("", "x"), call("", "y"), nil, "Neither names a run, so both execute (on_absent_run: execute)."},
		{"near, no runs, hold", call("", "x"), call("", "y"), hold, "the second is held, if it comes within 24h, until a person answers (on_absent_run: hold)."},
		{"near, one run", call("r", "x"), call("r", "y"), nil, "Both are of one run, which means what it says, so both execute."},
		{"near, two runs", call("r", "x"), call("s", "y"), nil, "The second names another run than the first: it is held, if it comes within 24h, until a person answers (on_same_intent: hold)."},
		{"near, two runs, execute", call("r", "x"), call("s", "y"), execute, "both execute (on_same_intent: execute)."},
		{"near, absent after a run", call("r", "x"), call("", "y"), nil, "The other way round the first names a run, the second does not: it is held"},
		{"near, no horizon", call("r", "x"), call("s", "y"), none, "Both execute (near_duplicates.horizon: 0s)."},
		{"same, no runs", call("", "x"), call("", "x"), nil, "Neither names a run, so the second gets the result of the first (replay)."},
		{"same, one run", call("r", "x"), call("r", "x"), hold, "Both are of one run, so the second gets the result of the first (replay)."},
		{"same, two runs", call("r", "x"), call("s", "x"), nil, "within 5s of its arrival (near_duplicates.window); later it is held until a person answers (on_new_run: hold)."},
		{"same, two runs, no window", call("r", "x"), call("s", "x"), none, "The second names another run than the first: it is held"},
		{"same, two runs, join", call("r", "x"), call("s", "x"), join, "(on_new_run: join)."},
		{"same, two runs, execute", call("r", "x"), call("s", "x"), execute, "later it executes again (on_new_run: execute)."},
		{"same, absent after a run", call("r", "x"), call("", "x"), nil, "The second names no run, so it gets the result of the first (replay). The other way round"},
	} {
		r, err := by(t, canon.Settings{}, c.change).Compare(c.a, c.b)
		if err != nil || !strings.Contains(r.Verdict, c.want) {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, r.Verdict, c.want)
		}
	}
}

func TestPointersLeadIntoTheBodyInEveryTable(t *testing.T) {
	a := `{"customer":"A@b.com","amount":"$1","request_id":"1"}`
	b := `{"customer":"a@b.com","amount":"$2","request_id":"2"}`
	r, err := by(t, canon.Settings{}, nil).Compare(explain.Call{Path: "/tools/refund", Body: a}, explain.Call{Path: "/tools/refund?x=1", Body: b})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, d := range r.Differences {
		got[d.Part+":"+d.Pointer] = d.Counts
	}
	for place, counts := range map[string]bool{":/amount/amount_minor": true, ":/customer": false, "endpoint/query:": true} {
		if c, there := got[place]; !there || c != counts {
			t.Errorf("%s is not among the differences %v", place, got)
		}
	}
	r, err = by(t, canon.Settings{Protocol: canon.MCP}, nil).Compare(mcp(1), mcp(2))
	if err != nil || len(r.Differences) == 0 || r.Differences[0].Pointer != "/params/arguments/n" {
		t.Errorf("an MCP call's differences: %v, %+v, %+v", err, r.Differences, r.A.Problem)
	}
}

func mcp(n int) explain.Call {
	return explain.Call{Body: fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":%d}}}`, n)}
}

// What the hint says must be so: the setting that it names makes the two calls one.
func TestAFieldThatIsKeptSaysWhichSettingLeavesItOut(t *testing.T) {
	for _, c := range []struct {
		a, b, want string
		mend       canon.Settings
	}{
		{`{"customer":"a@b.com","runId":"1"}`, `{"customer":"a@b.com","runId":"2"}`, `"run": [{"header": "x-idem-run"}, {"pointer": "/runId"}]`,
			canon.Settings{Run: []canon.Source{{Header: "x-idem-run"}, {Pointer: "/runId"}}}},
		{`{"customer":"a@b.com","runId":"1"}`, `{"customer":"a@b.com","runId":"2"}`, `"volatile": {"drop": ["runId"]}`, canon.Settings{Drop: []string{"runId"}}},
		{`{"items":[{"n":1,"request_id":"1"}]}`, `{"items":[{"n":1,"request_id":"2"}]}`, `"volatile": {"drop": ["request_id"]}`, canon.Settings{Drop: []string{"request_id"}}},
	} {
		one, other := explain.Call{Path: "/tools/refund", Body: c.a}, explain.Call{Path: "/tools/refund", Body: c.b}
		r, err := by(t, canon.Settings{}, nil).Compare(one, other)
		if err != nil || r.Same || len(r.Differences) != 1 || !strings.Contains(r.Differences[0].Setting, c.want) {
			t.Errorf("%s: %v, %+v", c.a, err, r)
		}
		if r, err = by(t, c.mend, nil).Compare(one, other); err != nil || !r.Same {
			t.Errorf("%s with %s: two calls all the same (%v)", c.a, c.want, err)
		}
	}
}
