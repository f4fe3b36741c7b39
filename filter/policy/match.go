package policy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"idem/ledgerd/wire"
)

// Match says which calls a rule is for. What it does not name matches everything; Methods is never empty.
type Match struct {
	Route            bool     // only the calls whose route names the rule; no path and no host is set then
	Path, PathPrefix string   // at most one is set
	Host             string   // lower case, without a port
	Methods          []string // upper case
	Tools            []string // globs on the tool's name
}

// Candidates gives the rules that may be for a call, in their order. The first of them whose tools match wins; it
// takes the body to know, see [Match.MatchesTool]. methods are those of [Methods], path is the request target, host what
// the caller wrote as authority.
func (c *Config) Candidates(route Route, methods []string, host, path string) []*Rule {
	return candidates(c.Calls, route, methods, host, path)
}

// Candidates gives the rules that the former configuration may have recorded a call under, in their order.
func (f Former) Candidates(route Route, methods []string, host, path string) []*Rule {
	return candidates(f.Calls, route, methods, host, path)
}

func candidates(rules []*Rule, route Route, methods []string, host, path string) []*Rule {
	var found []*Rule
	host = hostName(host)
	readings, all := pathReadings(path)
	route = route.within(path)
	chosen := route.chosen(rules, readings, all)
	if chosen != nil {
		if rule := route.onwards(chosen, func(r *Rule) bool { return r.takesMethod(methods) }); rule != nil {
			found = append(found, rule)
		}
	}
	for _, rule := range rules {
		m := rule.Match
		if m.Route || m.Host != "" && m.Host != host || chosen != nil && rule.Name == chosen.Name {
			continue
		}
		// A rule that guards matches when any reading of the path is its own, in any letter case, one that lets calls
		// through only when every reading is: no spelling leads around a guard.
		matches := func(r *Rule) bool {
			if r.Mode == Enforce {
				return (!all || slices.ContainsFunc(readings, m.mayBePath)) && r.takesMethod(methods)
			}
			return all && !slices.ContainsFunc(readings, func(p string) bool { return !m.matchesPath(p) }) && r.takesMethod(methods)
		}
		if rule = route.onwards(rule, matches); rule != nil {
			found = append(found, rule)
		}
	}
	return found
}

// matchesPath takes one reading of a path. An exact path matches with and without a slash at its end, because many
// tools make no difference there.
func (m Match) matchesPath(path string) bool {
	switch {
	case m.Path != "":
		return strings.TrimRight(path, "/") == strings.TrimRight(m.Path, "/")
	case m.PathPrefix != "":
		return strings.HasPrefix(path, m.PathPrefix)
	}
	return true
}

// mayBePath is matchesPath for a tool that makes no difference between letters' cases.
func (m Match) mayBePath(path string) bool {
	switch {
	case m.Path != "":
		return alike(strings.TrimRight(path, "/"), strings.TrimRight(m.Path, "/"))
	case m.PathPrefix != "":
		return len(path) >= len(m.PathPrefix) && alike(path[:len(m.PathPrefix)], m.PathPrefix)
	}
	return true
}

// alike compares two texts without the case of ASCII letters.
func alike(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x |= 'a' - 'A'; x < 'a' || x > 'z' || x != y|('a'-'A') {
			return false
		}
	}
	return true
}

// MatchesTool reports whether a tool's name is one of the rule's. Where the rule names no tools, every name is.
func (m Match) MatchesTool(name string) bool {
	if len(m.Tools) == 0 {
		return true
	}
	return slices.ContainsFunc(m.Tools, func(glob string) bool { return globMatches(glob, name) })
}

