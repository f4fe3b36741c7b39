package main

import (
	"fmt"
	"net/netip"
	"slices"
)

// wayRound looks for other listeners that lead to the tool.
func (x *examination) wayRound() {
	x.question("way round", "no other listener leads to the tools", func() {
		for _, g := range x.guards {
			x.doors(g)
		}
		x.adminInterface()
		guarded := map[string]bool{}
		for _, c := range x.guardedCalls {
			for _, r := range c.executedBy() {
				names, _ := r.clusters()
				for _, n := range names {
					guarded[n] = true
				}
			}
		}
		for _, m := range x.parts.managers() {
			if x.isKnown(m) || m.listener["internal_listener"] != nil {
				continue
			}
			for _, r := range m.all() {
				names, _ := r.clusters()
				for _, n := range names {
					if guarded[n] {
						x.say(warn, "way round", r.place(), "it leads to cluster %s, which guarded calls execute on, and Idem's filter is not here", n)
					}
				}
			}
		}
	})
}

// isKnown says whether a manager is one that calls or executions come in by.
func (x *examination) isKnown(m *manager) bool {
	for _, f := range x.parts.httpFilters(m) {
		if f.plugin() != nil {
			return true
		}
	}
	for _, e := range x.executions {
		if e.place == m.place {
			return true
		}
	}
	return false
}

// doors looks for what else a guarding listener opens: the way that executions take, the ledger, and filter chains of
// their own that upgraded requests get.
func (x *examination) doors(g *guard) {
	const what = "way round"
	for _, r := range g.all() {
		names, _ := r.clusters()
		for _, n := range names {
			switch {
			case n == x.config.Execute.Cluster:
				x.say(fail, what, r.place(), "it leads to cluster %s, the way of executions: what no rule matches reaches the tools there. Lead it to the tool's own cluster", n)
			case n == x.config.Ledger.Cluster:
				x.say(fail, what, r.place(), "it leads to cluster %s, the ledger's data API, which is for the filter alone. Leave it out", n)
			case x.isAdminAPI(n) && !onLoopback(g.listener):
				x.say(fail, what, r.place(), "it leads to cluster %s, ledgerd's admin API, and the listener's address is %s: whoever reaches it answers holds. Leave it out", n, addressText(inner(g.listener, "address")))
			}
		}
	}
	for _, u := range list(g.config, "upgrade_configs") {
		own := list(u, "filters")
		guards := slices.ContainsFunc(own, func(f object) bool { return httpFilter{config: inner(f, "typed_config")}.plugin() != nil })
		if len(own) > 0 && !guards {
			x.say(fail, what, g.place, "upgrade_configs: %s has filters of its own without %s: a call that asks for that upgrade passes unguarded. Put it among them", text(u, "upgrade_type"), g.idem().name)
		}
	}
}

// isAdminAPI says whether a cluster leads to ledgerd's admin API, by the name that it has here or its usual port.
func (x *examination) isAdminAPI(name string) bool {
	const usual = "7413"
	return name == "ledgerd-admin" || slices.ContainsFunc(x.parts.endpointsOf(x.parts.cluster(name)), func(address object) bool {
		return fmt.Sprint(inner(address, "socket_address")["port_value"]) == usual
	})
}

// adminInterface looks who can reach Envoy's own.
func (x *examination) adminInterface() {
	admin := inner(x.parts.bootstrap, "admin")
	if inner(admin, "address") != nil && !onLoopback(admin) {
		x.say(warn, "way round", "admin", "its address is %s: whoever reaches it reads this configuration and stops Envoy. Use 127.0.0.1", addressText(inner(admin, "address")))
	}
}

// onLoopback says whether only this machine reaches what has an address.
func onLoopback(o object) bool {
	address := inner(o, "address")
	if inner(address, "socket_address") == nil {
		return true
	}
	ip, err := netip.ParseAddr(text(address, "socket_address", "address"))
	return err == nil && ip.IsLoopback()
}
