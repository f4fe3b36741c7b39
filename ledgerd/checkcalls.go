package main

import (
	"slices"

	"idem/filter/policy"
)

// guardedCall is a call that a rule enforces on, and the routes that it could take.
type guardedCall struct {
	sample sampleCall
	rule   *policy.Rule
	guard  *guard
	by     *taken   // the first listener's route; nil: none
	runs   []*taken // the execution listener's; none where the call is executed inline
}

// executedBy gives the routes that executions of a call take.
func (c guardedCall) executedBy() []*taken {
	if c.rule.Inline && c.by != nil {
		return []*taken{c.by}
	}
	return c.runs
}

// mostSamples bounds how many calls are looked at for each listener.
const mostSamples = 20000

// calls looks at what becomes of calls that tell the routes of both ways apart, as Envoy and the filter would take them.
func (x *examination) calls() {
	var calls []guardedCall
	for _, g := range x.guards {
		if why := g.hidden(); why != "" {
			x.say(warn, "routes", g.place, "not seen: what becomes of guarded calls, for %s", why)
		}
		calls = append(calls, x.guarded(g)...)
	}
	x.guardedCalls = calls
	x.question("guarded", "the filter is switched on for every guarded call", func() { each(calls, x.switchedOn) })
	x.question("inline executions", "nothing repeats them", func() { each(calls, x.repeatsInline) })
	x.question("same tool", "both listeners lead guarded calls to the same clusters", func() { each(calls, x.sameTool) })
	x.question("time to execute", "no timeout ends an execution before its execution_timeout", func() { each(calls, x.timeToExecute) })
	x.question("time to wait", "no timeout ends a caller that waits", func() { each(calls, x.timeToWait) })
	x.question("body size", "more than max_body_bytes fits", func() { each(calls, x.bodySize) })
	x.question("tool's connections", "idle ones are closed here first", func() { each(calls, x.toolClusters) })
	x.question("MCP streams", "executions are looked on as they pass", func() { each(calls, x.lookedOn) })
}

func each(calls []guardedCall, judge func(guardedCall)) {
	for _, c := range calls {
		judge(c)
	}
}

// guarded gives the calls that rules enforce on at a listener.
func (x *examination) guarded(g *guard) (calls []guardedCall) {
	type key struct {
		rule   *policy.Rule
		by, to string
	}
	seen := map[key]bool{}
	left := mostSamples
	for _, sample := range x.samples(g) {
		if left--; left < 0 {
			x.say(warn, "routes", g.place, "not seen: more than the first %d calls that tell its hosts, paths and methods apart", mostSamples)
			break
		}
		by := []*taken{nil}
		if g.hidden() == "" {
			if routes := g.take(sample); len(routes) > 0 {
				by = routes
			}
		}
		for _, route := range by {
			for _, rule := range x.enforced(route, sample) {
				c := guardedCall{sample: sample, rule: rule, guard: g, by: route}
				if !rule.Inline {
					c.runs = x.executionsOf(sample)
				}
				k := key{rule: rule}
				if route != nil {
					k.by = route.place()
				}
				for _, r := range c.runs {
					k.to += r.place() + "\n"
				}
				if !seen[k] {
					seen[k] = true
					calls = append(calls, c)
				}
			}
		}
	}
	return calls
}

func (x *examination) executionsOf(sample sampleCall) (runs []*taken) {
	for _, m := range x.executions {
		if m.hidden() == "" {
			runs = append(runs, m.take(sample)...)
		}
	}
	return runs
}

// samples gives calls that tell the routes of a listener and of the executions apart, and the rules.
func (x *examination) samples(g *guard) (samples []sampleCall) {
	var hosts, own, methods []string
	for _, rule := range x.config.Calls {
		hosts = append(hosts, rule.Match.Host)
		methods = append(methods, rule.Match.Methods...)
		own = append(own, rule.Match.Path, rule.Match.PathPrefix)
		if rule.Match.PathPrefix != "" {
			own = append(own, rule.Match.PathPrefix+"x")
		}
	}
	managers := append([]*manager{g.manager}, x.executions...)
	for _, m := range managers {
		hosts = append(hosts, sampleHosts(m.routes)...)
	}
	for _, host := range distinct(append(hosts, "any")) {
		paths := append([]string{"/"}, own...)
		for _, m := range managers {
			h, _ := virtualHost(m.routes, host)
			paths = append(paths, samplePaths(h)...)
		}
		for _, path := range distinct(paths) {
			for _, method := range distinct(slices.Clone(methods)) {
				samples = append(samples, sampleCall{host, path, method})
			}
		}
	}
	return samples
}

// enforced gives the rules that hold for a call on a route, until one that takes whatever the body says.
func (x *examination) enforced(route *taken, c sampleCall) (rules []*policy.Rule) {
	var said [][2]string
	if route != nil {
		members, _ := idemMetadata(route.route)
		o, _ := members.(object)
		for _, name := range sortedKeys(o) {
			value, _ := o[name].(string)
			said = append(said, [2]string{name, value})
		}
	}
	by, mistake := x.config.Route(said)
	if mistake != nil {
		return nil // its calls are refused, and that is told of elsewhere
	}
	for _, rule := range x.config.Candidates(by, []string{c.method}, c.host, c.path) {
		if rule.Mode == policy.Enforce {
			rules = append(rules, rule)
		}
		if len(rule.Match.Tools) == 0 {
			break
		}
	}
	return rules
}

// clusters gives the clusters that a route may lead to. known is false where others are chosen by the call.
func (r *taken) clusters() (names []string, known bool) {
	action := r.action()
	if action["cluster_header"] != nil || action["cluster_specifier_plugin"] != nil || action["inline_cluster_specifier_plugin"] != nil {
		return nil, false
	}
	if name := text(action, "cluster"); name != "" {
		names = append(names, name)
	}
	for _, w := range r.weighted() {
		if w["cluster_header"] != nil {
			return nil, false
		}
		names = append(names, text(w, "name"))
	}
	return distinct(names), true
}

func (r *taken) weighted() []object { return list(inner(r.action(), "weighted_clusters"), "clusters") }
