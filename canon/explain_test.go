package canon_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"idem/canon"
)

// told writes changes as lines.
func told(changes []canon.Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "%s %s: %s -> %s\n", c.Pointer, c.Rule, c.From, c.To)
	}
	return b.String()
}

func TestExplainTellsEveryChangeWithItsReason(t *testing.T) {
	for _, e := range []struct {
		name     string
		settings canon.Settings
		path     string
		body     string
		want     string
	}{
		{name: "nothing", body: `{"a":1,"b":"x"}`},
		{name: "the refund", path: "/api/invoke", body: `{"tool":"refund","runId":"w","trace_id":"t","args":{"customer":"Ada@Example.com","amount":"$12.00","currency":"usd"}}`, want: `
/runId run: "w" -> 
/trace_id volatile: "t" -> 
/args/customer email: "Ada@Example.com" -> "ada@example.com"
/args/amount money: "$12.00" -> {"amount_minor":1200,"currency":"USD"}
/args/currency currency: "usd" -> 
/args key_order: customer, amount -> amount, customer
`},
		{name: "numbers, escapes, order", body: `{"b":1.50,"a":"\u0041","c":[2e0]}`, want: `
/b number: 1.50 -> 1.5
/a escape: "\u0041" -> "A"
/c/0 number: 2e0 -> 2
 key_order: b, a, c -> a, b, c
`},
		{name: "what is kept though it looks volatile", path: "/approve_request", body: `{"request_id":"1","a":{"trace_id":"t"},"slot":{"timestamp":1,"x":1}}`, want: `
/request_id volatile_kept: "1" -> "1"
/a/trace_id volatile_kept: "t" -> "t"
/slot/timestamp volatile_kept: 1 -> 1
 key_order: request_id, a, slot -> a, request_id, slot
`},
		{name: "what the path is about", path: "/requests/approve", body: `{"request_id":"1","ok":true}`, want: `
/request_id volatile_kept: "1" -> "1"
 key_order: request_id, ok -> ok, request_id
`},
		{name: "a metadata-like object", body: `{"a":1,"meta":{"timestamp":1}}`, want: `
/meta volatile: {"timestamp":1} -> 
`},
		{name: "money that stays raw", body: `{"amount":"1,234","currency":"USD","x":{"amount":1,"amount_minor":100,"currency":"USD"},"y":"12 kr"}`, want: `
/amount money_raw: "1,234" -> "1,234"
/x/amount money_raw: 1 -> 1
/x/amount_minor money_raw: 100 -> 100
/y money_raw: "12 kr" -> "12 kr"
`},
		{name: "texts that stay as they are written", body: `{"old":"$12.00","new":"12 USD","currency":"USD","password":"A@b.io","pin":"$1","b":"A@b.io","a":"a@b.io","x":{"x":"($1)"}}`, want: `
/old money_raw: "$12.00" -> "$12.00"
/new money_raw: "12 USD" -> "12 USD"
/password email_raw: "A@b.io" -> "A@b.io"
/pin money_raw: "$1" -> "$1"
/b email_raw: "A@b.io" -> "A@b.io"
/a email_raw: "a@b.io" -> "a@b.io"
/x/x money_raw: "($1)" -> "($1)"
 key_order: old, new, currency, password, pin, b, a, x -> a, b, currency, new, old, password, pin, x
`},
		{name: "amounts that stay as they are written", body: `{"amount_cents":"$12","fee":1e99,"currency":"USD"}`, want: `
/amount_cents money_raw: "$12" -> "$12"
/fee money_raw: 1e99 -> 1e99
/fee number: 1e99 -> 1e+99
 key_order: amount_cents, fee, currency -> amount_cents, currency, fee
`},
		{name: "a currency that is listed", settings: canon.Settings{Identity: []string{"/sku", "/currency"}}, body: `{"sku":1,"amount":5,"currency":"usd"}`, want: `
 identity: {"sku":1,"amount":5,"currency":"usd"} -> {"/currency":"USD","/sku":1}
/amount money: 5 -> {"amount_minor":500,"currency":"USD"}
/currency currency: "usd" -> "USD"
 key_order: sku, amount -> amount, sku
`},
		{name: "a currency that is listed with its amount", settings: canon.Settings{Identity: []string{"/amount", "/currency"}}, body: `{"amount":5,"currency":"usd"}`, want: `
 identity: {"amount":5,"currency":"usd"} -> {"/amount":{"amount_minor":500,"currency":"USD"}}
/amount money: 5 -> {"amount_minor":500,"currency":"USD"}
/currency currency: "usd" -> 
`},
		{name: "a minor-unit field, an object that is an amount", body: `{"amount_cents":1200,"currency":"USD","fee":{"value":"1","currency":"EUR"}}`, want: `
/amount_cents money: 1200 -> {"amount_minor":1200,"currency":"USD"}
/currency currency: "USD" -> 
/fee money: {"value":"1","currency":"EUR"} -> {"amount_minor":100,"currency":"EUR"}
/fee/currency currency: "EUR" -> 
`},
		{name: "identity", settings: canon.Settings{Identity: []string{"/a"}}, body: `{"a":1,"b":2}`, want: `
 identity: {"a":1,"b":2} -> {"/a":1}
`},
		{name: "a rule's names", settings: canon.Settings{Drop: []string{"attempt"}, Keep: []string{"timestamp"}}, body: `{"attempt":1,"timestamp":2,"x":1}`, want: `
/attempt volatile: 1 -> 
/timestamp volatile_kept: 2 -> 2
`},
		{name: "the endpoint", path: "/%61b?b=1&a=2", body: `{}`, want: `
 endpoint: /%61b -> /ab
 endpoint: b=1&a=2 -> a=2&b=1
`},
		{name: "an endpoint of any bytes", path: "/pay?" + strings.Repeat("\x9b", 200), body: `{}`, want: `
 endpoint: ` + strings.Repeat("\x9b", 116) + `… -> ` + strings.Repeat("%9B", 40) + `…
`},
		{name: "MCP", settings: canon.Settings{Protocol: canon.MCP}, body: mcp("7", `{"name":"f","arguments":{"request_id":1,"trace_id":2},"_meta":{"x":1}}`), want: `
/id mcp: 7 -> 
/params/arguments/request_id volatile_kept: 1 -> 1
/params/arguments/trace_id volatile: 2 -> 
/params/_meta mcp: {"x":1} -> 
`},
		{name: "a continuation", settings: canon.Settings{Protocol: canon.MCP}, body: mcp("7", `{"name":"f","inputResponses":{"trace_id":1,"c":{"run_id":2}},"requestState":"A@b.io"}`), want: `
/id mcp: 7 -> 
/params/inputResponses/trace_id volatile_kept: 1 -> 1
/params/inputResponses/c/run_id volatile_kept: 2 -> 2
/params/inputResponses key_order: trace_id, c -> c, trace_id
/params/requestState email_raw: "A@b.io" -> "A@b.io"
`},
		{name: "a form", settings: canon.Settings{Protocol: canon.Form}, body: `to=A%40b.io&request_id=1`, want: `
 form: to=A%40b.io&request_id=1 -> {"request_id":"1","to":"A@b.io"}
/request_id volatile: 1 -> 
/to email: A%40b.io -> "a@b.io"
`},
		{name: "long values are abbreviated", body: `{"b":"` + strings.Repeat("é", 200) + `\u0041","a":1}`, want: `
/b escape: "` + strings.Repeat("é", 59) + `… -> "` + strings.Repeat("é", 59) + `…
 key_order: b, a -> a, b
`},
	} {
		t.Run(e.name, func(t *testing.T) {
			path := e.path
			if path == "" {
				path = "/pay"
			}
			a, err := reader(t, e.settings).Explain(post(e.settings.Protocol, path, e.body))
			if err != nil {
				t.Fatal(err)
			}
			if got := told(a.Changes); got != strings.TrimPrefix(e.want, "\n") {
				t.Errorf("\n%swant%s", got, e.want)
			}
			for _, c := range a.Changes {
				if c.Why == "" || strings.HasSuffix(c.Why, ".") {
					t.Errorf("%+v does not say why", c)
				}
			}
		})
	}
}

