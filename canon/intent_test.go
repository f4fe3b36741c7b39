package canon_test

import (
	"testing"

	"idem/canon"
)

func TestTheIntentIsToolCustomerAndAmount(t *testing.T) {
	for _, f := range []struct {
		name         string
		settings     canon.Settings
		same, others []string
		none         []string // their intent is the fingerprint itself
	}{
		{name: "what else is asked for does not matter",
			same: []string{`{"customer":"C","amount":"5 USD","memo":"a"}`, `{"customer":"C","amount":5,"currency":"usd","memo":"b","items":["$1"]}`,
				`{"Customer_Id":"C","amount_minor":500,"currency":"USD"}`, `{"email":"C","user_id":"X","recipient":"C","amount":{"value":"5.00","currency":"USD"}}`},
			others: []string{`{"customer":"D","amount":"5 USD"}`, `{"customer":"C","amount":"5 EUR"}`, `{"customer":"C","amount":"-5 USD"}`, `{"tool":"refund","args":{"customer":"C","amount":"5 USD"}}`},
			none:   []string{`{"customer":"C"}`, `{"amount":"5 USD"}`, `{"customer":"","amount":"5 USD"}`, `{"customer":null,"amount":"5 USD"}`, `[]`, `{"customer":"C","amount":5}`, `{"customer":"C","a":"$1","b":"$2"}`, `{"o":{"customer":"C"},"amount":"$5"}`}},
		{name: "the only money is the amount, wherever it stands",
			same: []string{`{"customer":"C","sum":"5 USD"}`, `{"customer":"C","order":{"lines":[{"p":"$5"}]},"x":1}`, `{"customer":"C","amount":"5.00 USD","fee":"1 USD"}`}},
		{name: "of two called amount neither is it, in whatever order they stand",
			none: []string{`{"customer":"C","amount":"$5","Amount":"$7"}`, `{"Amount":"$7","customer":"C","amount":"$5"}`, `{"customer":"C","Amount":7,"amount":5,"currency":"BTC"}`, `{"customer":"C","amount":5,"Amount":7,"currency":"USD"}`},
			same: []string{`{"customer":"C","amount":"$5","AMOUNT":7}`, `{"customer":"C","AMOUNT":7,"amount":"5 USD"}`}},
		{name: "customers in order of preference",
			same:   []string{`{"email":"E@x.io","amount":"5 USD"}`, `{"email":"e@x.io","amount":"5 USD","customer":null}`},
			others: []string{`{"email":"e@x.io","customer":"C","amount":"5 USD"}`, `{"email":"e@x.io","customer":{"id":1},"amount":"5 USD"}`}},
		{name: "a currency that no list knows goes with its number",
			same: []string{`{"customer":"C","amount":5,"currency":"BTC","m":1}`, `{"customer":"C","amount":5.0,"currency":"BTC","m":2}`}, others: []string{`{"customer":"C","amount":5,"currency":"ETH"}`},
			none: []string{`{"customer":"C","amount":5,"currency":"BTC","ccy":"BTC"}`, `{"customer":"C","amount":5,"currency":7}`}},
		{name: "a rule says where they are", settings: canon.Settings{Customer: []string{"/to/id", "/payee"}, Amount: []string{"/total", "/sum/value"}},
			same:   []string{`{"to":{"id":7},"total":"5 USD","x":1}`, `{"payee":7,"total":5,"currency":"USD"}`, `{"payee":7,"sum":{"value":5,"currency":"USD"}}`},
			others: []string{`{"payee":7,"total":5,"currency":"BTC"}`, `{"payee":7,"total":5,"currency":"ETH"}`, `{"payee":"7","total":"5 USD"}`, `{"payee":7,"total":5}`},
			none:   []string{`{"customer":"C","total":"5 USD"}`, `{"payee":7,"amount":"5 USD"}`}},
	} {
		t.Run(f.name, func(t *testing.T) {
			c := reader(t, f.settings)
			intents := map[string]string{}
			for n, body := range f.same {
				a := read(t, c, post("", "/cases/pay", body))
				if intents[a.Intent] = body; len(intents) > 1 {
					t.Errorf("%d: %s is another intent: %s %s", n, body, a.Customer, a.Amount)
				}
				if a.Customer == nil || a.Amount == nil || a.Intent == a.Fingerprint {
					t.Errorf("%s has no intent: %s %s", body, a.Customer, a.Amount)
				}
			}
			for _, body := range f.others {
				a := read(t, c, post("", "/cases/pay", body))
				if first, known := intents[a.Intent]; known || a.Intent == a.Fingerprint {
					t.Errorf("%s has the intent of %s", body, first)
				}
				intents[a.Intent] = body
			}
			for _, body := range f.none {
				if a := read(t, c, post("", "/cases/pay", body)); a.Intent != a.Fingerprint {
					t.Errorf("%s has an intent: %s %s", body, a.Customer, a.Amount)
				}
			}
		})
	}
}

