package main

import (
	"encoding/json"
	"slices"
	"strings"

	"idem/filter/policy"
)

// unrouted names the rules whose executions no route of the execution listener can take: each call of theirs would get
// 502 not_sent. It tells only what is plain, for hosts, headers and methods of a route narrow it further: where a route
// matches by anything but a path or a prefix, or something may change the path on the way, it says nothing.
func (x *examination) unrouted() {
	routes, known := executionRoutes(x.executions)
	if !known {
		return
	}
	for _, rule := range x.config.Calls {
		m := rule.Match
		path := m.Path + m.PathPrefix // one of them is set, or none
		if rule.Mode != policy.Enforce || rule.Inline || m.Route || path == "" || !plainPath(path) {
			continue
		}
		if !slices.ContainsFunc(routes, func(route object) bool { return mayTake(route, m) }) {
			x.say(warn, "execution routes", "cluster "+x.config.Execute.Cluster, "no route of the listener behind it matches %s, which rule %q guards: its calls get 502 not_sent. Give that listener the tool's routes too", path, rule.Name)
		}
	}
}

// executionRoutes gives the matches of all routes of some connection managers. known is false where not all of them can
// be told.
func executionRoutes(managers []*manager) (matches []object, known bool) {
	for _, m := range managers {
		hosts := list(m.routes, "virtual_hosts")
		if m.hidden() != "" || len(hosts) == 0 || changesPath(m.config) {
			return nil, false
		}
		for _, h := range hosts {
			if _, isList := h["routes"].([]any); !isList {
				return nil, false
			}
			for _, route := range list(h, "routes") {
				matches = append(matches, inner(route, "match"))
			}
		}
	}
	return matches, len(managers) > 0
}

// changesPath says whether a connection manager has something that might change a request's path, beside what makes it
// normal: any filter but the router, and Idem's own that looks on as executions pass.
func changesPath(manager object) bool {
	filters, _ := manager["http_filters"].([]any)
	for _, f := range filters {
		filter, _ := f.(object)
		config, _ := filter["typed_config"].(object)
		if !strings.HasSuffix(text(config, "@type"), ".Router") && text(config, "config", "root_id") != looksOn {
			return true
		}
	}
	early, err := json.Marshal(manager["early_header_mutation_extensions"])
	return err != nil || strings.Contains(string(early), `":path"`)
}

// mayTake says whether some path that a rule guards could be the route's. Letters count alike in any case, as they do to
// a rule that guards, and a path may end in a slash.
func mayTake(route object, m policy.Match) bool {
	exact, prefix := strings.ToLower(m.Path), strings.ToLower(m.PathPrefix)
	of := func(kind string) string { return strings.ToLower(text(route, kind)) }
	path, begin, segments := of("path"), of("prefix"), of("path_separated_prefix")
	switch written := path + begin + segments; {
	case written == "" || !plainPath(written):
		return true // another kind of match
	case exact != "":
		exact = strings.TrimRight(exact, "/")
		for _, own := range []string{exact, exact + "/"} {
			if own == path && path != "" || begin != "" && strings.HasPrefix(own, begin) ||
				segments != "" && strings.HasPrefix(own+"/", segments+"/") {
				return true
			}
		}
		return false
	case path != "":
		return strings.HasPrefix(path, prefix)
	case begin != "":
		return strings.HasPrefix(begin, prefix) || strings.HasPrefix(prefix, begin)
	default:
		return strings.HasPrefix(segments, prefix) || strings.HasPrefix(prefix, segments+"/")
	}
}

// plainPath says whether a path can be read in one way only.
func plainPath(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.ContainsAny(path, `%?#;\`) && !strings.Contains(path, "//") && !strings.Contains(path, "/.")
}