func TestExplanationsOfHugeBodiesStayReadable(t *testing.T) {
	a, err := reader(t, canon.Settings{}).Explain(post("", "/x", "["+strings.Repeat("1.0,", 5000)+"1]"))
	if err != nil || len(a.Changes) != 1001 || a.Changes[1000].Rule != "more" {
		t.Errorf("%d changes, %v", len(a.Changes), err)
	}
}

func TestCompareSaysByPointerWhyTwoCallsAreOrAreNotOne(t *testing.T) {
	line := func(differences []canon.Difference) string {
		var b strings.Builder
		for _, d := range differences {
			word := "same"
			if d.Counts {
				word = "differs"
			}
			fmt.Fprintf(&b, "%s %s: %s | %s\n", d.Pointer, word, d.A, d.B)
			if d.Why == "" {
				b.WriteString("(no reason)\n")
			}
		}
		return b.String()
	}
	for _, p := range []struct{ name, a, b, want string }{
		{"alike", `{"tool":"f","args":{"x":1}}`, `{"args":{"x":1},"tool":"f"}`, ``},
		{"one refund, written differently", `{"tool":"refund","runId":"a","args":{"customer":"Ada@Example.com","amount":"$12.00","currency":"usd"}}`,
			`{"tool":"refund","trace_id":"t","args":{"customer":"ada@example.com","amount":"1200 cents"}}`, `
/args/amount same: "$12.00" | "1200 cents"
/args/currency same: "usd" | 
/args/customer same: "Ada@Example.com" | "ada@example.com"
/beside/runId same: "a" | 
/beside/trace_id same:  | "t"
`},
		{"two refunds", `{"tool":"refund","args":{"customer":"ada@example.com","amount":"$12.00","list":[1,2]},"dry_run":true}`,
			`{"tool":"refund","args":{"customer":"bob@example.com","amount":"12.01 USD","list":[1,3,"x"],"memo":null}}`, `
/args/amount/amount_minor differs: 1200 | 1201
/args/customer differs: "ada@example.com" | "bob@example.com"
/args/list/1 differs: 2 | 3
/args/list/2 differs:  | "x"
/args/memo differs:  | null
/beside differs: {"dry_run":true} | 
`},
		{"another tool", `{"tool":"refund","args":{"x":1.0}}`, `{"tool":"charge","args":{"x":1}}`, `
/endpoint/tool differs: "refund" | "charge"
/args/x same: 1.0 | 1
`},
		{"the whole body is the args", `{"x":1.0,"request_id":1}`, `{"x":"1"}`, `
/args/x differs: 1 | "1"
/args/request_id same: 1 | 
`},
	} {
		t.Run(p.name, func(t *testing.T) {
			c := reader(t, canon.Settings{})
			a, b := read(t, c, post("", "/x", p.a)), read(t, c, post("", "/x", p.b))
			got := canon.Compare(a, b)
			if line(got) != strings.TrimPrefix(p.want, "\n") {
				t.Errorf("\n%swant%s", line(got), p.want)
			}
			counts := false
			for _, d := range got {
				counts = counts || d.Counts
			}
			if counts == (a.Fingerprint == b.Fingerprint) {
				t.Error("the differences do not tell what the fingerprints do")
			}
		})
	}
	for _, p := range []struct{ a, b, pointer, why string }{
		{`{"amount":"1,234 USD"}`, `{"amount":"1234 USD"}`, "/args/amount", "no rule can tell"},
		{`{"amount":"12 USD"}`, `{"amount":"12 kr"}`, "/args/amount", "symbols in the rule"},
		{`{"slot":{"timestamp":1,"x":1}}`, `{"slot":{"timestamp":2,"x":1}}`, "/args/slot/timestamp", "volatile in other places"},
		{`{"a":"1,234"}`, `{"a":"1234"}`, "/args/a", "the texts differ"},
	} {
		c := reader(t, canon.Settings{})
		got := canon.Compare(read(t, c, post("", "/x", p.a)), read(t, c, post("", "/x", p.b)))
		if len(got) != 1 || got[0].Pointer != p.pointer || !strings.Contains(got[0].Why, p.why) {
			t.Errorf("%s and %s: %+v, want %s at %s", p.a, p.b, got, p.why, p.pointer)
		}
	}
	if got := canon.Compare(read(t, reader(t, canon.Settings{}), by("authorization", "Bearer a")), read(t, reader(t, canon.Settings{}), by("x-tenant-id", "t"))); len(got) != 2 {
		t.Errorf("%+v", got)
	}
}

