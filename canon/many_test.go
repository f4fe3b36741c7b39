package canon_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"idem/canon"
)

// What holds for a few values of a body holds for thousands, which are sorted and kept in other ways.
func TestManyValuesAreReadLikeFew(t *testing.T) {
	const many = 3000
	shuffled := func(part func(n int) string, between string) string {
		var parts []string
		for _, n := range rand.Perm(many) {
			parts = append(parts, part(n))
		}
		return strings.Join(parts, between)
	}
	same := func(settings canon.Settings, body func() string) {
		t.Helper()
		c := reader(t, settings)
		first := read(t, c, post(settings.Protocol, "/x", body()))
		if again := read(t, c, post(settings.Protocol, "/x", body())); again.Fingerprint != first.Fingerprint {
			t.Error("the order of the members counts")
		}
	}
	for _, name := range []string{"k%d", "a long beginning %d", "\ue000%d", "\U0001f600%d"} {
		same(canon.Settings{}, func() string {
			return "{" + shuffled(func(n int) string { return fmt.Sprintf(`"`+name+`":"$%d"`, n, n) }, ",") + "}"
		})
	}
	for _, name := range []string{"k%d", "a long beginning %d"} {
		same(canon.Settings{Protocol: canon.Form}, func() string {
			return shuffled(func(n int) string { return fmt.Sprintf(strings.ReplaceAll(name, " ", "+")+"=%d", n, n) }, "&")
		})
	}

	c := reader(t, canon.Settings{})
	canonical := func(body string) string {
		t.Helper()
		a, err := c.Explain(post("", "/x", body))
		if err != nil {
			t.Fatal(err)
		}
		return string(a.Canonical)
	}
	var names []string
	for n := range many {
		names = append(names, fmt.Sprintf(`"\ufb%02x%d":1`, n%256, n), fmt.Sprintf(`"\ud83d\ude%02x%d":1`, n%64, n))
	}
	if got := canonical("{" + strings.Join(names, ",") + "}"); strings.LastIndex(got, "\xf0\x9f") > strings.Index(got, "\ufb00") {
		t.Error("names are not in the order of their UTF-16 code units")
	}
	apart := canonical(`["$77",` + shuffled(func(n int) string { return fmt.Sprintf(`"$%d.00","A%d@B.io"`, n, n) }, ",") + `]`)
	if !strings.Contains(apart, `"$77",`) || !strings.Contains(apart, `"$77.00"`) || strings.Count(apart, "amount_minor") != many-1 {
		t.Error("two texts of one amount are read, or others are not")
	}
	if n := strings.Count(apart, "@b.io"); n != many {
		t.Errorf("%d of %d addresses are in their one form", n, many)
	}

	form := reader(t, canon.Settings{Protocol: canon.Form})
	list := strings.Repeat("b=1&a=2&b=3&", 500)
	if read(t, form, post(canon.Form, "/x", list+"b=4&b=5")).Fingerprint == read(t, form, post(canon.Form, "/x", list+"b=5&b=4")).Fingerprint {
		t.Error("the order of one name's values does not count")
	}
}
