package canon_test

import (
	"strings"
	"testing"

	"idem/canon"
)

// TestATextThatMayBeAnythingIsMoneyOnlyInItsPlainSpelling holds to what is written in fields that nothing calls money.
func TestATextThatMayBeAnythingIsMoneyOnlyInItsPlainSpelling(t *testing.T) {
	for _, f := range []family{
		{name: "plain spellings are read in any field",
			same: []string{`{"note":"$12.00"}`, `{"note":"12.00 USD"}`, `{"note":"1200 cents"}`, `{"note":"US$ 12"}`, `{"note":"$12"}`, `{"note":"12 $"}`, `{"note":"USD 12"}`}},
		{name: "with a sign in front, with groups",
			same:   []string{`{"note":"-$1,234.50"}`, `{"note":"-1,234.50 USD"}`, `{"note":"$-1234.5"}`, `{"note":"\u22121.234,50 USD"}`, `{"note":"-1\u202f234,50\u00a0USD"}`},
			others: []string{`{"note":"(1,234.50 USD)"}`, `{"note":"1,234.50- USD"}`, `{"note":"- $1,234.50"}`}},
		{name: "of a pattern's replacements each is its own",
			same: []string{`{"text":"$1"}`}, others: []string{`{"text":"$1 "}`, `{"text":"$1\n"}`, `{"text":" $1"}`, `{"text":"$01"}`, `{"text":"1$"}`, `{"text":"($1)"}`, `{"text":"-$1"}`,
				`{"text":"$1-"}`, `{"text":"$(1)"}`, `{"text":"$  1"}`, `{"text":"- $1"}`}},
		{name: "a line's end counts in a content", same: []string{`{"content":"€1.50"}`}, others: []string{`{"content":"€1.50\n"}`, `{"content":"\t€1.50"}`, `{"content":"\u00a0€1.50"}`}},
		{name: "a code that is a product too is none where nothing says money", same: []string{`{"runtime":"PHP 8.1"}`},
			others: []string{`{"runtime":"PHP 8.10"}`, `{"runtime":"8.1 PHP"}`, `{"runtime":"PHP8.1"}`, `{"runtime":"₱8.10"}`}},
		{name: "of a GPU likewise", same: []string{`{"driver":["AMD 7.1"]}`}, others: []string{`{"driver":["AMD 7.10"]}`}},
		{name: "nor is a word", same: []string{`{"list":"TOP 10","tests":"ALL 1.1"}`},
			others: []string{`{"list":"TOP 10.0","tests":"ALL 1.1"}`, `{"list":"TOP 10","tests":"ALL 1.10"}`, `{"list":"10 TOP","tests":"ALL 1.1"}`}},
		{name: "nor the number of a goal", same: []string{`{"goal":"SDG 17.1","price":"5 EUR"}`, `{"goal":"SDG 17.1","price":"€5"}`}, others: []string{`{"goal":"SDG 17.10","price":"5 EUR"}`}},
		{name: "in a money field such a code is money", same: []string{`{"price":"PHP 8.1"}`, `{"price":"8.10 PHP"}`, `{"price":"₱8.10"}`, `{"price":{"value":8.1,"currency":"PHP"}}`},
			others: []string{`{"price":"PHP 8.01"}`}},
		{name: "and beside its currency", same: []string{`{"amount":5,"x":"PHP 8.1","currency":"PHP"}`, `{"amount":"5.0","x":"8.10 PHP","currency":"php"}`}},
		{name: "CAD stays money in any field", same: []string{`{"note":"CAD 8.1"}`, `{"note":"8.10 CAD"}`}},
		{name: "in a money field, and beside a currency, every spelling is read",
			same: []string{`{"amount":"($12.00)","x":"-12.00 USD"}`, `{"amount":"$12- ","x":"-12.00 USD"}`, `{"amount":" ($ 12.00)\n","x":"-12.00 USD"}`}},
		{name: "so it is in its array", same: []string{`{"fee":["($12.00)"]}`, `{"fee":["-12 USD"]}`}, others: []string{`{"fees":["($12.00)"]}`, `{"fees":["-12 USD"]}`}},
		{name: "and beside a currency", same: []string{`{"amount":1,"x":"(12.00)USD\n","currency":"USD"}`, `{"amount":"1 USD","x":"-12 USD"}`}},
	} {
		f.test(t)
	}
}