func TestNewReportsEveryMistakeAtOnce(t *testing.T) {
	_, err := canon.New(canon.Settings{
		Protocol: "xml", Tool: &canon.Source{}, Args: &canon.Source{Header: "x"}, Run: []canon.Source{{Pointer: "run"}, {Pointer: "/a", Header: "b"}},
		Scope: []canon.Source{{Header: "a b"}, {Cookie: "a=b"}}, ScopeNone: true, Headers: []string{"", "x:y"}, Drop: []string{"", "/a", "é", "x_y"}, Keep: []string{"xY"},
		Identity: []string{"/a", "/~2", "/a"}, Money: []canon.MoneyField{{Unit: "cents", Currency: "usd"}}, Symbols: map[string]string{"": "USD", "kr": "kr"},
		Customer: []string{"customer"}, Amount: []string{"~"},
	}, canon.Key{ID: "k"})
	var pointers []string
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("%v joins nothing", err)
	}
	for _, err := range joined.Unwrap() {
		var one *canon.SettingError
		if !errors.As(err, &one) {
			t.Fatal(err)
		}
		pointers = append(pointers, one.Pointer)
	}
	want := "/args /headers/0 /headers/1 /identity/1 /identity/2 /intent/amount/0 /intent/customer/0 /key /money/0/currency /money/0/pointer /money/0/unit /protocol /run/0/pointer /run/1 " +
		"/scope/0/header /scope/1/cookie /scope /symbols/ /symbols/kr /tool /volatile/drop/0 /volatile/drop/1 /volatile/drop/2 /volatile/drop/3"
	if got := strings.Join(pointers, " "); got != want {
		t.Errorf("\n%s, want\n%s\n%v", got, want, err)
	}
	if _, err := canon.New(canon.Settings{Protocol: canon.MCP, Args: &canon.Source{Pointer: "/a"}}, canon.Key{}); err == nil {
		t.Error("MCP with args elsewhere is no mistake")
	}
}

