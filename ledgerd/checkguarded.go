package main

import (
	"slices"
	"strings"
)

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
	if tls := text(r.host, "require_tls"); tls != "" && tls != "NONE" {
		x.say(warn, what, r.hostPlace(), "require_tls is %s: executions come in without TLS, so that they are redirected and in doubt. Leave it out", tls)
	}
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