func TestAnEditAndItsUndoAreTwoCalls(t *testing.T) {
	for _, f := range []family{
		{name: "of an amount", same: []string{`{"path":"p","oldText":"$12.00","newText":"$12"}`, `{"newText":"$12","path":"p","oldText":"$12.00"}`},
			others: []string{`{"path":"p","oldText":"$12","newText":"$12.00"}`, `{"path":"p","oldText":"$12","newText":"$12"}`, `{"path":"p","oldText":"12 USD","newText":"$12"}`}},
		{name: "of an address", same: []string{`{"old_email":"Ada@Example.com","new_email":"ada@example.com"}`}, others: []string{`{"old_email":"ada@example.com","new_email":"Ada@Example.com"}`}},
		{name: "of the customer's address",
			same:   []string{`{"customer":"Ada@b.io","email":"ada@b.io"}`, `{"customer":"ADA@b.io","email":"ada@b.io"}`},
			others: []string{`{"customer":"ada@b.io","email":"Ada@b.io"}`}},
		{name: "of a domain", same: []string{`{"a":"ada@bücher.example","b":"ada@xn--bcher-kva.example"}`}, others: []string{`{"b":"ada@bücher.example","a":"ada@xn--bcher-kva.example"}`}},
		{name: "in arrays, at any depth", same: []string{`{"edits":[{"from":["$12.00"],"to":["$12"]}]}`}, others: []string{`{"edits":[{"from":["$12"],"to":["$12.00"]}]}`,
			`{"edits":["$12","$12.00"]}`, `{"edits":["$12.00","$12"]}`}},
		{name: "of operations", same: []string{`[{"op":"test","value":"$12.00"},{"op":"replace","value":"$12"}]`}, others: []string{`[{"op":"test","value":"$12"},{"op":"replace","value":"$12.00"}]`}},
		{name: "beside a currency, which then stays", same: []string{`{"old":"$12.00","new":"$12","currency":"USD"}`},
			others: []string{`{"old":"$12","new":"$12.00","currency":"USD"}`, `{"old":"$12.00","new":"$12"}`, `{"old":"$12.00","new":"$12","currency":"CAD"}`,
				`{"old":["$12.00"],"new":"$12","amount":1,"currency":"CAD"}`, `{"old":["$12.00"],"new":"$12","amount":"1 CAD"}`}},
		{name: "beside the args too", same: []string{`{"tool":"f","args":{"x":"$12"},"y":"$12.00"}`}, others: []string{`{"tool":"f","args":{"x":"$12.00"},"y":"$12"}`}},

		// What this must not hinder.
		{name: "money fields are read whatever is beside them",
			same:   []string{`{"price":"$12.00","total":"12 USD","note":"$12"}`, `{"price":"12 USD","total":"$12","note":"12 USD"}`, `{"price":12,"total":"12.0","note":"$12","currency":"USD"}`},
			others: []string{`{"price":"$12.00","total":"13 USD","note":"$12"}`}},
		{name: "texts that are written alike are read",
			same: []string{`{"a":"$12","b":"$12","to":["A@b.io","A@b.io"]}`, `{"a":"12 USD","b":"12 USD","to":["a@b.io","a@b.io"]}`}},
		{name: "recipients are read in any case",
			same:   []string{`{"to":["Ada@b.io","Bob@b.io"],"cc":"EVE@b.io"}`, `{"to":["ada@b.io","BOB@b.io"],"cc":"eve@b.io"}`},
			others: []string{`{"to":["bob@b.io","ada@b.io"],"cc":"eve@b.io"}`}},
		{name: "what does not count has no say", same: []string{`{"x":1,"a":"$12","trace_id":"$12.00","metadata":{"request_id":"12 USD"}}`, `{"x":1,"a":"12 USD"}`}},
	} {
		f.test(t)
	}
	c := reader(t, canon.Settings{})
	a := read(t, c, post("", "/refund", `{"customer":"Ada@b.io","receipt":{"to":"ada@b.io"},"amount":"$5"}`))
	b := read(t, c, post("", "/refund", `{"customer":"ada@b.io","receipt":{"to":"ada@b.io"},"amount":5,"currency":"USD"}`))
	if a.Intent != b.Intent || a.Intent == a.Fingerprint {
		t.Errorf("the customer's address is read in any case: %s, %s", a.Customer, b.Customer)
	}
}

