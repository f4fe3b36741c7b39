package canon_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"idem/canon"
)

// reader makes a canonicalizer, keyed, under the rule's name r.
func reader(t testing.TB, s canon.Settings) *canon.Canonicalizer {
	t.Helper()
	if s.Rule == "" {
		s.Rule = "r"
	}
	c, err := canon.New(s, canon.Key{Secret: []byte("secret")})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// post is a POST of a body to a path, with the media type of the protocol.
func post(protocol canon.Protocol, path, body string) canon.Call {
	media := "application/json"
	if protocol == canon.Form {
		media = "application/x-www-form-urlencoded"
	}
	return canon.Call{Method: "POST", Host: "tools.example", Path: path, Body: []byte(body),
		Header: header(map[string]string{"content-type": media})}
}

// read gives the action of a call that must be readable. It also holds Explain to what Read says, and what
// is hashed to strict JSON.
func read(t testing.TB, c *canon.Canonicalizer, call canon.Call) canon.Action {
	t.Helper()
	a, err := c.Read(call)
	if err != nil {
		t.Fatalf("%s: %v", call.Body, err)
	}
	b, err := c.Explain(call)
	if err != nil || a.Fingerprint != b.Fingerprint || a.Intent != b.Intent || a.Tool != b.Tool || a.Run != b.Run {
		t.Fatalf("%s: Explain gives %v %v, Read %v", call.Body, b, err, a)
	}
	if !jsontext.Value(b.Canonical).IsValid() { // no name stands in it twice
		t.Fatalf("%s: what is hashed is no strict JSON: %s", call.Body, b.Canonical)
	}
	return b
}

// family is a list of calls to one path that are pairwise one call, and some that are none of theirs, nor each other's.
type family struct {
	name     string
	settings canon.Settings
	path     string // /cases/pay_out
	same     []string
	others   []string
}

func (f family) test(t *testing.T) {
	t.Helper()
	t.Run(f.name, func(t *testing.T) {
		t.Helper()
		c := reader(t, f.settings)
		path := f.path
		if path == "" {
			path = "/cases/pay_out"
		}
		seen := map[string]string{}
		for n, body := range append(f.same[:len(f.same):len(f.same)], f.others...) {
			a := read(t, c, post(f.settings.Protocol, path, body))
			first, known := seen[a.Fingerprint]
			seen[a.Fingerprint] = body
			switch {
			case 0 < n && n < len(f.same) && !known:
				t.Errorf("two calls, but should be one:\n%s\n%s\n%s", f.same[0], body, a.Canonical)
			case (n == 0 || n >= len(f.same)) && known:
				t.Errorf("one call, but should be two:\n%s\n%s\n%s", first, body, a.Canonical)
			}
		}
	})
}

// mcp wraps params into a tools/call message.
func mcp(id, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":` + params + `}`
}

func TestSpellingsOfJSONAreOneCall(t *testing.T) {
	for _, f := range []family{
		{name: "key order, at every depth",
			same:   []string{`{"a":{"x":1,"y":[{"p":1,"q":2}]},"b":2}`, `{"b":2,"a":{"y":[{"q":2,"p":1}],"x":1}}`},
			others: []string{`{"a":{"x":2,"y":[{"p":1,"q":2}]},"b":1}`, `{"a":{"x":1,"y":{"p":1,"q":2}},"b":2}`}},
		{name: "white space between tokens",
			same:   []string{`{"a":[1,2],"b":"x y"}`, "\r\n{ \"a\" : [\t1 , 2 ] ,\n\"b\":\"x y\" } "},
			others: []string{`{"a":[1,2],"b":"x  y"}`, `{"a":[1,2],"b":" x y"}`, `{"a":[1,2],"b":"x\ty"}`}},
		{name: "escapes, in names and values",
			same:   []string{`{"text":"Ada / 😀 \t\u0001"}`, `{"\u0074ext":"\u0041da \/ \ud83d\ude00 \u0009\u0001"}`},
			others: []string{`{"text":"Ada / 😀 \t\u0002"}`, `{"text":"Ada \\/ 😀 \t\u0001"}`}},
		{name: "names beyond the BMP",
			same: []string{"{\"\ufb33\":1,\"\U0001f602\":2,\"z\":3}", `{"z":3,"\ud83d\ude02":2,"\ufb33":1}`}},
		{name: "arrays keep their order",
			same: []string{`{"q":["a","b"]}`}, others: []string{`{"q":["b","a"]}`, `{"q":["a"]}`, `{"q":["a","b","b"]}`, `{"q":[["a","b"]]}`}},
		{name: "null is not absent, and types are apart",
			same: []string{`{"a":1}`}, others: []string{`{"a":1,"b":null}`, `{"a":"1"}`, `{"a":null}`, `{"a":true}`, `{"a":"true"}`,
				`{"a":[]}`, `{"a":{}}`, `{"a":""}`, `{"a":false}`, `{"a":"null"}`, `{}`, `[]`, `null`, `"a"`, `{"A":1}`}},
		{name: "Unicode forms are apart",
			same: []string{`{"n":"Caf\u00e9"}`, `{"n":"Café"}`}, others: []string{`{"n":"Cafe\u0301"}`, `{"n":"CAFÉ"}`, `{"n":"Ａ1"}`, `{"n":"A1"}`, `{"n":"А1"}`}},
		{name: "numbers are exact decimals",
			same:   []string{`{"n":1}`, `{"n":1.0}`, `{"n":1e0}`, `{"n":10E-1}`, `{"n":0.1e+1}`, `{"n":1.000}`},
			others: []string{`{"n":1.0000000000000000000001}`, `{"n":-1}`, `{"n":10}`, `{"n":0.1}`}},
		{name: "zero has no sign",
			same: []string{`{"n":0}`, `{"n":-0}`, `{"n":0.000}`, `{"n":-0e9}`}, others: []string{`{"n":1e-400}`}},
		{name: "beyond what a double holds",
			same: []string{`{"n":9007199254740993}`, `{"n":9007199254740993.0}`, `{"n":9.007199254740993e15}`},
			others: []string{`{"n":9007199254740992}`, `{"n":9007199254740993.1}`, `{"n":1e399}`, `{"n":1e400}`,
				`{"n":123456789012345678901234567890123456789012345}`, `{"n":123456789012345678901234567890123456789012346}`}},
	} {
		f.test(t)
	}
}

func TestVolatileFieldsDoNotCount(t *testing.T) {
	for _, f := range []family{
		{name: "in any key style",
			same: []string{`{"sku":"S","request_id":"1"}`, `{"sku":"S","requestId":"2"}`, `{"sku":"S","Request-Id":3}`, `{"sku":"S"}`,
				`{"sku":"S","REQUEST_ID":[]}`, `{"sku":"S","x-request-id":"4"}`},
			others: []string{`{"sku":"S","request":"1"}`, `{"sku":"S","my_request_id":"1"}`, `{"sku":"S","requestıd":"1"}`}},
		{name: "transport names at any depth, also in MCP arguments", settings: canon.Settings{Protocol: canon.MCP},
			same: []string{
				mcp("1", `{"name":"f","arguments":{"a":[{"b":1,"trace_id":"t"}],"idempotencyKey":"k"}}`),
				mcp("2", `{"name":"f","arguments":{"a":[{"b":1,"Trace-ID":"u"}],"traceparent":"00-1","tracestate":"","spanId":1,"correlation_id":2}}`),
				mcp(`"x"`, `{"name":"f","arguments":{"a":[{"b":1}]},"_meta":{"progressToken":1}}`)},
			others: []string{mcp("1", `{"name":"f","arguments":{"a":[{"b":2}]}}`)}},
		{name: "request id, timestamp, run id: in MCP arguments they are meant", settings: canon.Settings{Protocol: canon.MCP},
			same: []string{mcp("1", `{"name":"f","arguments":{"a":1,"request_id":1,"timestamp":1,"run_id":1}}`)},
			others: []string{mcp("1", `{"name":"f","arguments":{"a":1,"request_id":2,"timestamp":1,"run_id":1}}`),
				mcp("1", `{"name":"f","arguments":{"a":1,"request_id":1,"timestamp":2,"run_id":1}}`),
				mcp("1", `{"name":"f","arguments":{"a":1,"request_id":1,"timestamp":1,"run_id":2}}`),
				mcp("1", `{"name":"f","arguments":{"a":1,"metadata":{"request_id":1,"x":1}}}`),
				mcp("1", `{"name":"f","arguments":{"a":1,"metadata":{"request_id":2,"x":1}}}`)}},
		{name: "below the top level they are meant",
			same: []string{`{"room":"R","slot":{"timestamp":1,"request_id":1},"list":[{"run_id":1,"x":1}]}`},
			others: []string{`{"room":"R","slot":{"timestamp":2,"request_id":1},"list":[{"run_id":1,"x":1}]}`,
				`{"room":"R","slot":{"timestamp":1,"request_id":2},"list":[{"run_id":1,"x":1}]}`,
				`{"room":"R","slot":{"timestamp":1,"request_id":1},"list":[{"run_id":2,"x":1}]}`}},
		{name: "direct members of metadata, meta, _meta, context and headers",
			same: []string{`{"a":1,"metadata":{"c":"web","request_id":1}}`, `{"a":1,"metadata":{"c":"web","timestamp":1,"runId":2,"traceId":3}}`,
				`{"a":1,"metadata":{"c":"web"},"headers":{"baggage":"x=1","X-Request-Id":"1"}}`, `{"a":1,"metadata":{"c":"web"},"_meta":{"tool_call_id":"call_1"}}`},
			others: []string{`{"a":1,"metadata":{"c":"app","request_id":1}}`, `{"a":1,"metadata":{"c":"web","p":{"request_id":1}}}`,
				`{"a":1,"metadata":{"c":"web","p":{"request_id":2}}}`, `{"a":1,"metadata":{"c":"web"},"context":{}}`}},
		{name: "run id beside the args only",
			same:   []string{`{"tool":"f","args":{"run_id":1,"x":1},"run_id":"a"}`, `{"tool":"f","args":{"run_id":1,"x":1},"runId":"b"}`, `{"tool":"f","args":{"run_id":1,"x":1}}`},
			others: []string{`{"tool":"f","args":{"run_id":2,"x":1}}`, `{"tool":"f","args":{"run_id":1,"x":1},"dry_run":true}`}},
		{name: "what frameworks send beside the args",
			same: []string{`{"tool":"f","args":{"x":1}}`, `{"tool":"f","args":{"x":1},"tool_call_id":"call_1","timestamp":1,"request_id":2,"correlationId":3}`,
				`{"tool":"f","args":{"x":1},"toolUseId":"toolu_1","progressToken":2,"metadata":{"run_id":"r"}}`},
			others: []string{`{"tool":"f","args":{"x":1,"tool_call_id":"call_1"}}`, `{"tool":"f","args":{"x":1},"call_id":"1"}`, `{"tool":"f","args":{"x":1},"id":"1"}`}},
		{name: "fields that only look volatile", same: []string{`{"x":1}`}, others: []string{`{"x":1,"id":1}`, `{"x":1,"id":2}`, `{"x":1,"order_id":1}`,
			`{"x":1,"reference":1}`, `{"x":1,"created_at":1}`, `{"x":1,"start_time":1}`, `{"x":1,"session_id":1}`, `{"x":1,"thread_id":1}`,
			`{"x":1,"baggage":1}`, `{"x":1,"nonce":1}`, `{"x":1,"time":1}`, `{"x":1,"date":1}`, `{"x":1,"trace":1}`, `{"x":1,"token":1}`}},
		{name: "the path names the noun", path: "/api/get-traces/",
			same:   []string{`{"traceId":1,"x":1,"span_id":1}`, `{"traceId":1,"x":1,"span_id":2}`},
			others: []string{`{"traceId":2,"x":1,"span_id":1}`}},
		{name: "any part of a path names the noun", path: "/api/requests/approve",
			same:   []string{`{"request_id":1,"ok":true,"trace_id":1}`, `{"request_id":1,"ok":true}`},
			others: []string{`{"request_id":2,"ok":true}`, `{"ok":true}`}},
		{name: "but not of a path that the tool stands for", path: "/requests/invoke",
			same:   []string{`{"tool":"approve","args":{"x":1,"request_id":1}}`, `{"tool":"approve","args":{"x":1,"request_id":2}}`},
			others: []string{`{"tool":"approve","x":1,"request_id":1}`, `{"tool":"approve","x":1,"request_id":2}`}},
		{name: "the tool names the noun, whatever the path", path: "/traces",
			same:   []string{`{"tool":"approveHTTPRequest","args":{"request_id":1,"x":1,"trace_id":1}}`, `{"tool":"approveHTTPRequest","args":{"request_id":1,"x":1,"trace_id":2}}`},
			others: []string{`{"tool":"approveHTTPRequest","args":{"request_id":2,"x":1}}`, `{"tool":"requester","args":{"request_id":2,"x":1}}`}},
		{name: "nothing is dropped that would leave its object empty",
			same:   []string{`{"trace_id":1}`},
			others: []string{`{"trace_id":2}`, `{"a":{"trace_id":1}}`, `{"a":{"trace_id":2}}`, `{"a":1,"b":{"c":{"span_id":1}}}`, `{"a":1,"b":{"c":{"span_id":2}}}`, `{"meta":{"trace_id":1}}`, `{"meta":{"trace_id":2}}`}},
		{name: "a metadata-like object goes as a whole",
			same:   []string{`{"a":1,"meta":{"timestamp":1}}`, `{"a":1,"meta":{"timestamp":2,"context":{"trace_id":3}}}`, `{"a":1}`},
			others: []string{`{"a":1,"meta":{}}`, `{"a":1,"meta":[]}`, `{"a":1,"meta":{"timestamp":1,"x":1}}`}},
		{name: "a rule adds names, anywhere, and keeps names", settings: canon.Settings{Drop: []string{"Attempt"}, Keep: []string{"timeStamp"}},
			same:   []string{`{"a":{"attempt":1,"x":1},"timestamp":1}`, `{"a":{"ATTEMPT":2,"x":1},"timestamp":1}`, `{"a":{"x":1},"timestamp":1,"request_id":1}`},
			others: []string{`{"a":{"x":1},"timestamp":2}`, `{"a":{"attempts":1,"x":1},"timestamp":1}`, `{"a":{"attempt":1},"timestamp":1}`}},
		{name: "identity lists all that counts", settings: canon.Settings{Identity: []string{"/order", "/amount", "/a~1b/0"}},
			same: []string{`{"order":"1","amount":"$5","memo":"x"}`, `{"order":"1","amount":5,"currency":"USD","memo":"y","trace_id":2}`,
				`{"amount":"5.00 USD","order":"1","a/b":[]}`},
			others: []string{`{"order":"2","amount":"$5"}`, `{"order":"1"}`, `{"order":null}`, `{"order":"1","amount":"$5","a/b":[1]}`}},
		{name: "a listed currency counts, though an amount that is not listed has taken it in", settings: canon.Settings{Identity: []string{"/sku", "/currency"}},
			same: []string{`{"sku":1,"amount":5,"currency":"USD"}`, `{"sku":1,"amount":6,"currency":"usd"}`, `{"sku":1,"fee_amount":"$5","currency":"USD"}`, `{"sku":1,"currency":"USD"}`},
			others: []string{`{"sku":1,"amount":5,"currency":"EUR"}`, `{"sku":1,"fee_amount":5,"currency":"CAD"}`, `{"sku":1,"amount":"$5"}`,
				`{"sku":1,"currency":"CHF"}`, `{"sku":1,"amount":"$5","currency":"SEK"}`, `{"sku":1,"amount":"$6","currency":"sek"}`}},
		{name: "a listed currency of a price", settings: canon.Settings{Identity: []string{"/sku", "/price/currency"}},
			same:   []string{`{"sku":1,"price":{"value":"5","currency":"USD"}}`, `{"sku":1,"price":{"value":"6","currency":"USD"}}`, `{"sku":1,"price":{"value":"x","currency":"USD"}}`},
			others: []string{`{"sku":1,"price":{"value":"5","currency":"EUR"}}`, `{"sku":1}`}},
		{name: "a currency alone", settings: canon.Settings{Identity: []string{"/currency"}},
			same: []string{`{"amount":5,"currency":"USD"}`, `{"fee":7,"currency":"usd"}`}, others: []string{`{"amount":5,"currency":"EUR"}`}},
		{name: "a currency listed with its amount says nothing more", settings: canon.Settings{Identity: []string{"/amount", "/currency"}},
			same:   []string{`{"amount":5,"currency":"USD"}`, `{"amount":"$5"}`, `{"amount":"5.00 USD","currency":"usd","fee":1}`},
			others: []string{`{"amount":5,"currency":"EUR"}`, `{"amount":5}`, `{"amount":"1,234","currency":"USD"}`, `{"amount":"1,234","currency":"EUR"}`}},
		{name: "a price listed whole, in parts, and both", settings: canon.Settings{Identity: []string{"/p/value", "/p/currency", "/q", "/q/currency"}},
			same:   []string{`{"p":{"value":5,"currency":"USD"},"q":{"value":"6","currency":"EUR"}}`, `{"p":{"value":"5.00","currency":"usd"},"q":{"value":6,"currency":"EUR"}}`},
			others: []string{`{"p":{"value":5,"currency":"EUR"},"q":{"value":"6","currency":"EUR"}}`, `{"p":{"value":5,"currency":"USD"},"q":{"value":"6","currency":"USD"}}`}},
		{name: "what is not listed has no say in how the listed is read", settings: canon.Settings{Identity: []string{"/a", "/to"}},
			same:   []string{`{"a":"$12.00","to":"Ada@b.io","memo":"$12","cc":"ada@b.io"}`, `{"a":"$12","to":"ada@b.io"}`},
			others: []string{`{"a":"$13"}`}},
	} {
		f.test(t)
	}
}

func TestEmailAddressesAreOneInAnyCase(t *testing.T) {
	for _, f := range []family{
		{name: "letter case", same: []string{`{"to":"ada@example.com"}`, `{"to":"Ada@Example.COM"}`, `{"to":"\u0041DA@example.com"}`},
			others: []string{`{"to":"ada+x@example.com"}`, `{"to":"a.da@example.com"}`, `{"to":"ada@example.org"}`, `{"to":" ada@example.com"}`,
				`{"to":"Ada <ada@example.com>"}`, `{"to":"ADA <ada@example.com>"}`}},
		{name: "everywhere a value", same: []string{`{"x":[{"to":["A@B.io"]}],"customer":"C@D.EU"}`, `{"x":[{"to":["a@b.io"]}],"customer":"c@d.eu"}`}},
		{name: "never a name", same: []string{`{"A@b.io":1}`}, others: []string{`{"a@b.io":1}`}},
		{name: "domains by IDNA", same: []string{`{"to":"ada@bücher.example"}`, `{"to":"ADA@BÜCHER.example"}`, `{"to":"ada@XN--bcher-kva.example"}`},
			others: []string{`{"to":"ada@bucher.example"}`, `{"to":"ada@straße.example"}`, `{"to":"ada@strasse.example"}`}},
		{name: "only ASCII letters fold", same: []string{`{"to":"kim@example.com"}`},
			others: []string{"{\"to\":\"\u212aim@example.com\"}", `{"to":"İda@example.com"}`, `{"to":"ida@example.com"}`, `{"to":"i\u0307da@example.com"}`,
				`{"to":"ÄDA@example.com"}`, `{"to":"äda@example.com"}`}},
		{name: "no addresses", same: []string{`{"x":"Lodash@4.17.21"}`}, others: []string{`{"x":"lodash@4.17.21"}`, `{"x":"Icon@2x"}`, `{"x":"icon@2x"}`, `{"x":"Git@host"}`,
			`{"x":"git@host"}`, `{"x":"@Ada.io"}`, `{"x":"@ada.io"}`, `{"x":"A@b..io"}`, `{"x":"a@b..io"}`, `{"x":"A b@c.io"}`, `{"x":"a b@c.io"}`,
			`{"x":"A@b.io, c@d.io"}`, `{"x":"a@b.io, c@d.io"}`, `{"x":"\"A\"@b.io"}`, `{"x":"\"a\"@b.io"}`, `{"x":"A@b_c.io"}`, `{"x":"a@b_c.io"}`,
			`{"x":"A@b@c.io"}`, `{"x":"a@b@c.io"}`, "{\"x\":\"A\u00a0b@c.io\"}", "{\"x\":\"a\u00a0b@c.io\"}"}},
	} {
		f.test(t)
	}
}

func TestMoneyHasOneForm(t *testing.T) {
	for _, f := range []family{
		{name: "in any spelling, with and without the currency beside it",
			same: []string{`{"c":1,"amount":"$12.00"}`, `{"c":1,"amount":"12.00 USD"}`, `{"c":1,"amount":"1200 cents"}`, `{"c":1,"amount":"US$ 12"}`,
				`{"c":1,"amount":"$12.00","currency":"usd"}`, `{"c":1,"amount":"12.00 USD","Currency-Code":"USD"}`, `{"c":1,"amount":"1200 cents","CCY":"Usd"}`,
				`{"c":1,"amount":12,"currency":"USD"}`, `{"c":1,"amount":12.0,"currency":"USD"}`, `{"c":1,"amount":1.2e1,"currency":"USD"}`,
				`{"c":1,"amount":"12","currency":"USD"}`, `{"c":1,"amount_minor":1200,"currency":"USD"}`, `{"c":1,"amountCents":"1200","currency":"USD"}`,
				`{"c":1,"amount":{"value":"12.00","currency_code":"USD"}}`, `{"c":1,"amount":{"amount":12,"currency":"USD"}}`,
				`{"c":1,"amount":{"amount_minor":1200,"currency":"USD"}}`, `{"c":1,"amount":"$ 12.0"}`},
			others: []string{`{"c":1,"amount":12}`, `{"c":1,"amount":"12"}`, `{"c":1,"amount":"12.00"}`, `{"c":1,"amount":"12.01 USD"}`, `{"c":1,"amount":"12.00 EUR"}`,
				`{"c":1,"amount":1200,"currency":"USD"}`, `{"c":1,"amount":"-12.00 USD"}`, `{"c":1,"total":"12.00 USD"}`, `{"c":1,"amount":"12.001 USD","currency":"EUR"}`}},
		{name: "only in a money field are bare numbers money",
			same:   []string{`{"level":1,"currency":"USD"}`, `{"level":1.0,"currency":"USD"}`},
			others: []string{`{"level":"1","currency":"USD"}`, `{"level":"1.0","currency":"USD"}`, `{"level":"1.00 USD"}`, `{"level":1,"currency":"usd"}`}},
		{name: "digits with leading zeros are somebody's number", same: []string{`{"charge":"00123","amount":5,"currency":"USD"}`, `{"charge":"00123","amount":"5 USD"}`},
			others: []string{`{"charge":"123","amount":5,"currency":"USD"}`, `{"charge":"0123","amount":5,"currency":"USD"}`}},
		{name: "value only where the object is value and currency",
			same:   []string{`{"p":{"value":"5","currency":"USD"}}`, `{"p":{"value":5.00,"currency":"usd"}}`, `{"p":"5.00 USD"}`},
			others: []string{`{"p":{"key":"limit","value":"5","currency":"USD"}}`, `{"p":{"key":"limit","value":"5.00","currency":"USD"}}`}},
		{name: "a breakdown does not hinder a value",
			same: []string{`{"p":{"value":"5","currency_code":"USD","breakdown":{"fee":{"value":"1","currency_code":"USD"}}}}`,
				`{"p":{"value":"5.00 USD","breakdown":{"fee":"1.00 USD"}}}`}},
		{name: "several amounts share one currency",
			same:   []string{`{"price":"10","tax":1.9,"currency":"EUR"}`, `{"price":"10.00 EUR","tax":"1,90 €"}`, `{"price":10,"tax":"1.90","ccy":"eur"}`},
			others: []string{`{"price":"10","tax":1.9,"currency":"CHF"}`, `{"price":10,"tax":1.9}`}},
		{name: "other texts beside an amount do not matter",
			same: []string{`{"amount":12,"payment":"P-5","total":"see invoice","currency":"USD"}`, `{"amount":"12.00 USD","payment":"P-5","total":"see invoice"}`}},
		{name: "an ambiguous amount keeps the currency beside it",
			same:   []string{`{"amount":"1,234","fee":"1","currency":"USD"}`},
			others: []string{`{"amount":"1,234","fee":"1.00 USD"}`, `{"amount":"1234","fee":"1","currency":"USD"}`, `{"amount":"1.234","fee":"1","currency":"USD"}`, `{"amount":1.234,"fee":1,"currency":"USD"}`}},
		{name: "contradictions stay as they are written",
			same:   []string{`{"amount":"$12","currency":"EUR"}`},
			others: []string{`{"amount":"12 EUR"}`, `{"amount":"$12"}`, `{"amount":"$12.00","currency":"EUR"}`, `{"amount":"$12","currency":"eur"}`, `{"amount":"12","currency":"EUR","fee":"€1"}`}},
		{name: "two readings of one amount stay as they are written",
			same:   []string{`{"amount":12,"amount_minor":1200,"currency":"USD"}`},
			others: []string{`{"amount":12,"currency":"USD"}`, `{"amount":"12","amount_minor":1200,"currency":"USD"}`, `{"amount":12,"amount_cents":1200,"currency":"USD"}`, `{"amount":12,"amount_minor":1200,"currency":"usd"}`, `{"amount":null,"amount_minor":1200,"currency":"USD"}`}},
		{name: "two readings of one amount with nothing beside them keep their names, in any order",
			same: []string{`{"amount":"$5","amount_minor":"700 cents"}`, `{"amount_minor":"700 cents","amount":"5 USD"}`},
			others: []string{`{"amount_minor":"500 cents","amount":"$7"}`, `{"amount":"$5","amount_cents":"700 cents"}`, `{"amount_minor":"500 cents","amount_cents":"700 cents"}`,
				`{"amount_cents":"500 cents","amount_minor":"700 cents"}`, `{"amount":5,"amount_cents":"5 JPY","currency":"JPY"}`}},
		{name: "so do a null and an object", same: []string{`{"amount":null,"amount_minor":"700 cents"}`, `{"amount_minor":"700¢","amount":null}`},
			others: []string{`{"amount":{"value":5,"currency":"USD"},"amount_minor":"700 cents"}`, `{"amount":"$7"}`}},
		{name: "two currencies, or an unknown one, stay as they are written",
			same:   []string{`{"amount":12,"currency":"USD","ccy":"USD"}`},
			others: []string{`{"amount":12,"currency":"USD"}`, `{"amount":"12","currency":"USD","ccy":"USD"}`, `{"amount":12,"currency":"BTC"}`, `{"amount":"12","currency":"BTC"}`, `{"amount":"$12","currency":"BTC"}`, `{"amount":"$12.00","currency":"BTC"}`, `{"amount":12,"currency":["USD"]}`, `{"amount":12,"currency":840}`}},
		{name: "cents are of currencies with two decimals",
			same:   []string{`{"amount_cents":500,"currency":"JPY"}`},
			others: []string{`{"amount":500,"currency":"JPY"}`, `{"amount_minor":500,"currency":"KWD"}`, `{"amount_cents":500,"currency":"KWD"}`}},
		{name: "a major unit in a field of minor ones stays as it is written",
			same: []string{`{"amount_minor":"1200 cents"}`, `{"amount_cents":"1200¢"}`, `{"amountMinor":"1200","currency":"USD"}`, `{"amount":"$12"}`},
			others: []string{`{"amount_minor":"1200 USD"}`, `{"amount":"1200 USD"}`, `{"amount_cents":"$1200"}`, `{"amount_cents":"1200 USD"}`, `{"amount_cents":"$12.00"}`,
				`{"amount_minor":"1200 USD","currency":"USD"}`, `{"amount_minor":"12.00 USD","currency":"USD"}`, `{"amount_cents":"$12","currency":"USD"}`,
				`{"price_cents":"$1200"}`, `{"price_cents":"120000 cents"}`, `{"fee_minor":"1200 USD"}`, `{"fee_minor":"120000 cents"}`}},
		{name: "a currency without minor units has but one unit",
			same: []string{`{"amount_minor":"1200 JPY"}`, `{"amount_minor":1200,"currency":"JPY"}`, `{"amount":"JPY 1200"}`}},
		{name: "what is too far from the point for money is a number, and keeps its currency",
			same: []string{`{"amount":1e400,"fee":1,"currency":"USD"}`, `{"amount":10e399,"fee":1.0,"currency":"USD"}`},
			others: []string{`{"amount":1e400,"fee":"1 USD"}`, `{"amount":1e399,"fee":1,"currency":"USD"}`, `{"amount":1e400,"fee":1,"currency":"EUR"}`,
				`{"amount":1e-400,"fee":1,"currency":"USD"}`, `{"amount":1e66,"fee":1,"currency":"USD"}`, `{"amount":1e67,"fee":1,"currency":"USD"}`}},
		{name: "texts in an array look at the currency around it",
			same:   []string{`{"prices":["$5","6 CAD"],"currency":"CAD"}`, `{"prices":["5.00 CAD","CAD 6"],"currency":"CAD"}`},
			others: []string{`{"prices":["5.00 USD","6 CAD"],"currency":"CAD"}`, `{"prices":["$5","6 CAD"]}`, `{"amount":1,"prices":["€5"],"currency":"CAD"}`, `{"amount":"1 CAD","prices":["€5"]}`}},
		{name: "a rule says what a dollar is", settings: canon.Settings{Symbols: map[string]string{"$": "CAD"}},
			same: []string{`{"amount":"$5"}`, `{"amount":"5 CAD"}`}, others: []string{`{"amount":"5 USD"}`}},
		{name: "a rule leaves a symbol raw", settings: canon.Settings{Symbols: map[string]string{"$": ""}},
			same: []string{`{"amount":"$5"}`}, others: []string{`{"amount":"$5.00"}`, `{"amount":"5 USD"}`, `{"amount":"5 CAD"}`}},
		{name: "a rule says what a number is", settings: canon.Settings{Money: []canon.MoneyField{{Pointer: "/sum", Unit: "minor"}, {Pointer: "/o/fee", Unit: "minor", Currency: "JPY"}, {Pointer: "/o/tax", Currency: "EUR"}}},
			same: []string{`{"sum":1200,"currency":"USD","o":{"fee":5,"tax":"1,50"}}`, `{"sum":"1200 cents","o":{"fee":"5 JPY","tax":1.5}}`, `{"sum":"1200","ccy":"usd","o":{"fee":"5","tax":"€1.50"}}`},
			others: []string{`{"sum":"12.00 USD","o":{"fee":"5 JPY","tax":1.5}}`, `{"sum":"$12","o":{"fee":"5 JPY","tax":1.5}}`, `{"sum":"$1200","o":{"fee":"5 JPY","tax":1.5}}`,
				`{"sum":1200,"o":{"fee":5,"tax":"1,50"}}`, `{"sum":1200,"currency":"USD","o":{"fee":6,"tax":"1,50"}}`,
				`{"sum":1200,"currency":"USD","o":{"fee":5,"tax":"1,50","currency":"USD"}}`}},
		{name: "a form's values too", settings: canon.Settings{Protocol: canon.Form},
			same: []string{`customer=C&amount=%2412.00&currency=usd`, `amount=12.00+USD&customer=C`, `customer=C&amount=12&ccy=USD`}, others: []string{`customer=C&amount=12`, `customer=C&amount=12&amount=12&currency=USD`}},
	} {
		f.test(t)
	}
}

func TestFormsAreObjectsOfStrings(t *testing.T) {
	form := canon.Settings{Protocol: canon.Form}
	for _, f := range []family{
		{name: "order, escapes, plus and empty pieces", settings: form,
			same:   []string{`to%5Bcity%5D=Oslo&note=a+b`, `note=a%20b&to[city]=Oslo`, `&note=a+b&&to[%63ity]=Oslo&`, `note=a+b&to%5bcity%5d=Oslo`},
			others: []string{`to%5Bcity%5D=Oslo&note=a%2Bb`, `to[city]=oslo&note=a+b`, `to[city]=Oslo&note=a+b&note=`}},
		{name: "a repeated name is an array in order", settings: form,
			same: []string{`t=a&x=1&t=b`, `x=1&t=a&t=b`}, others: []string{`x=1&t=b&t=a`, `x=1&t=a`, `x=1&t=a&t=b&t=b`, `x=1.0&t=a&t=b`}},
		{name: "the order in a list of objects says what belongs together", settings: form,
			same:   []string{`i[][sku]=a&i[][qty]=2&i[][sku]=b&x=1`, `x=1&i%5B%5D[sku]=a&i[][qty]=2&i[][sku]=b`},
			others: []string{`i[][sku]=a&i[][sku]=b&i[][qty]=2&x=1`, `i[][qty]=2&i[][sku]=a&i[][sku]=b&x=1`, `i[][sku]=b&i[][qty]=2&i[][sku]=a&x=1`}},
		{name: "deeper ones and several", settings: form,
			same:   []string{`o[i][][a]=1&o[i][][b][]=2&o[i][][a]=3&p[]=1&p[][q]=2&z=1`, `p[]=1&o[i][][a]=1&z=1&o[i][][b][]=2&o[i][][a]=3&p[][q]=2`},
			others: []string{`o[i][][a]=1&o[i][][a]=3&o[i][][b][]=2&p[]=1&p[][q]=2&z=1`, `o[i][][a]=1&o[i][][b][]=2&o[i][][a]=3&p[][q]=2&p[]=1&z=1`}},
		{name: "lists of texts and numbered ones say it by themselves", settings: form,
			same: []string{`a[]=1&b[]=2&a[]=3&c[0][x]=1&c[1][x]=2&c[0][y]=3`, `a[]=1&a[]=3&c[0][x]=1&c[0][y]=3&c[1][x]=2&b[]=2`}},
		{name: "a field that the rule drops", settings: canon.Settings{Protocol: canon.Form, Drop: []string{"i[][try]"}},
			same: []string{`i[][sku]=a&i[][qty]=2&i[][sku]=b&i[][try]=1`, `i[][try]=3&i[][sku]=a&i[][qty]=2&i[][try]=2&i[][sku]=b`}},
		{name: "volatile names", settings: form, same: []string{`x=1&request_id=1`, `x=1&requestId=2&trace-id=3`}, others: []string{`x=2`, `request_id=1`, `request_id=2`}},
		{name: "a name alone is an empty text", settings: form, same: []string{`x`, `x=`}, others: []string{`x=null`, `=x`}},
	} {
		f.test(t)
	}
	a := read(t, reader(t, form), post(canon.Form, "/f", "b=%22&a=1&a=2"))
	if string(a.Args) != `{"a":["1","2"],"b":"\""}` {
		t.Errorf("the args are %s", a.Args)
	}
}

func TestMCPCountsToolAndArgumentsAndContinuations(t *testing.T) {
	s := canon.Settings{Protocol: canon.MCP}
	for _, f := range []family{
		{name: "id, _meta and the envelope do not count", settings: s,
			same: []string{mcp("1", `{"name":"pay","arguments":{"a":1}}`), mcp(`"x"`, `{"arguments":{"a":1},"_meta":{"x":1},"name":"pay"}`)},
			others: []string{mcp("1", `{"name":"refund","arguments":{"a":1}}`), mcp("1", `{"name":"pay","arguments":{"a":2}}`),
				mcp("1", `{"name":"pay","arguments":{"a":1},"requestState":"s"}`), mcp("1", `{"name":"pay","arguments":{"a":1},"requestState":"t"}`),
				mcp("1", `{"name":"pay","arguments":{"a":1},"inputResponses":{"c":{"action":"accept"}},"requestState":"s"}`),
				mcp("1", `{"name":"pay","arguments":{"a":1},"inputResponses":{"c":{"action":"decline"}},"requestState":"s"}`)}},
		{name: "no arguments are empty ones", settings: s,
			same: []string{mcp("1", `{"name":"out"}`), mcp("1", `{"name":"out","arguments":{}}`)}, others: []string{mcp("1", `{"name":"out","arguments":null}`)}},
		{name: "a continuation counts whole, whatever its names are", settings: canon.Settings{Protocol: canon.MCP, Drop: []string{"attempt", "request_state"}},
			same: []string{mcp("1", `{"name":"f","arguments":{"trace_id":1,"x":1},"inputResponses":{"trace_id":{"action":"accept"},"c":{"idempotency_key":1}},"trace_id":1,"requestState":{"span_id":1}}`),
				mcp("2", `{"name":"f","arguments":{"x":1},"requestState":{"span_id":1},"inputResponses":{"c":{"idempotency_key":1},"trace_id":{"action":"accept"}},"correlation_id":2}`)},
			others: []string{
				mcp("1", `{"name":"f","arguments":{"x":1},"inputResponses":{"trace_id":{"action":"decline"},"c":{"idempotency_key":1}},"requestState":{"span_id":1}}`),
				mcp("1", `{"name":"f","arguments":{"x":1},"inputResponses":{"trace_id":{"action":"accept"},"c":{"idempotency_key":2}},"requestState":{"span_id":1}}`),
				mcp("1", `{"name":"f","arguments":{"x":1},"inputResponses":{"trace_id":{"action":"accept"}},"requestState":{"span_id":1}}`),
				mcp("1", `{"name":"f","arguments":{"x":1},"inputResponses":{"trace_id":{"action":"accept"},"c":{"idempotency_key":1}},"requestState":{"span_id":2}}`),
				mcp("1", `{"name":"f","arguments":{"x":1},"inputResponses":{"c":{"idempotency_key":1}}}`),
				mcp("1", `{"name":"f","arguments":{"x":1},"inputResponses":{"progress_token":1,"idempotency_key":2}}`),
				mcp("1", `{"name":"f","arguments":{"x":1},"inputResponses":{"progress_token":2,"idempotency_key":2}}`),
				mcp("1", `{"name":"f","arguments":{"x":1},"inputResponses":{"attempt":1,"m":{"timestamp":1}}}`),
				mcp("1", `{"name":"f","arguments":{"x":1},"inputResponses":{"attempt":2,"m":{"timestamp":1}}}`),
				mcp("1", `{"name":"f","arguments":{"x":1},"requestState":"A@b.io"}`), mcp("1", `{"name":"f","arguments":{"x":1},"requestState":"a@b.io"}`),
				mcp("1", `{"name":"f","arguments":{"x":1},"requestState":"$1"}`), mcp("1", `{"name":"f","arguments":{"x":1},"requestState":"$1.00"}`)}},
	} {
		f.test(t)
	}
	if a := read(t, reader(t, s), post(canon.MCP, "/mcp", mcp("1", `{"name":"out"}`))); string(a.Args) != "{}" || a.Tool != "out" {
		t.Errorf("args %s, tool %q", a.Args, a.Tool)
	}
}

func TestTheToolStandsInsteadOfThePathOnlyWhereTheBodyNamesIt(t *testing.T) {
	c := reader(t, canon.Settings{})
	same := func(a, b canon.Call, want bool, why string) {
		t.Helper()
		if got := read(t, c, a).Fingerprint == read(t, c, b).Fingerprint; got != want {
			t.Errorf("one call: %v, want %v: %s", got, want, why)
		}
	}
	invoke := `{"tool":"refund","args":{"x":1}}`
	same(post("", "/a", invoke), post("", "/b", invoke), true, "tool and args stand in the body")
	same(post("", "/rent", `{"tool":"drill","days":3}`), post("", "/return", `{"tool":"drill","days":3}`), false, "a tool can be what is rented")
	same(post("", "/rent", `{"days":3}`), post("", "/return", `{"days":3}`), false, "the path is all that differs")
	if a := read(t, c, post("", "/x/rent?a=1", `{"days":3}`)); a.Tool != "rent" {
		t.Errorf("the tool is %q", a.Tool)
	}
	if a := read(t, c, post("", "/x/", `{"tool":"refund","args":3}`)); a.Tool != "refund" || string(a.Args) != "3" {
		t.Errorf("the tool is %q, the args %s", a.Tool, a.Args)
	}
	if a := read(t, c, post("", "/", `{"tool":7}`)); a.Tool != "/" {
		t.Errorf("the tool is %q", a.Tool)
	}

	fixed := reader(t, canon.Settings{Tool: &canon.Source{Header: "X-Tool"}, Args: &canon.Source{Pointer: "/in/args"}})
	call := post("", "/x", `{"in":{"args":{"a":1},"more":2}}`)
	call.Header = header(map[string]string{"content-type": "application/vnd.api+json", "x-tool": "refund"})
	if a := read(t, fixed, call); a.Tool != "refund" || string(a.Args) != `{"a":1}` ||
		!strings.Contains(string(a.Canonical), `"args":{"a":1},"beside":{"in":{"more":2}}`) {
		t.Errorf("%q %s %s", a.Tool, a.Args, a.Canonical)
	}
}
