package main

import (
	"fmt"
	"strings"
)

// manager is an HTTP connection manager of a listener.
type manager struct {
	place    string // where it stands, for people
	listener object
	chain    object // the filter chain that it stands in
	config   object
	routes   object // its route configuration; nil: it is not seen
}

// managers gives those of all listeners.
func (p *envoyParts) managers() (found []*manager) {
	for _, l := range p.listeners {
		found = append(found, p.managersOf(l)...)
	}
	return found
}

func (p *envoyParts) managersOf(listener object) (found []*manager) {
	chains := list(listener, "filter_chains")
	if c := inner(listener, "default_filter_chain"); c != nil {
		chains = append(chains, c)
	}
	for i, chain := range chains {
		for _, f := range list(chain, "filters") {
			config := inner(f, "typed_config")
			if !isManager(config) {
				continue
			}
			m := &manager{place: "listener " + listenerName(listener), listener: listener, chain: chain, config: config}
			if len(chains) > 1 {
				m.place += fmt.Sprintf(", filter chain %d", i)
				if name := text(chain, "name"); name != "" {
					m.place += " (" + name + ")"
				}
			}
			m.routes = p.routesOf(config)
			found = append(found, m)
		}
	}
	return found
}

func isManager(o object) bool { return strings.HasSuffix(text(o, "@type"), ".HttpConnectionManager") }

// routesOf gives a connection manager's route configuration; nil where it is not seen.
func (p *envoyParts) routesOf(config object) object {
	if rds := inner(config, "rds"); rds != nil {
		return byName(p.routes, text(rds, "route_config_name"))
	}
	return inner(config, "route_config")
}

// hidden says why a manager's routes cannot be told; empty: they can.
func (m *manager) hidden() string {
	switch {
	case m.config["scoped_routes"] != nil:
		return "its routes are scoped_routes"
	case m.routes == nil:
		return fmt.Sprintf("its route configuration %s is not part of what is looked at", text(m.config, "rds", "route_config_name"))
	case m.routes["vhds"] != nil:
		return "its virtual hosts come by VHDS"
	}
	for _, h := range list(m.routes, "virtual_hosts") {
		if h["matcher"] != nil {
			return "virtual host " + text(h, "name") + " chooses routes by a matcher"
		}
	}
	return ""
}

// httpFilter is one of a manager's filters.
type httpFilter struct {
	name   string
	entry  object // in http_filters
	config object // its typed_config; nil: it comes from elsewhere and is not seen
}

func (p *envoyParts) httpFilters(m *manager) (filters []httpFilter) {
	for _, f := range list(m.config, "http_filters") {
		each := httpFilter{name: text(f, "name"), entry: f, config: inner(f, "typed_config")}
		if f["config_discovery"] != nil {
			each.config = inner(p.filters[each.name], "typed_config")
		}
		filters = append(filters, each)
	}
	return filters
}

// is says whether a filter is of a kind: the end of its configuration's type, such as ".http.router.v3.Router".
func (f httpFilter) is(kind string) bool { return strings.HasSuffix(text(f.config, "@type"), kind) }

// plugin gives Idem's own plugin in a filter, as it guards; nil: it is another filter.
func (f httpFilter) plugin() object {
	if found := findObjects(f.config, isIdem); len(found) > 0 {
		return found[0]
	}
	return nil
}

// looksOn is the root id of the filter where it stands in the execution listener and looks on.
const looksOn = "idem-executions"

// looksOn says whether a filter is Idem's that looks on as executions pass.
func (f httpFilter) looksOn() bool {
	return text(inner(f.config, "config"), "root_id") == looksOn
}

// enabled says whether a filter works for the calls of a route; a nil route is that of calls that have none.
func (m *manager) enabled(f httpFilter, r *taken) (enabled bool, where string) {
	enabled, where = !flag(f.entry, "disabled"), m.place+", http_filters: "+f.name
	if r == nil {
		return enabled, where
	}
	for _, level := range r.levels() {
		c := inner(inner(level.config, "typed_per_filter_config"), f.name)
		if c == nil {
			continue
		}
		switch kind := text(c, "@type"); {
		case strings.HasSuffix(kind, ".FilterConfig") && flag(c, "disabled"):
			return false, level.place + ", typed_per_filter_config of " + f.name
		default:
			return true, level.place + ", typed_per_filter_config of " + f.name
		}
	}
	return enabled, where
}
