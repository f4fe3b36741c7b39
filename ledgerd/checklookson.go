package main

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
