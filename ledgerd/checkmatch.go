package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// sampleCall is a call that is looked at as Envoy would: which routes could it take?
type sampleCall struct{ host, path, method string }

// taken is a route that a call takes, or may take.
type taken struct {
	manager *manager
	host    object
	hostAt  int
	route   object
	at      int
	sure    bool // every such call takes it
}

// routeLevel is a part of a route configuration that holds for a route, with the name of its place.
type routeLevel struct {
	config object
	place  string
}

// levels gives what holds for a route, the most specific first.
func (r *taken) levels() []routeLevel {
	return []routeLevel{
		{r.route, r.place()},
		{r.host, r.hostPlace()},
		{r.manager.routes, r.manager.place + ", route configuration"},
	}
}

// place is the route's, for people.
func (r *taken) place() string {
	return fmt.Sprintf("%s, routes[%d] %s", r.hostPlace(), r.at, routeName(r.route))
}

func (r *taken) hostPlace() string {
	return r.manager.place + ", virtual host " + orWord(text(r.host, "name"), fmt.Sprint(r.hostAt))
}

// action is what the route does with a call that it sends on; nil: it sends none on.
func (r *taken) action() object { return inner(r.route, "route") }

// take gives the routes that a call could take, in their order; the last one is sure, unless none is.
func (m *manager) take(c sampleCall) (found []*taken) {
	host, at := virtualHost(m.routes, c.host)
	for i, route := range list(host, "routes") {
		switch matches(inner(route, "match"), c) {
		case surely:
			return append(found, &taken{m, host, at, route, i, len(found) == 0})
		case perhaps:
			found = append(found, &taken{m, host, at, route, i, false})
		}
	}
	return found
}

// all gives every route of a manager.
func (m *manager) all() (routes []*taken) {
	for i, h := range list(m.routes, "virtual_hosts") {
		for j, route := range list(h, "routes") {
			routes = append(routes, &taken{m, h, i, route, j, false})
		}
	}
	return routes
}

// virtualHost finds the virtual host of a host as Envoy does: its own name, the longest end (*.example.com), the longest
// beginning (example.*), and then any.
func virtualHost(routes object, host string) (found object, at int) {
	best := -1
	for i, h := range list(routes, "virtual_hosts") {
		domains, _ := h["domains"].([]any)
		for _, d := range domains {
			domain, _ := d.(string)
			if rank := domainRank(strings.ToLower(domain), host); rank > best {
				best, found, at = rank, h, i
			}
		}
	}
	return found, at
}

// domainRank says how well a domain fits a host; below 0: not at all.
func domainRank(domain, host string) int {
	const exact, end, begin = 3 << 16, 2 << 16, 1 << 16
	switch {
	case domain == host:
		return exact
	case domain == "*":
		return 0
	case strings.HasPrefix(domain, "*") && strings.HasSuffix(host, domain[1:]):
		return end + len(domain)
	case strings.HasSuffix(domain, "*") && strings.HasPrefix(host, domain[:len(domain)-1]):
		return begin + len(domain)
	}
	return -1
}

// whether a route matches a call. What depends on more than host, path and method perhaps does.
type whether int

const (
	never whether = iota
	perhaps
	surely
)

func matches(match object, c sampleCall) whether {
	if pathMatches(match, c.path) == never {
		return never
	}
	sure := pathMatches(match, c.path)
	for member, value := range match {
		switch member {
		case "path", "prefix", "path_separated_prefix", "safe_regex", "case_sensitive", "path_match_policy":
		case "headers":
			for _, h := range list(match, member) {
				switch methodMatches(h, c.method) {
				case never:
					return never
				case perhaps:
					sure = perhaps
				}
			}
		default:
			if items, isList := value.([]any); !isList || len(items) > 0 {
				sure = perhaps
			}
		}
	}
	return sure
}

func pathMatches(match object, path string) whether {
	fold := func(s string) string { return s }
	if sensitive, there := match["case_sensitive"].(bool); there && !sensitive {
		fold = strings.ToLower
	}
	path = fold(path)
	is := func(yes bool) whether {
		if yes {
			return surely
		}
		return never
	}
	switch {
	case match["path"] != nil:
		return is(path == fold(text(match, "path")))
	case match["prefix"] != nil:
		return is(strings.HasPrefix(path, fold(text(match, "prefix"))))
	case match["path_separated_prefix"] != nil:
		prefix := fold(text(match, "path_separated_prefix"))
		return is(path == prefix || strings.HasPrefix(path, prefix+"/"))
	case match["safe_regex"] != nil:
		if r, err := regexp.Compile("^(?:" + text(match, "safe_regex", "regex") + ")$"); err == nil {
			return is(r.MatchString(path))
		}
	case match["connect_matcher"] != nil:
		return never
	}
	return perhaps
}

// methodMatches judges a route's condition on a header by the method alone.
func methodMatches(header object, method string) whether {
	if text(header, "name") != ":method" {
		return perhaps
	}
	exact := orWord(text(header, "string_match", "exact"), text(header, "exact_match"))
	if exact == "" {
		return perhaps
	}
	if (exact == method) != flag(header, "invert_match") {
		return surely
	}
	return never
}

// samplePaths gives paths that tell a route configuration's routes apart.
func samplePaths(host object) (paths []string) {
	for _, route := range list(host, "routes") {
		m := inner(route, "match")
		paths = append(paths, text(m, "path"), text(m, "path_separated_prefix"))
		if p := text(m, "prefix"); p != "" {
			paths = append(paths, p, p+"x")
		}
	}
	return paths
}

// sampleHosts gives a host for each domain of a route configuration.
func sampleHosts(routes object) (hosts []string) {
	for _, h := range list(routes, "virtual_hosts") {
		domains, _ := h["domains"].([]any)
		for _, d := range domains {
			domain, _ := d.(string)
			hosts = append(hosts, strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(domain, "*.", "any."), "*", "any")))
		}
	}
	return hosts
}

// distinct gives what is in a list once, sorted, without what is empty.
func distinct(items []string) []string {
	slices.Sort(items)
	items = slices.Compact(items)
	return slices.DeleteFunc(items, func(s string) bool { return s == "" })
}
