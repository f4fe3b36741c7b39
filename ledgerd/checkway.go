package main

import (
	"slices"
	"strings"
	"time"

	"idem/filter/policy"
)

// paths looks whether one endpoint has one path at a listener.
func (x *examination) paths(g *guard) {
	const what = "paths"
	byRoute := slices.ContainsFunc(x.config.Calls, func(r *policy.Rule) bool { return r.Match.Route })
	if g.hidden() == "" {
		for _, s := range sayings(envoyDocument{read: g.routes}) {
			byRoute = byRoute || s.said != nil
		}
	}
	grade, cost := warn, "two spellings of one path count as two calls, and may take other routes"
	if byRoute {
		grade, cost = fail, "another spelling of a path (/x/..//pay) takes another route, past the one that names a rule"
	}
	x.question(what, "one endpoint has one path", func() {
		for _, member := range []string{"normalize_path", "merge_slashes"} {
			if !flag(g.config, member) {
				x.say(grade, what, g.place, "%s is %s: want true. Without it %s", member, shown(g.config[member]), cost)
			}
		}
		if set := escapedSlashes(g.manager); set == "KEEP_UNCHANGED" {
			x.say(warn, what, g.place, "path_with_escaped_slashes_action is %s: want REJECT_REQUEST, unless the tool's paths carry %%2F; look then at how it reads them",
				orWord(text(g.config, "path_with_escaped_slashes_action"), "not set, which is KEEP_UNCHANGED"))
		}
	})
}

// steering are headers by which a caller could have a request repeated, or ended early.
var steering = []string{"x-envoy-retry-on", "x-envoy-retry-grpc-on", "x-envoy-max-retries", "x-envoy-upstream-rq-timeout-ms", "x-envoy-upstream-rq-per-try-timeout-ms", "x-envoy-hedge-on-per-try-timeout"}

// callersHeaders looks whether callers can steer Envoy.
func (x *examination) callersHeaders(g *guard) {
	const what = "callers' headers"
	inline := slices.ContainsFunc(x.config.Calls, func(r *policy.Rule) bool { return r.Mode == policy.Enforce && r.Inline })
	x.question(what, "x-envoy-* from callers is removed", func() {
		removed := removedEarly(g)
		left := slices.DeleteFunc(slices.Clone(steering), removed)
		if len(left) > 0 {
			grade, cost := warn, "a caller could have calls that are not guarded repeated, or ended early"
			if inline {
				grade, cost = fail, "a caller could have an inline execution repeated, or ended early"
			}
			x.say(grade, what, g.place, "early_header_mutation_extensions does not remove %s: %s. Remove what begins with x-envoy-", strings.Join(left, ", "), cost)
		}
		if !flag(g.config, "use_remote_address") {
			x.say(warn, what, g.place, "use_remote_address is %s: a caller's own word (x-forwarded-for) is taken for where it comes from, which is right only behind a proxy that writes it", shown(g.config["use_remote_address"]))
		}
	})
}

// removedEarly says of a header whether it is removed before Idem's filter sees a request.
func removedEarly(g *guard) func(name string) bool {
	var mutations []object
	for _, e := range list(g.config, "early_header_mutation_extensions") {
		mutations = append(mutations, list(inner(e, "typed_config"), "mutations")...)
	}
	for _, f := range g.filters[:g.at] {
		if f.is(".header_mutation.v3.HeaderMutation") && !flag(f.entry, "disabled") {
			mutations = append(mutations, list(inner(f.config, "mutations"), "request_mutations")...)
		}
	}
	return func(name string) bool {
		return slices.ContainsFunc(mutations, func(m object) bool {
			matcher := inner(inner(m, "remove_on_match"), "key_matcher")
			prefix, exact := text(matcher, "prefix"), text(matcher, "exact")
			return strings.EqualFold(text(m, "remove"), name) || exact == name ||
				prefix != "" && strings.HasPrefix(name, strings.ToLower(prefix)) && (flag(matcher, "ignore_case") || prefix == strings.ToLower(prefix))
		})
	}
}

