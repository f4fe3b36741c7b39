package canon_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"idem/canon"
)

// shape is a kind of body that some careless reader takes much more time for than for others of its size.
type shape struct {
	name     string
	settings canon.Settings
	most     int // how large it is made; 0: 1 MiB. Bodies of many values are refused when they are larger
	refused  bool
	path     func(size int) string // where it is the path that grows
	body     func(size int) string
}

// call gives the call of a shape that is about so many bytes large.
func (s shape) call(size int) canon.Call {
	path, body := "/x", "{}"
	if s.path != nil {
		path = s.path(size)
	}
	if s.body != nil {
		body = s.body(size)
	}
	return post(s.settings.Protocol, path, body)
}

// filled repeats a part between a head and a tail.
func filled(head, part, tail string) func(int) string {
	return func(size int) string {
		return head + strings.Repeat(part, (size-len(head)-len(tail))/len(part)) + tail
	}
}

// numbered makes an object of members that each have a number in them, behind those of head.
func numbered(head string, member func(n int) string) func(int) string {
	return func(size int) string {
		var b strings.Builder
		b.WriteString("{" + head)
		for n := 0; b.Len() < size-64; n++ {
			b.WriteString(member(n) + ",")
		}
		return b.String() + `"z":1}`
	}
}

// shapes are the worst that we know.
func shapes() []shape {
	deep := strings.Repeat("[", 127) + strings.Repeat("]", 127) + ","
	identity := canon.Settings{Identity: []string{"/9000", "/a", "/8999/b"}, Customer: []string{"/1"}, Amount: []string{"/9001"}}
	form := canon.Settings{Protocol: canon.Form}
	return []shape{
		{name: "names", body: numbered("", func(n int) string { return fmt.Sprintf(`"n%d":1`, n) })},
		{name: "long names alike", body: numbered("", func(n int) string { return fmt.Sprintf(`"%s%d":1`, strings.Repeat("n", 1000), n) })},
		{name: "names in key styles", body: numbered("", func(n int) string { return fmt.Sprintf(`"%b":"$%d"`, n, n) })},
		{name: "names from the last to the first", body: numbered("", func(n int) string { return fmt.Sprintf(`"%08d":1`, 99_999_999-n) })},
		{name: "currencies", body: numbered("", func(n int) string { return fmt.Sprintf(`"o%d":{"amount":"%d","currency":"usd"}`, n, n) })},
		{name: "depth", most: 1 << 18, body: filled("[", deep, "0]")},
		{name: "numbers", body: filled("[", strings.Repeat("9", 3600)+"e-400,", "0]")},
		{name: "huge amounts", body: numbered(`"currency":"USD",`, func(n int) string { return fmt.Sprintf(`"x%d_fee":1e400`, n) })},
		{name: "texts of one reading", body: filled("[", `"$1","$1.0",`, "0]")},
		{name: "amounts", body: filled("[", `"$12.00","$12.01",`, "0]")},
		{name: "addresses of one reading", body: filled("[", `"A@b.io","a@b.io",`, "0]")},
		{name: "texts of one reading beside a currency", body: numbered(`"fee":1,"ccy":"USD",`, func(n int) string { return fmt.Sprintf(`"n%d":"$1.%.*s"`, n, 1+n%9, "000000000") })},
		{name: "a listed currency", settings: canon.Settings{Identity: []string{"/currency", "/z"}}, body: numbered(`"currency":"USD",`, func(n int) string { return fmt.Sprintf(`"x%d_fee":%d`, n, n) })},
		{name: "small values", most: 1 << 19, settings: identity, body: filled("[", `"",0,`, "0]")},
		{name: "a text", body: filled(`{"a":"`, "x", `"}`)},
		{name: "an address", body: filled(`{"a":"a@`, "ü.", `de"}`)},
		{name: "a text of digits", body: filled(`{"amount":"`, "1,", `1","currency":"USD"}`)},
		{name: "a text of spaces", body: filled(`{"amount":"$`, " ", `1","currency":"USD"}`)},
		{name: "a text of marks", body: filled(`{"amount":"`, "\u200e", `1 USD"}`)},
		{name: "escapes", body: filled(`{"a":"`, `\ud83d\ude02`, `"}`)},
		{name: "escaped strings", body: filled(`[`, `"\u0041@b.cd",`, `0]`)},
		{name: "addresses", body: filled(`[`, `"A@ü.de",`, `0]`)},
		{name: "metadata", body: filled(`[`, `{"meta":{"request_id":1}},`, `0]`)},
		{name: "volatile fields", body: numbered("", func(n int) string { return fmt.Sprintf(`"%d":{"x":1,"trace_id":"%d"}`, n, n) })},
		{name: "an unfinished string", refused: true, body: filled(`["`, `\u0041`, ``)},
		{name: "the last name twice", refused: true, body: func(size int) string {
			return strings.TrimSuffix(numbered("", func(n int) string { return fmt.Sprintf(`"n%d":1`, n) })(size), "}") + `,"z":2}`
		}},
		{name: "white space", body: filled(`{`, " ", `}`)},
		{name: "a query", path: filled("/x?", "a=%41&", "")},
		{name: "a path", path: filled("/", "%41-", "/x")},
		{name: "fields", most: 1 << 19, settings: form, body: filled("", "a%41=1&", "b=1")},
		{name: "fields of other names", settings: form, body: func(size int) string {
			var b strings.Builder
			for n := 0; b.Len() < size; n++ {
				fmt.Fprintf(&b, "k%d=1&", n)
			}
			return b.String()
		}},
		{name: "plus signs", settings: form, body: filled("a=", "+", "")},
		{name: "ampersands", settings: form, body: filled("a=1", "&", "")},
	}
}