func TestTheIntentKeepsCallersAndKeysApart(t *testing.T) {
	body := `{"customer":"C","amount":"5 USD"}`
	seen := map[string]bool{}
	for _, key := range []canon.Key{{}, {Secret: []byte("a")}, {Secret: []byte("b")}, {Secret: []byte("a"), ID: "other"}} {
		c, err := canon.New(canon.Settings{Rule: "r"}, key)
		if err != nil {
			t.Fatal(err)
		}
		a := read(t, c, post("", "/pay", body))
		if seen[a.Intent] || seen[a.Fingerprint] || len(a.Intent) != 64 || len(a.Fingerprint) != 64 {
			t.Errorf("key %q: %q", key.ID, a.Intent)
		}
		seen[a.Intent], seen[a.Fingerprint] = true, true
	}
	drill := reader(t, canon.Settings{})
	rent := read(t, drill, post("", "/rent", `{"tool":"drill","customer":"C","amount":"5 USD"}`))
	back := read(t, drill, post("", "/return", `{"tool":"drill","customer":"C","amount":"5 USD"}`))
	if rent.Intent == back.Intent {
		t.Error("renting and returning a drill are one intent")
	}
}

func TestTheRunIsNeverPartOfTheFingerprint(t *testing.T) {
	for _, f := range []struct {
		settings canon.Settings
		header   string
		body     string
		run      string
	}{
		{body: `{"tool":"cancel_run","args":{"run_id":5}}`, run: ""},
		{body: `{"tool":"cancel_run","args":{"run_id":5},"runId":"a"}`, run: "a"},
		{body: `{"tool":"cancel_run","args":{"run_id":5},"run_id":12.50}`, run: "12.5"},
		{body: `{"tool":"cancel_run","args":{"run_id":5},"run_id":null,"runId":""}`, run: ""},
		{header: "h", body: `{"tool":"cancel_run","args":{"run_id":5},"run_id":"a"}`, run: "h"},
		{settings: canon.Settings{Run: []canon.Source{{Pointer: "/ctx/run"}, {Header: "x-idem-run"}}}, header: "h", body: `{"tool":"cancel_run","args":{"run_id":5},"ctx":{"run":"r"}}`, run: "r"},
		{settings: canon.Settings{Run: []canon.Source{{Header: "x-idem-run"}, {Pointer: "/ctx/run"}}}, header: "h", body: `{"tool":"cancel_run","args":{"run_id":5},"ctx":{"run":"q"}}`, run: "h"},
	} {
		call := post("", "/x", f.body)
		call.Header = header(map[string]string{"content-type": "application/json", "x-idem-run": f.header})
		c := reader(t, f.settings)
		a := read(t, c, call)
		if a.Run != f.run {
			t.Errorf("%s: run %q, want %q", f.body, a.Run, f.run)
		}
		plain := `{"tool":"cancel_run","args":{"run_id":5}}`
		if f.settings.Run != nil {
			plain = `{"tool":"cancel_run","args":{"run_id":5},"ctx":{}}`
		}
		if b := read(t, c, post("", "/x", plain)); b.Fingerprint != a.Fingerprint {
			t.Errorf("%s: the run counts: %s", f.body, a.Canonical)
		}
	}
}