// switchedOn looks whether the filter works on the route of a guarded call.
func (x *examination) switchedOn(c guardedCall) {
	f := c.guard.idem()
	on, place := c.guard.enabled(f, c.by)
	const right = `rule %q guards %s here, and its calls pass unguarded. Leave it out; a route that is not to be guarded says so in its metadata (mode: "off")`
	if !on {
		x.say(fail, "guarded", place, "the filter is disabled: "+right, c.rule.Name, c.sample.path)
		return
	}
	if c.by == nil {
		return
	}
	for _, w := range c.by.weighted() {
		if flag(inner(inner(w, "typed_per_filter_config"), f.name), "disabled") {
			x.say(fail, "guarded", c.by.place()+", weighted cluster "+text(w, "name")+", typed_per_filter_config of "+f.name, "the filter is disabled: "+right, c.rule.Name, c.sample.path)
		}
	}
}

// sameTool compares where the two listeners lead a call, and how they rewrite it.
func (x *examination) sameTool(c guardedCall) {
	const what = "same tool"
	if c.by == nil || !c.by.sure || len(c.runs) != 1 || !c.runs[0].sure {
		return // which route it is depends on more than path and method
	}
	r := c.runs[0]
	if r.action() == nil {
		x.say(warn, what, r.place(), "it answers %s itself and sends nothing to the tool: calls of rule %q would be in doubt", c.sample.path, c.rule.Name)
		return
	}
	if c.by.action() == nil {
		return
	}
	first, known := c.by.clusters()
	second, alsoKnown := r.clusters()
	if !known || !alsoKnown {
		x.say(warn, what, r.place(), "not seen: whether %s leads to the same tool as %s, for a cluster is chosen by the call", c.sample.path, c.by.place())
		return
	}
	if !x.sameEndpoints(first, second) {
		x.say(fail, what, r.place(), "it leads %s, which rule %q guards, to cluster %s; %s leads it to %s. Both must lead to the same tool",
			c.sample.path, c.rule.Name, strings.Join(second, ", "), c.by.place(), strings.Join(first, ", "))
	}
	for _, member := range []string{"prefix_rewrite", "regex_rewrite", "path_rewrite_policy", "path_rewrite", "host_rewrite_literal", "auto_host_rewrite", "host_rewrite_header", "host_rewrite_path_regex", "host_rewrite"} {
		if own, other := shown(c.by.action()[member]), shown(r.action()[member]); own != other {
			x.say(warn, what, r.place(), "%s is %s, and %s on %s: the tool gets guarded calls with another path or host than those that pass", member, other, own, c.by.place())
		}
	}
}

// sameEndpoints says whether two routes' clusters are the same, or have the same endpoints under other names.
func (x *examination) sameEndpoints(first, second []string) bool {
	if slices.Equal(first, second) {
		return true
	}
	addresses := func(names []string) (all []string) {
		for _, n := range names {
			for _, e := range x.parts.endpointsOf(x.parts.cluster(n)) {
				all = append(all, addressText(e))
			}
		}
		return distinct(all)
	}
	a, b := addresses(first), addresses(second)
	return len(a) > 0 && slices.Equal(a, b)
}

// bodySize looks whether Envoy buffers what a rule takes.
func (x *examination) bodySize(c guardedCall) {
	const what = "body size"
	const mib = 1 << 20
	most := float64(c.rule.MaxBodyBytes)
	limit, there := number(c.guard.listener, "per_connection_buffer_limit_bytes")
	if !there {
		limit = mib
	}
	place := "listener " + listenerName(c.guard.listener)
	if c.by != nil {
		for _, l := range c.by.levels()[:2] {
			if n, raised := number(l.config, "request_body_buffer_limit"); raised { // it raises the limit only; measured
				limit = max(limit, n)
				break
			}
		}
	}
	judge := func(place, setting string, limit float64) {
		switch {
		case limit < most:
			x.say(fail, what, place, "%s: less than max_body_bytes (%.0f) of rule %q. A body between them gets Envoy's bare 413. Use more, such as 4194304", setting, most, c.rule.Name)
		case limit == most:
			x.say(warn, what, place, "%s: no more than max_body_bytes of rule %q, so that a larger body gets Envoy's bare 413 and not Idem's, which says what the limit is. Use more, such as 4194304", setting, c.rule.Name)
		}
	}
	judge(place, "per_connection_buffer_limit_bytes is "+setOr(there, limit, "Envoy's"), limit)
	for _, f := range c.guard.filters[:c.guard.at] {
		if !f.is(".buffer.v3.Buffer") {
			continue
		}
		if on, _ := c.guard.enabled(f, c.by); !on {
			continue
		}
		config, at := f.config, c.guard.place+", http_filters: "+f.name
		if c.by != nil {
			for _, l := range c.by.levels() {
				if own := inner(inner(l.config, "typed_per_filter_config"), f.name); own != nil {
					config, at = inner(own, "buffer"), l.place+", typed_per_filter_config of "+f.name
					if flag(own, "disabled") {
						config = nil
					}
					break
				}
			}
		}
		if n, given := number(config, "max_request_bytes"); given {
			judge(at, "max_request_bytes is "+setOr(true, n, ""), n)
		}
	}
}