func TestSettingsThatMeanTheSameHashTheSame(t *testing.T) {
	call := post("", "/x", `{"x":1}`)
	settings := func(s canon.Settings) string { return string(read(t, reader(t, s), call).Canonical) }
	plain := settings(canon.Settings{})
	for _, s := range []canon.Settings{{Protocol: canon.JSON}, {Headers: []string{"X-Org-ID", "stripe-account"}}, {Symbols: map[string]string{"$": "USD"}}, {Scope: []canon.Source{}}} {
		if settings(s) != plain {
			t.Errorf("%+v is not the default", s)
		}
	}
	if settings(canon.Settings{Drop: []string{"a_b", "c"}, Money: []canon.MoneyField{{Pointer: "/a"}, {Pointer: "/b", Unit: "minor"}}}) !=
		settings(canon.Settings{Drop: []string{"c", "aB", "C"}, Money: []canon.MoneyField{{Pointer: "/b", Unit: "minor"}, {Pointer: "/a", Unit: "major"}}}) {
		t.Error("order and key style count in settings")
	}
	seen := map[string]bool{plain: true}
	for _, s := range []canon.Settings{{ScopeNone: true}, {Scope: []canon.Source{{Value: "none"}}}, {Keep: []string{"x"}}, {Drop: []string{"x"}}, {Headers: []string{"x"}}, {Customer: []string{"/x"}},
		{Amount: []string{"/x"}}, {Money: []canon.MoneyField{{Pointer: "/x"}}}, {Symbols: map[string]string{"$": ""}}, {Symbols: map[string]string{"kr": "SEK"}}, {Run: []canon.Source{{Header: "x"}}}, {Run: []canon.Source{{Cookie: "x"}}}} {
		if got := settings(s); seen[got] {
			t.Errorf("%+v hashes like others", s)
		} else {
			seen[got] = true
		}
	}
}

func TestReadersMayBeUsedByManyAtOnce(t *testing.T) {
	c := reader(t, canon.Settings{})
	want := map[string]string{}
	for n := range 8 {
		body := fmt.Sprintf(`{"customer":"c%d","amount":"\u0024%d","x":"\u0041%d"}`, n, n, n)
		want[body] = read(t, c, post("", "/x", body)).Fingerprint
	}
	done := make(chan error)
	for body, fingerprint := range want {
		go func() {
			for range 200 {
				if a, err := c.Read(post("", "/x", body)); err != nil || a.Fingerprint != fingerprint {
					done <- fmt.Errorf("%s: %s, %w", body, a.Fingerprint, err)
					return
				}
			}
			done <- nil
		}()
	}
	for range want {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestLongTextsAreShownWhereTheyPart: of two letters that differ in their last word, the last words are shown.
func TestLongTextsAreShownWhereTheyPart(t *testing.T) {
	c := reader(t, canon.Settings{})
	for _, same := range []int{0, 1, 50, 99, 100, 101, 119, 120, 500, 70_000} {
		for _, tail := range []int{0, 1, 500} {
			letter := func(word string) canon.Action {
				a, err := c.Explain(post("", "/send", `{"b":1,"text":"`+strings.Repeat("é", same)+word+strings.Repeat("z", tail)+`"}`))
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			got := canon.Compare(letter("X"), letter("Y"))
			if len(got) != 1 || !strings.Contains(got[0].A, "X") || !strings.Contains(got[0].B, "Y") || len(got[0].A) > 130 || !utf8.ValidString(got[0].A) {
				t.Errorf("%d alike, %d behind: %+v", same, tail, got)
			}
		}
	}
	if got := canon.Compare(read(t, c, post("", "/send", `{"a":"`+strings.Repeat("é", 200)+`"}`)), read(t, c, post("", "/send", `{"b":1}`))); len(got) != 2 || got[0].B != "" {
		t.Errorf("what is there on one side only: %+v", got)
	}
}
