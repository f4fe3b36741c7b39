package main

import (
	"fmt"
	"net/netip"
)

// execution follows execute.cluster to the listener of this Envoy that executions come in by, and judges it.
func (x *examination) execution() {
	name := x.config.Execute.Cluster
	what, place := "execution ("+name+")", "cluster "+name
	x.ledger()
	cluster := x.parts.cluster(name)
	switch {
	case cluster == nil && x.parts.comesLater("clusters"):
		x.say(warn, what, place, "not seen: it comes by CDS")
		return
	case cluster == nil:
		x.say(fail, what, place, "there is no cluster of this name (execute.cluster)")
		return
	}
	listener, where := x.parts.target(cluster)
	switch {
	case listener == nil && x.parts.comesLater("listeners"):
		x.say(warn, what, place, "not seen: it leads to %s, and listeners come by LDS", where)
		return
	case listener == nil:
		x.say(fail, what, place, "it leads to %s, where no listener of this Envoy is: executions must come in by one, which says how they ended", where)
		return
	}
	x.executions = x.parts.managersOf(listener)
	if len(x.executions) == 0 {
		x.say(fail, what, "listener "+listenerName(listener), "it has no HTTP connection manager")
		return
	}
	x.question(what, "leads to "+where, func() { x.reach(what, listener) })
	for _, m := range x.executions {
		for _, f := range x.parts.httpFilters(m) {
			if f.plugin() != nil {
				x.say(fail, what, m.place, "http_filters: %s guards here too, so that an execution is parked as a call of its own and never reaches the tool. execute.cluster must lead to a listener without it", f.name)
			}
		}
		if m.routes == nil {
			x.say(warn, "execution routes", m.place, "not seen: %s", m.hidden())
			continue
		}
		x.executedOnce(m)
		x.endsTold(m)
	}
}

// reach looks who can reach the execution listener.
func (x *examination) reach(what string, listener object) {
	if listener["internal_listener"] != nil {
		extensions := list(x.parts.bootstrap, "bootstrap_extensions")
		if x.parts.bootstrap != nil && byName(extensions, "envoy.bootstrap.internal_listener") == nil {
			x.say(fail, what, "bootstrap_extensions", "envoy.bootstrap.internal_listener is not among them: no cluster can reach an internal listener without it")
		}
		return
	}
	if !onLoopback(listener) {
		x.say(fail, what, "listener "+listenerName(listener), "its address is %s: whoever reaches it reaches the tool unguarded. Use an internal listener, or 127.0.0.1", addressText(inner(listener, "address")))
	}
}

// ledger looks for the ledger's cluster.
func (x *examination) ledger() {
	name := x.config.Ledger.Cluster
	switch {
	case x.parts.cluster(name) != nil:
	case x.parts.comesLater("clusters"):
		x.say(warn, "ledger", "cluster "+name, "not seen: it comes by CDS")
	default:
		x.say(fail, "ledger", "cluster "+name, "there is no cluster of this name (ledger.cluster): every call gets 503 ledger_unavailable")
	}
}

// target gives the listener of this Envoy that a cluster's endpoints lead to, and how it is reached.
func (p *envoyParts) target(cluster object) (listener object, where string) {
	where = "no endpoint"
	for _, endpoint := range p.endpointsOf(cluster) {
		where = addressText(endpoint)
		if name := text(endpoint, "envoy_internal_address", "server_listener_name"); name != "" {
			if l := byName(p.listeners, name); l != nil && l["internal_listener"] != nil {
				return l, where
			}
			continue
		}
		for _, l := range p.listeners {
			if sameAddress(inner(l, "address"), endpoint) {
				return l, where
			}
		}
	}
	return nil, where
}

// sameAddress says whether a listener's address takes what is sent to an endpoint's.
func sameAddress(own, endpoint object) bool {
	at, to := inner(own, "socket_address"), inner(endpoint, "socket_address")
	if at == nil || to == nil {
		return false
	}
	ip, err := netip.ParseAddr(text(at, "address"))
	everywhere := err == nil && ip.IsUnspecified()
	return fmt.Sprint(at["port_value"]) == fmt.Sprint(to["port_value"]) && (everywhere || text(at, "address") == text(to, "address"))
}
