package policy

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Route is what the metadata of a call's route says (metadata.filter_metadata.idem). The zero Route says nothing.
type Route struct {
	Rule string // the name of the rule that holds on the route; empty: the rules' matches decide
	Mode Mode   // of every rule on the route; empty: its own
}

// Route reads a route's metadata: names and values, as the proxy gives a map. A mistake names the member, its value and
// what would be right.
func (c *Config) Route(members [][2]string) (Route, *Mistake) {
	var route Route
	for _, m := range members {
		name, value := m[0], m[1]
		switch name {
		case "rule":
			if !slices.ContainsFunc(c.Calls, func(r *Rule) bool { return r.Name == value }) {
				return Route{}, wrongMember(name, value, "is no rule's name; use the name of one of calls, a text")
			}
			route.Rule = value
		case "mode":
			route.Mode = Mode(value)
			if modes := []string{string(Enforce), string(Shadow), string(Off)}; !slices.Contains(modes, value) {
				return Route{}, wrongMember(name, value, "is no mode; use "+quotedList(modes))
			}
		default:
			return Route{}, &Mistake{Pointer: child("", name), Detail: "is not a setting of a route; the settings here are rule and mode"}
		}
	}
	return route, nil
}

// wrongMember shows the value. The proxy gives a number as the eight bytes of a double, a truth value as one byte, and
// lists and objects as bytes that nobody would read.
func wrongMember(name, value, detail string) *Mistake {
	m := &Mistake{Pointer: child("", name), Detail: detail}
	switch {
	case value == "\x00":
		m.Value = "false"
	case value == "\x01":
		m.Value = "true"
	case len(value) == 8 && !printable(value):
		number := math.Float64frombits(binary.LittleEndian.Uint64([]byte(value)))
		m.Value = strconv.FormatFloat(number, 'g', -1, 64)
	case printable(value):
		m.Value = quoted(value)
	default:
		m.Value = "a value that is no text"
	}
	return m
}

// within gives the route's word for a path. A mode that lets calls through does not count for a path that can be read in
// several ways: the tool may read it as one that lies under another route.
func (r Route) within(path string) Route {
	if r.Mode != Enforce && r.Mode != "" && !oneWay(path) {
		r.Mode = ""
	}
	return r
}

// oneWay reports whether every reading of a request target leads to the same route. An escaped octet that no route can
// be written with otherwise, such as a space's, makes no difference.
func oneWay(target string) bool {
	path := cutQuery(target)
	if strings.IndexByte(path, '%') >= 0 {
		path = replaceEscapes(path)
	}
	readings, all := pathReadings(path)
	return all && len(readings) == 1
}

// replaceEscapes puts a letter for every escaped octet that a path has in this form only (RFC 3986 section 3.3).
func replaceEscapes(path string) string {
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			hi, lo := hexDigit(path[i+1]), hexDigit(path[i+2])
			if c := byte(hi<<4 | lo); hi >= 0 && lo >= 0 && (c <= ' ' || c > '~' || strings.IndexByte("\"<>^`{|}", c) >= 0) {
				out = append(out, 'x')
				i += 2
				continue
			}
		}
		out = append(out, path[i])
	}
	return string(out)
}

// apply gives a rule as it holds on the route.
func (r Route) apply(rule *Rule) *Rule {
	if r.Mode == "" || r.Mode == rule.Mode {
		return rule
	}
	other := *rule
	other.Mode = r.Mode
	return &other
}

// onwards gives a rule in the mode in which it matches: the route's, else its own, for a mode that lets calls through may
// match less than one that guards, and what it leaves out must not pass for that. nil: it matches in neither.
func (r Route) onwards(rule *Rule, matches func(*Rule) bool) *Rule {
	if here := r.apply(rule); matches(here) {
		return here
	}
	if matches(rule) {
		return rule
	}
	return nil
}

// chosen is the rule that the route names, for a path with these readings; nil: it names none of these. Where the path
// is not the rule's own it counts, for two paths may lead to tools of one name.
func (r Route) chosen(rules []*Rule, readings []string, all bool) *Rule {
	i := slices.IndexFunc(rules, func(rule *Rule) bool { return r.Rule != "" && rule.Name == r.Rule })
	if i < 0 {
		return nil
	}
	rule := rules[i]
	if rule.Match.Path == "" || !all || slices.ContainsFunc(readings, rule.Match.mayBePath) {
		return rule
	}
	elsewhere := *rule
	elsewhere.Canon = rule.elsewhere
	return &elsewhere
}
