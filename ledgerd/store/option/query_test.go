package option

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
)

func TestSpacesAndPlusSignsOfAQueryStayWhatTheyAre(t *testing.T) {
	for query, want := range map[string]string{
		"options=-c%20work_mem%3D5MB":    "-c work_mem=5MB",
		"options=my+ledger":              "my+ledger",
		"options=my%2Bledger":            "my+ledger",
		"options=%2Fa%20path%2F%25.pem":  "/a path/%.pem",
		"options=a%26b%3Dc&other=%20%20": "a&b=c",
	} {
		values, err := ParseQuery(query)
		if err != nil || values.Get("options") != want {
			t.Errorf("%s: got %q, %v, want %q", query, values.Get("options"), err, want)
		}
		encoded := EncodeQuery(values)
		// By package url alone, for which a path has spaces and plus signs as a database's client reads them.
		for name := range values {
			if got := pathValue(t, encoded, name); got != values.Get(name) {
				t.Errorf("%s: written as %s, %s reads as %q", query, encoded, name, got)
			}
		}
		if again, err := ParseQuery(encoded); err != nil || !reflect.DeepEqual(again, values) {
			t.Errorf("%s: written as %s it reads as %v, %v", query, encoded, again, err)
		}
	}
}

func pathValue(t *testing.T, query, name string) string {
	t.Helper()
	for pair := range strings.SplitSeq(query, "&") {
		if key, text, _ := strings.Cut(pair, "="); key == name {
			value, err := url.PathUnescape(text)
			if err != nil {
				t.Error(err)
			}
			return value
		}
	}
	return ""
}