func TestSecretsAndPatternsCountToTheLetter(t *testing.T) {
	for _, name := range []string{"password", "newPassword", "client_secret", "Access-Token", "api_key", "card_pin", "otp", "passphrase", "signature", "credentials", "tokens", "replacement", "regex", "pattern"} {
		for _, pair := range [][2]string{{`"Ada@b.io"`, `"ada@b.io"`}, {`"$12"`, `"$12.00"`}, {`["Ada@b.io"]`, `["ada@b.io"]`}, {`{"value":"Ada@b.io"}`, `{"value":"ada@b.io"}`}} {
			family{name: name, same: []string{`{"a":1,"` + name + `":` + pair[0] + `}`}, others: []string{`{"a":1,"` + name + `":` + pair[1] + `}`}}.test(t)
		}
	}
	for _, f := range []family{
		{name: "beside a currency too", same: []string{`{"amount":1,"pin":"$12","currency":"USD"}`}, others: []string{`{"amount":1,"pin":"12 USD","currency":"USD"}`}},
		{name: "money fields and customers in them say what they are", same: []string{`{"token":{"price":5,"currency":"USD","email":"A@b.io","x":1}}`, `{"token":{"price":"$5","email":"a@b.io","x":1}}`}},
		{name: "other fields are read as ever", same: []string{`{"pin_email":"A@b.io","secrets_fee":"$5","keyboard":"$5"}`, `{"pin_email":"a@b.io","secrets_fee":"5 USD","keyboard":"5 USD"}`}},
		{name: "a rule that says what a field means has its way", settings: canon.Settings{Money: []canon.MoneyField{{Pointer: "/token", Currency: "USD"}}}, same: []string{`{"token":"$5"}`, `{"token":5}`}},
	} {
		f.test(t)
	}
}

// TestTheCanonicalFormIsNotMuchLongerThanTheBody bounds what a small body can make of itself.
func TestTheCanonicalFormIsNotMuchLongerThanTheBody(t *testing.T) {
	const size = 1 << 14
	for name, body := range map[string]string{
		"amounts":           `{"currency":"USD","x":[` + strings.Repeat(`{"fee":1e400,"ccy":"USD"},`, size/26) + `0]}`,
		"amounts, just":     `{"currency":"USD","x":[` + strings.Repeat(`{"fee":1e66,"ccy":"USD"},`, size/25) + `0]}`,
		"small amounts":     `{"currency":"USD","x":[` + strings.Repeat(`{"fee":1e-400,"ccy":"USD"},`, size/27) + `0]}`,
		"texts":             `{"x":[` + strings.Repeat(`"$1",`, size/5) + `0]}`,
		"numbers":           `[` + strings.Repeat(`10e400,`, size/7) + `0]`,
		"small numbers":     `[` + strings.Repeat(`0.1e-400,`, size/9) + `0]`,
		"numbers in groups": `[` + strings.Repeat(`99e400,`, size/7) + `0]`,
		"control":           `["` + strings.Repeat(`\u0001`, size/6) + `"]`,
		"domains":           `[` + strings.Repeat(`"a@ü.de",`, size/10) + `0]`,
	} {
		a := read(t, reader(t, canon.Settings{}), post("", "/x", body))
		if len(a.Canonical) > 9*len(body) {
			t.Errorf("%s: %d bytes become %d", name, len(body), len(a.Canonical))
		}
	}
}
