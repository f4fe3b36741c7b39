package option

import (
	"net/url"
	"strings"
)

// The query of a store's URL is read and written as the clients of databases do, and not as web forms: a space is %20,
// and a + is a plus sign (which a password or a path may have).

// ParseQuery reads the query of a URL.
func ParseQuery(query string) (url.Values, error) {
	return url.ParseQuery(strings.ReplaceAll(query, "+", "%2B"))
}

// EncodeQuery is the inverse of ParseQuery.
func EncodeQuery(values url.Values) string {
	return strings.ReplaceAll(values.Encode(), "+", "%20") // a plus sign stands as %2B in what it gives
}
