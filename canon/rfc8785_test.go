package canon

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
)

// written gives the canonical form of a JSON document in which nothing is read as money.
func written(t testing.TB, document string) string {
	t.Helper()
	r := &reading{rule: &rule{}}
	if err := r.readJSON([]byte(document), MaxDepth); err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return string(r.appendValue(nil, 0))
}

// The documents are those that RFC 8785 and its reference suite speak of: arrays, French and other letters, structures,
// Unicode, values, and weird names. Where a number would pass through a double there, it stays exact here.
func TestCanonicalDocumentsOfRFC8785(t *testing.T) {
	for _, v := range []struct{ name, document, want string }{
		{"arrays", "[\n 56, {\"d\": true, \"10\": null, \"1\": [ ]}\n]", `[56,{"1":[],"10":null,"d":true}]`},
		{"french", `{"peach":"this sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}`,
			`{"peach":"this sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}`},
		{"structures", `{"1":{"f":{"f":"hi","F":5},"\n":56.0},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}`,
			`{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}`},
		{"unicode", "{\"Unnormalized Unicode\":\"A\u030a\"}", "{\"Unnormalized Unicode\":\"A\u030a\"}"},
		{"values", `{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.33333329,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{"weird", `{"\u20ac":"Euro Sign","\r":"Carriage Return","\u000a":"Newline","1":"One","\u0080":"Control\u007f","\ud83d\ude02":"Smiley","\u00f6":"Latin Small Letter O With Diaeresis","\ufb33":"Hebrew Letter Dalet With Dagesh","</script>":"Browser Challenge"}`,
			"{\"\\n\":\"Newline\",\"\\r\":\"Carriage Return\",\"1\":\"One\",\"</script>\":\"Browser Challenge\",\"\u0080\":\"Control\u007f\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"\U0001f602\":\"Smiley\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"},
		{"escapes", `"\u0000\u0007\b\t\n\u000b\f\r\u001f \u2028\u007f"`, "\"\\u0000\\u0007\\b\\t\\n\\u000b\\f\\r\\u001f \u2028\u007f\""},
		{"many names", `{"q":1,"p":2,"o":3,"n":4,"m":5,"l":6,"k":7,"j":8,"i":9,"h":10,"g":11,"f":12,"e":13,"d":14,"c":15,"b":16,"a":17,"A":18}`,
			`{"A":18,"a":17,"b":16,"c":15,"d":14,"e":13,"f":12,"g":11,"h":10,"i":9,"j":8,"k":7,"l":6,"m":5,"n":4,"o":3,"p":2,"q":1}`},
	} {
		t.Run(v.name, func(t *testing.T) {
			if got := written(t, v.document); got != v.want {
				t.Errorf("\n%s, want\n%s", got, v.want)
			}
			if again := written(t, v.want); again != v.want {
				t.Errorf("written again: %s", again)
			}
		})
	}
}

func TestNumbersHaveOneExactForm(t *testing.T) {
	for _, n := range []struct{ literal, want string }{
		{"0", "0"}, {"-0", "0"}, {"0.0", "0"}, {"-0.00e5", "0"}, {"1", "1"}, {"-1", "-1"}, {"1.0", "1"}, {"1e0", "1"}, {"100e-2", "1"},
		{"0.1", "0.1"}, {"0.10", "0.1"}, {"1e-1", "0.1"}, {"-12.50", "-12.5"}, {"1e5", "100000"}, {"1.5e3", "1500"}, {"12345.678e2", "1234567.8"},
		{"0.000001", "0.000001"}, {"0.0000001", "1e-7"}, {"0.00000012", "1.2e-7"}, {"123e-9", "1.23e-7"}, {"-1.5e-5", "-0.000015"},
		{"1e20", "100000000000000000000"}, {"1e21", "1e+21"}, {"123456789012345678901", "123456789012345678901"},
		{"1234567890123456789012", "1.234567890123456789012e+21"}, {"123456789012345678901.5", "123456789012345678901.5"},
		{"9007199254740993", "9007199254740993"}, {"0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"},
		{"1e400", "1e+400"}, {"1e-400", "1e-400"}, {"-12e399", "-1.2e+400"},
		// e+401 and e-401 could not be read again.
		{"10e400", "10e+400"}, {"0.1e400", "1e+399"}, {"1" + strings.Repeat("0", 401), "10e+400"}, {"100000e400", "100000e+400"}, {"-10.5e400", "-105e+399"},
		{"99e400", "99e+400"}, {"12345678901234567890.12e390", "1234567890123456789012e+388"}, {strings.Repeat("9", 402), strings.Repeat("9", 402)},
		{strings.Repeat("9", 402) + ".5", strings.Repeat("9", 402) + ".5"},
		{"0.1e-400", "0.1e-400"}, {"0.0012e-400", "0.0012e-400"}, {"0." + strings.Repeat("0", 400) + "1", "0.1e-400"},
		{"1" + strings.Repeat("0", 4095), "1" + strings.Repeat("0", 3695) + "e+400"}, {"0." + strings.Repeat("0", 4093) + "1", "0." + strings.Repeat("0", 3693) + "1e-400"},
	} {
		if got := written(t, n.literal); got != n.want {
			t.Errorf("%s is written %s, want %s", n.literal, got, n.want)
		}
		if again := written(t, n.want); again != n.want {
			t.Errorf("%s is not written as itself but %s", n.want, again)
		}
	}
}

// TestDocumentsOfStringsAndIntegersAreThoseOfAnotherImplementation compares random documents with an independent
// implementation of RFC 8785. Its numbers pass through doubles, so they are integers that a double holds.
func TestDocumentsOfStringsAndIntegersAreThoseOfAnotherImplementation(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	runes := []rune("ab\"\\/\b\t\n\f\r\x01\x1f\x7f é€ßİ\u2028\ud7ff\ue000\ufb33\uffff\U00010000\U0001f602\U0010ffff")
	text := func() string {
		var b strings.Builder
		for range random.IntN(6) {
			b.WriteRune(runes[random.IntN(len(runes))])
		}
		return b.String()
	}
	var document func(depth int) string
	document = func(depth int) string {
		kind := random.IntN(7)
		if depth == 0 {
			kind = random.IntN(5)
		}
		switch kind {
		case 0:
			return strconv.FormatInt(random.Int64N(1<<53)>>random.IntN(53)*(1-2*random.Int64N(2)), 10)
		case 1:
			return []string{"null", "true", "false", "0", "1000000"}[random.IntN(5)]
		case 2, 3, 4:
			return string(appendString(nil, text()))
		case 5:
			var parts []string
			for range random.IntN(5) {
				parts = append(parts, document(depth-1))
			}
			return "[ " + strings.Join(parts, " ,") + "]"
		default:
			var parts []string
			names := map[string]bool{}
			for range random.IntN(24) {
				if name := text(); !names[name] {
					names[name] = true
					parts = append(parts, string(appendString(nil, name))+" : "+document(depth-1))
				}
			}
			return "{" + strings.Join(parts, ",\n") + "}"
		}
	}
	for range 3000 {
		d := document(4)
		want, err := jcs.Transform([]byte(d))
		if err != nil {
			continue // it wants an object or array at the top
		}
		if got := written(t, d); got != string(want) {
			t.Fatalf("seed %d: %q\nis written %q\nelsewhere  %q", seed, d, got, want)
		}
	}
}