// toolClusters looks whether connections to the tool are closed here before the tool closes them.
func (x *examination) toolClusters(c guardedCall) {
	routes := c.runs
	if c.rule.Inline && c.by != nil {
		routes = []*taken{c.by}
	}
	for _, r := range routes {
		names, _ := r.clusters()
		for _, name := range names {
			x.toolCluster(name, r)
		}
	}
}

// A tool closes a connection that has been idle for long enough: many servers after 5 s, some after 2 s, few after more
// than a minute.
const (
	surelyTooLong = time.Minute
	mayBeTooLong  = 2 * time.Second
)

func (x *examination) toolCluster(name string, from *taken) {
	const what = "tool's connections"
	const right = "it must be below the time after which the tool closes an idle connection (many servers: 5 s, some 2 s), for a request that meets a closing one is in doubt. Use 1s, or what is below your tool's"
	cluster, place := x.parts.cluster(name), "cluster "+name
	switch idle, set := duration(httpProtocol(cluster), "idle_timeout"); {
	case cluster == nil && x.parts.comesLater("clusters"):
		x.say(warn, what, place, "not seen: it comes by CDS")
	case cluster == nil:
		x.say(fail, what, place, "there is no cluster of this name, to which %s leads", from.place())
	case !set:
		x.say(fail, what, place, "common_http_protocol_options.idle_timeout is not set, so that Envoy's 1h hold: %s", right)
	case idle == 0 || idle > surelyTooLong:
		x.say(fail, what, place, "common_http_protocol_options.idle_timeout is %v: %s", idle, right)
	case idle >= mayBeTooLong:
		x.say(warn, what, place, "common_http_protocol_options.idle_timeout is %v: %s", idle, right)
	}
}

// lookedOn looks whether an MCP server's event streams can be resumed.
func (x *examination) lookedOn(c guardedCall) {
	const what = "MCP streams"
	if c.rule.Protocol != "mcp" || c.rule.Inline {
		return
	}
	for _, r := range c.runs {
		on := false
		for _, f := range x.parts.httpFilters(r.manager) {
			if !f.looksOn() {
				continue
			}
			enabled, _ := r.manager.enabled(f, r)
			on = on || enabled
			plugin := inner(f.config, "config")
			if set := text(plugin, "failure_policy"); enabled && set != "FAIL_OPEN" {
				x.say(warn, what, r.manager.place, "http_filters: %s has failure_policy %s: it only looks on, so that it should not end executions. Use FAIL_OPEN", f.name, orWord(set, "not set"))
			}
			for _, g := range x.guards {
				own := inner(inner(g.idem().config, "config"), "vm_config")
				if other := inner(plugin, "vm_config"); enabled && own != nil && shownWhole(own) != shownWhole(other) {
					x.say(warn, what, r.manager.place, "http_filters: %s has another vm_config than %s, so that it is not in the same VM and what it sees reaches nobody", f.name, g.idem().name)
				}
			}
		}
		if !on {
			x.say(warn, what, r.place(), "the filter does not look on here: an MCP server's event stream whose connection breaks, or that stays open after the response, is in doubt (rule %q). Put %s in this listener and switch it on, as in envoy/demo.yaml", c.rule.Name, looksOn)
		}
	}
}