// globMatches matches `*` with any characters, `?` with any one, everything else with itself. It goes back to the last
// star only, so it takes at most len(glob)·len(name) steps.
func globMatches(glob, name string) bool {
	star, retry := "", ""
	inStar := false
	for name != "" {
		switch {
		case glob != "" && glob[0] == '*':
			star, retry, inStar = glob[1:], name, true
			glob = star
		case glob != "" && glob[0] == '?':
			_, n := utf8.DecodeRuneInString(name)
			glob, name = glob[1:], name[n:]
		case glob != "" && glob[0] == name[0]:
			glob, name = glob[1:], name[1:]
		case inStar:
			_, n := utf8.DecodeRuneInString(retry)
			retry = retry[n:]
			glob, name = star, retry
		default:
			return false
		}
	}
	return strings.Trim(glob, "*") == ""
}

// name is what a rule is called that has no name: POST api.example.com/tools/* refund*,payout
func (m Match) name() string {
	if m.Route || m.Path == "" && m.PathPrefix == "" && m.Host == "" && m.Tools == nil {
		return "" // its match is refused, or does not say where it is
	}
	name := strings.Join(m.Methods, ",") + " " + m.Host
	switch {
	case m.Path != "":
		name += m.Path
	case m.PathPrefix != "":
		name += m.PathPrefix + "*"
	default:
		name += "/*"
	}
	if len(m.Tools) > 0 {
		name += " " + strings.Join(m.Tools, ",")
	}
	return name
}

// match reads a rule's match.
func match(f, rule field) Match {
	if !f.there() {
		f.missing(`name what is guarded, such as {"path_prefix": "/tools/"}`)
		return Match{}
	}
	s := f.object("route", "path", "path_prefix", "host", "methods", "tools")
	if f.value.kind != '{' {
		return Match{}
	}
	m := Match{Methods: []string{"POST"}, Route: s["route"].boolean()}
	m.Path = pathOf(s["path"])
	m.PathPrefix = pathOf(s["path_prefix"])
	if s["path"].there() && s["path_prefix"].there() {
		s["path_prefix"].wrong("stands beside a path; give one of them")
	}
	if host, ok := s["host"].text(wantHost); ok {
		m.Host = hostName(host)
		if m.Host != lower(host) || strings.ContainsAny(host, "/*?#@ ") {
			s["host"].wrong("is no plain host name; use " + wantHost)
		}
	}
	if s["methods"].there() {
		m.Methods = s["methods"].texts(wantMethod, badMethod)
		if s["methods"].value.kind == '[' && len(s["methods"].value.items) == 0 {
			s["methods"].wrong(`names no method; leave it out for ["POST"]`)
		}
	}
	if s["tools"].there() {
		m.Tools = s["tools"].texts(`a tool's name, where * and ? stand for any characters and for one, such as "refund*"`, nil)
		if s["tools"].value.kind == '[' && len(s["tools"].value.items) == 0 {
			s["tools"].wrong("names no tool; leave it out for every tool")
		}
	}
	for _, name := range [...]string{"path", "path_prefix", "host"} {
		if m.Route && s[name].there() {
			s[name].wrong("stands beside route, which says that the route decides where the rule holds; give one of them")
		}
	}
	switch {
	case m.Route && !rule.member("name").there():
		f.r.add(child(rule.pointer, "name"), nil, "is missing; a rule with match.route is used where a route names it")
	case m.Route, s["path"].there(), s["path_prefix"].there(), s["host"].there(), s["tools"].there():
	default:
		f.wrong("does not name what is guarded; give path, path_prefix, host, tools or route")
	}
	return m
}

const (
	wantHost   = `a host name without a port, such as "api.example.com"`
	wantMethod = `a method in capitals, such as "POST"`
)

func badMethod(method string) string {
	switch {
	case !wire.Token(method), strings.ContainsFunc(method, func(c rune) bool { return (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' }):
		return "is not a method (RFC 9110 section 9.1); use " + wantMethod
	case method != upper(method):
		return "is not in capitals; use " + quoted(upper(method))
	}
	return ""
}

func upper(text string) string {
	return strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' {
			return c - 'a' + 'A'
		}
		return c
	}, text)
}

// hostName is an authority's host: lower case, without port and without the dot of the root.
func hostName(authority string) string {
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.Contains(authority[i:], "]") {
		authority = authority[:i]
	}
	return lower(strings.TrimSuffix(authority, "."))
}
