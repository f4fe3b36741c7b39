package canon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"

	"idem/canon"
)

// decoded is a JSON document as encoding/json sees it, numbers as they are written.
func decoded(t testing.TB, document []byte) any {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", document, err)
	}
	return v
}

// respelled writes a document in other words: names shuffled, white space, escapes and numbers spelled at random.
func respelled(random *rand.Rand, v any) string {
	space := func() string { return []string{"", "", " ", "\n", "\t \r"}[random.IntN(5)] }
	switch v := v.(type) {
	case map[string]any:
		var members []string
		for name, member := range v {
			members = append(members, space()+respelledString(random, name)+space()+":"+space()+respelled(random, member)+space())
		}
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + strings.Join(members, ",") + "}"
	case []any:
		var elements []string
		for _, element := range v {
			elements = append(elements, space()+respelled(random, element)+space())
		}
		return "[" + strings.Join(elements, ",") + "]"
	case string:
		return respelledString(random, v)
	case json.Number:
		return respelledNumber(random, string(v))
	default:
		return fmt.Sprint(map[bool]any{true: "null", false: v}[v == nil])
	}
}

func respelledString(random *rand.Rand, text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch units := utf16.Encode([]rune{r}); {
		case random.IntN(4) == 0 || r < ' ' || r == '"' || r == '\\':
			for _, unit := range units {
				fmt.Fprintf(&b, []string{`\u%04x`, `\u%04X`}[random.IntN(2)], unit)
			}
		case r == '/' && random.IntN(2) == 0:
			b.WriteString(`\/`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// respelledNumber moves the point and mends the exponent, or adds zeros.
func respelledNumber(random *rand.Rand, literal string) string {
	if len(literal) > 300 || strings.ContainsAny(literal, "eE") {
		return literal
	}
	switch sign, digits, point := "", literal, strings.Contains(literal, "."); random.IntN(4) {
	case 0:
		if !point {
			return literal + ".00"
		}
		return literal + "0"
	case 1:
		return literal + []string{"e0", "E+0", "e-00"}[random.IntN(3)]
	case 2:
		if digits[0] == '-' {
			sign, digits = "-", digits[1:]
		}
		whole, fraction, _ := strings.Cut(digits, ".")
		return sign + "0." + whole + fraction + "e+" + strconv.Itoa(len(whole))
	default:
		return literal
	}
}

// FuzzRespelling holds every readable body to its fingerprint, however it is spelled.
func FuzzRespelling(f *testing.F) {
	seedBodies(f, func(body []byte) {
		for seed := range uint64(4) {
			f.Add(body, seed)
		}
	})
	c := reader(f, canon.Settings{})
	f.Fuzz(func(t *testing.T, body []byte, seed uint64) {
		a, err := c.Explain(post("", "/cases/pay_out", string(body)))
		if err != nil {
			return
		}
		random := rand.New(rand.NewPCG(seed, 2))
		v := decoded(t, body)
		if len(a.Changes) <= 1000 { // else not all are listed
			v = inOtherWords(random, v, a.Changes)
		}
		other := respelled(random, v)
		b, err := c.Read(post("", "/cases/pay_out", other))
		if err != nil {
			t.Fatalf("%q\nrespelled %q\nis refused: %v", body, other, err)
		}
		if a.Fingerprint != b.Fingerprint || a.Intent != b.Intent || a.Tool != b.Tool {
			t.Fatalf("%q\nrespelled %q\nis another call", body, other)
		}
	})
}

// FuzzRead holds anything to what holds for everything: it is refused or read, never half; Explain agrees; the canonical
// form is strict JSON, and the canonical form of the canonical args is itself.
func FuzzRead(f *testing.F) {
	seedBodies(f, func(body []byte) {
		for protocol := range byte(3) {
			f.Add(protocol, "/cases/pay_out?b=1&a=%41", body)
		}
	})
	var readers [3]*canon.Canonicalizer
	for n, protocol := range []canon.Protocol{canon.JSON, canon.Form, canon.MCP} {
		readers[n] = reader(f, canon.Settings{Protocol: protocol})
	}
	again := reader(f, canon.Settings{Tool: &canon.Source{Value: "pay_out"}, Args: &canon.Source{Pointer: "/a"}})
	f.Fuzz(func(t *testing.T, protocol byte, path string, body []byte) {
		n := int(protocol) % 3
		before := bytes.Clone(body)
		call := post([]canon.Protocol{canon.JSON, canon.Form, canon.MCP}[n], path, string(body))
		call.Body = body
		a, err := readers[n].Read(call)
		if !bytes.Equal(body, before) {
			t.Fatal("the body was written to")
		}
		b, err2 := readers[n].Explain(call)
		if (err == nil) != (err2 == nil) || a.Fingerprint != b.Fingerprint || a.Intent != b.Intent || a.Dropped != b.Dropped {
			t.Fatalf("%q: Read and Explain do not agree: %v %v", body, err, err2)
		}
		if err != nil {
			return
		}
		if got := canon.Compare(b, b); len(got) > 0 {
			t.Fatalf("%q differs from itself: %v", body, got)
		}
		var form struct{ Args json.RawMessage }
		if err := json.Unmarshal(b.Canonical, &form); err != nil || !jsontext.Value(b.Canonical).IsValid() {
			t.Fatalf("%q: %q is no strict JSON: %v", body, b.Canonical, err)
		}
		if n == 2 || form.Args == nil {
			return
		}
		args := func(document []byte) (json.RawMessage, bool) {
			a, err := again.Explain(post("", path, `{"a":`+string(document)+`}`))
			if err != nil {
				if strings.Contains(err.Error(), " deep") || strings.Contains(err.Error(), "digits") {
					return nil, false // a money object, or zeros, more than the body had
				}
				t.Fatalf("%q: %v", document, err)
			}
			var form struct{ Args json.RawMessage }
			if err := json.Unmarshal(a.Canonical, &form); err != nil {
				t.Fatal(err)
			}
			return form.Args, true
		}
		if once, ok := args(form.Args); ok {
			if twice, ok := args(once); ok && !bytes.Equal(once, twice) {
				t.Fatalf("%q is %q, then %q", body, once, twice)
			}
		}
	})
}

// seedBodies gives every body of the corpus, and some that are about the edges.
func seedBodies(t testing.TB, add func([]byte)) {
	for _, s := range stories(t) {
		for n := range s.Steps {
			if s.Steps[n].Admin == "" && len(s.Steps[n].Body) < 4096 {
				add(s.call(n).Body)
			}
		}
	}
	for _, body := range []string{refund, `"$5"`, `["$5",{"amount_minor":5,"currency":"USD"}]`, `{"amount_minor":5,"currency":"USD"}`,
		`{"amount":{"trace_id":1,"value":"5","currency":"USD"}}`, `{"prices":["€5",["$6"]],"currency":"CAD","amount":1}`, `{"a":1,"context":{"meta":{"run_id":1}}}`,
		`{"amount":12.5e-3,"currency":"KWD","amount_cents":1}`, `{"x":{"amount":1,"currency":"USD","meta":{"timestamp":1}}}`, `{"customer":1,"amount":"$5","Amount":"$7","amount_minor":"700 cents"}`, `{"tool":"f","args":{"to":"A@bücher.de"},"runId":7}`,
		// Money, addresses and volatile names that have other spellings.
		`{"tool":"refund","args":{"customer":"Ada@Example.com","amount":"$12.00","currency":"usd","trace_id":"t"},"request_id":"q","Idempotency-Key":"k"}`,
		`{"price":"1.234,50 €","note":"-$7","fees":["5 CAD","$5.00 CAD",{"fee":"1200 cents"}],"meta":{"requestId":1,"x":[1,"a",null,{"b":null}]}}`,
		`{"total":1200,"tax":"12","Currency":"JPY","cc":["EVE@b.io","Bob@b.io"],"x-b3-traceid":1,"ok":[true,false,null,"b","c"]}`,
		`{"amount":{"value":"5.00","currency":"eur"},"to":{"email":"A@b.io"},"SPAN_ID":2,"runtime":"PHP 8.1","was":"php 8.1"}`,
		// null is not absent.
		`{"x":null,"y":[{"z":null},null,1],"customer":null,"customer_id":7,"amount":5,"currency":null,"metadata":null,"trace_id":null}`,
		`{"tool":"f","args":{"amount":null,"value":null,"currency":"USD","fee":"$5","a":{"b":null}},"note":null,"runId":null}`,
		`{"email":"A@b.io","from":"A@b.io","old":"$12","new":"$12","spanId":"s","span_id":"t"}`} {
		add([]byte(body))
	}
}

// spelling is one value in some of its spellings, as members of an object.
type spelling []string

// TestACallOfManySpellingsIsOneCall takes members that can be written in several ways, puts them together at random,
// respells all of it, and wants one fingerprint; with any member changed, another.
func TestACallOfManySpellingsIsOneCall(t *testing.T) {
	members := []spelling{
		{`"customer":"Ada@Example.com"`, `"customer":"ada@EXAMPLE.com"`, `"customer":"ADA@example.com"`},
		{`"amount":"$12.00","currency":"usd"`, `"amount":"12 USD"`, `"amount":12,"Currency":"USD"`, `"amount":"1200 cents","ccy":"Usd"`, `"amount_minor":1200,"currency_code":"USD"`, `"amount":{"value":"12.0","currency":"usd"}`},
		{`"order":{"id":7,"lines":[{"sku":"A","price":"5.00 EUR"}]}`, `"order":{"lines":[{"price":5,"currency":"eur","sku":"A"}],"id":7.0}`, `"order":{"id":7,"lines":[{"sku":"A","price":"5,00 €","ccy":"EUR"}],"trace_id":1}`},
		{`"n":1200`, `"n":1.2e3`, `"n":1200.00`},
		{`"meta":{"request_id":1}`, `"meta":{"timestamp":2,"runId":3}`, `"requestId":4`, `"idempotency-key":"k"`, `"TRACE_ID":5,"x-request-id":6`},
		{`"text":"caf\u00e9 \/ x"`, `"text":"café / x"`},
	}
	others := []string{`"customer":"adam@example.com"`, `"amount":"12.01 USD"`, `"order":{"id":7,"lines":[{"sku":"a","price":"5.00 EUR"}]}`, `"n":"1200"`, `"meta":{"request_id":1,"x":1}`, `"text":"cafe\u0301 / x"`}
	c := reader(t, canon.Settings{})
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 4))
	body := func(changed int) string {
		parts := make([]string, len(members))
		for n, spellings := range members {
			if parts[n] = spellings[random.IntN(len(spellings))]; n == changed {
				parts[n] = others[n]
			}
		}
		return respelled(random, decoded(t, []byte("{"+strings.Join(parts, ",")+"}")))
	}
	first := read(t, c, post("", "/pay", body(-1)))
	for range 500 {
		same := body(-1)
		if a := read(t, c, post("", "/pay", same)); a.Fingerprint != first.Fingerprint || a.Intent != first.Intent {
			t.Fatalf("seed %d: %s\nis another call: %s\n%s", seed, same, a.Canonical, first.Canonical)
		}
		changed := random.IntN(len(members))
		other := body(changed)
		if a := read(t, c, post("", "/pay", other)); a.Fingerprint == first.Fingerprint {
			t.Fatalf("seed %d: %s\nis the same call, with %s", seed, other, others[changed])
		}
	}
}
