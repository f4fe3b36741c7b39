package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"idem/filter/policy"
)

// unrouted names the rules whose executions no route of the execution listener can take: each call of theirs would get
// 502 not_sent. It tells only what is plain, for hosts, headers and methods of a route narrow it further: where a route
// matches by anything but a path or a prefix, or something may change the path on the way, it says nothing.
func unrouted(doc any, config *policy.Config) (warnings []string) {
	routes, known := executionRoutes(doc, config.Execute.Cluster)
	if !known {
		return nil
	}
	for _, rule := range config.Calls {
		m := rule.Match
		path := m.Path + m.PathPrefix // one of them is set, or none
		if rule.Mode != policy.Enforce || rule.Inline || m.Route || path == "" || !plainPath(path) {
			continue
		}
		taken := false
		for _, r := range routes {
			taken = taken || mayTake(r, m)
		}
		if !taken {
			warnings = append(warnings, fmt.Sprintf("no route of the listener behind cluster %s matches %s, which rule %q guards: its calls get 502 not_sent. Give that listener the tool's routes too",
				config.Execute.Cluster, path, rule.Name))
		}
	}
	return warnings
}

// executionRoutes gives the matches of all routes behind a cluster. known is false where not all of them can be told.
func executionRoutes(doc any, cluster string) (matches []object, known bool) {
	c := named(doc, cluster, "load_assignment", "type", "connect_timeout", "cluster_type")
	if c == nil || len(findObjects(c, func(o object) bool { return o["http_filters"] != nil })) > 0 {
		return nil, false
	}
	listener, _ := targetListener(doc, c)
	managers := findObjects(listener, isManager)
	for _, m := range managers {
		routes := routesOf(doc, m)
		hosts, _ := routes["virtual_hosts"].([]any)
		if len(hosts) == 0 || routes["vhds"] != nil || m["scoped_routes"] != nil || changesPath(m) {
			return nil, false
		}
		for _, h := range hosts {
			host, _ := h.(object)
			list, isList := host["routes"].([]any)
			if !isList || host["matcher"] != nil {
				return nil, false
			}
			for _, r := range list {
				route, _ := r.(object)
				match, _ := route["match"].(object)
				matches = append(matches, match)
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
