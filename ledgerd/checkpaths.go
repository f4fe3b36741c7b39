package main

import (
	"slices"
	"strings"

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
	x.question(what, "x-envoy-* from callers is removed", func() {
		removed := removedEarly(g)
		left := slices.DeleteFunc(slices.Clone(steering), removed)
		if len(left) > 0 {
			x.say(warn, what, g.place, "early_header_mutation_extensions does not remove %s: a caller could have calls that are not guarded repeated, or ended early. Remove what begins with x-envoy-", strings.Join(left, ", "))
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