// TestFourTimesTheBodyTakesNoMoreThanEightTimesTheTime compares each shape with itself: what grows with the square of
// the size would take sixteen times as long. How fast the machine is, or how busy, does not matter: the processor's time
// is counted, of several turns the fastest counts, and there are more turns while the two are not told apart.
func TestFourTimesTheBodyTakesNoMoreThanEightTimesTheTime(t *testing.T) {
	const most, turns, atLeast = 8, 30, 2
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // garbage is collected between the turns
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			if s.most == 0 {
				s.most = 1 << 20
			}
			compare := func(what string, size int, do func(*canon.Canonicalizer, canon.Call)) {
				small, large := s.call(size/4), s.call(size)
				var quick, slow time.Duration
				for turn := 1; turn <= turns; turn++ {
					quick = fastest(t, quick, func(c *canon.Canonicalizer) { do(c, small) }, reader(t, s.settings))
					slow = fastest(t, slow, func(c *canon.Canonicalizer) { do(c, large) }, reader(t, s.settings))
					if turn >= atLeast && slow <= most*quick {
						t.Logf("%s: %.1f after %d turns", what, float64(slow)/float64(quick), turn)
						return
					}
				}
				t.Errorf("%s %d bytes takes %v, %d bytes %v: %.1f times as long", what, size/4, quick, size, slow, float64(slow)/float64(quick))
			}
			compare("to read", s.most, func(c *canon.Canonicalizer, call canon.Call) {
				if _, err := c.Read(call); (err != nil) != s.refused {
					t.Fatalf("%d bytes: %v", len(call.Body), err)
				}
			})
			compare("to explain and compare", s.most/4, func(c *canon.Canonicalizer, call canon.Call) {
				a, err := c.Explain(call)
				if (err != nil) != s.refused {
					t.Fatalf("%d bytes: %v", len(call.Body), err)
				}
				canon.Compare(a, a)
			})
		})
	}
}

// fastest gives how much work something takes, or how much it took before, if that was less. The canonicalizer is new, since
// one that has read a large body may or may not have kept the memory for it.
func fastest(t *testing.T, before time.Duration, do func(*canon.Canonicalizer), c *canon.Canonicalizer) time.Duration {
	runtime.GC()
	start := worked(t)
	do(c)
	took := max(worked(t)-start, 1)
	if before > 0 {
		return min(before, took)
	}
	return took
}
