package policy

import (
	"slices"
	"strings"
)

// overrides are the headers by which a request names another method than its own, which some servers heed.
var overrides = [...]string{"x-http-method", "x-http-method-override", "x-method-override"}

// Methods gives every method that a tool may take a request's for, in capitals: its own first, then those that the
// request names in one of the headers above or in its query (`?_method=DELETE`). header gives a header's values by its
// lower-case name.
func Methods(method, target string, header func(name string) []string) []string {
	methods := []string{upper(method)}
	for _, name := range overrides {
		for _, value := range header(name) {
			methods = append(methods, upper(strings.TrimSpace(value)))
		}
	}
	if _, query, is := strings.Cut(target, "?"); is && strings.Contains(query, "method") {
		for part := range strings.SplitSeq(query, "&") {
			if name, value, _ := strings.Cut(percentDecode(part), "="); name == "_method" {
				methods = append(methods, upper(value))
			}
		}
	}
	return methods
}

// takesMethod says whether a rule is for a request that may be taken for one of these methods. As with paths, one that
// guards is for any of them, one that lets calls through only for all.
func (r *Rule) takesMethod(methods []string) bool {
	is := func(method string) bool { return slices.Contains(r.Match.Methods, method) }
	if r.Mode == Enforce {
		return slices.ContainsFunc(methods, is)
	}
	return !slices.ContainsFunc(methods, func(method string) bool { return !is(method) })
}
