package explain_test

import (
	"strings"
	"testing"

	"idem/canon"
	"idem/ledgerd/explain"
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
