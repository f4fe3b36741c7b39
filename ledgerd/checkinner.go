package main

import "fmt"

// innerWay looks at the limits on the way to the execution listener, which must not refuse what was taken before.
func (x *examination) innerWay() {
	x.question("limits", "the way to the tool and to the ledger has room", func() {
		x.breakers(x.config.Execute.Cluster, "executions under way")
		x.breakers(x.config.Ledger.Cluster, "rows that callers wait for")
		for _, m := range x.executions {
			x.innerHeaders(m)
			x.innerIdle(m)
			x.innerPaths(m)
		}
		x.replyHeaders()
	})
}

// leastRoom is what a cluster that a worker asks for every call should take at least; Envoy's default is 1,024.
const leastRoom = 10000

func (x *examination) breakers(name, of string) {
	cluster := x.parts.cluster(name)
	if cluster == nil {
		return
	}
	var normal object
	for _, t := range list(inner(cluster, "circuit_breakers"), "thresholds") {
		if p := text(t, "priority"); p == "" || p == "DEFAULT" {
			normal = t
		}
	}
	for _, limit := range []string{"max_connections", "max_pending_requests", "max_requests"} {
		n, there := number(normal, limit)
		if !there {
			n = 1024
		}
		if n < leastRoom {
			x.say(warn, "limits", "cluster "+name, "circuit_breakers: %s is %s: the next of %.0f %s would be refused. Use 100000", limit, setOr(there, n, "Envoy's"), n, of)
		}
	}
}

func setOr(there bool, n float64, whose string) string {
	if there {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("not set (%s %.0f)", whose, n)
}

// innerHeaders compares what headers the listeners take. Idem adds some.
func (x *examination) innerHeaders(m *manager) {
	for _, g := range x.guards {
		count := func(o *manager) float64 {
			return numberOr(inner(o.config, "common_http_protocol_options"), "max_headers_count", 100)
		}
		if outer, own := count(g.manager), count(m); own <= outer {
			x.say(warn, "limits", m.place, "common_http_protocol_options.max_headers_count is %.0f, and %s takes %.0f: a request with that many would be in doubt, for some are added on the way. Use more, such as %.0f", own, g.place, outer, 2*outer)
		}
		kb := func(o *manager) float64 { return numberOr(o.config, "max_request_headers_kb", 60) }
		if outer, own := kb(g.manager), kb(m); own <= outer {
			x.say(warn, "limits", m.place, "max_request_headers_kb is %.0f, and %s takes %.0f: a request with headers of that size would be in doubt. Use more, such as %.0f", own, g.place, outer, 2*outer)
		}
	}
}

// replyHeaders compares what headers of replies the clusters take, the tool's and the one of the way inside.
func (x *examination) replyHeaders() {
	name := x.config.Execute.Cluster
	within := httpProtocol(x.parts.cluster(name))
	if x.parts.cluster(name) == nil {
		return
	}
	seen := map[string]bool{}
	for _, m := range x.executions {
		for _, r := range m.all() {
			names, _ := r.clusters()
			for _, tool := range names {
				outer := httpProtocol(x.parts.cluster(tool))
				if seen[tool] || x.parts.cluster(tool) == nil {
					continue
				}
				seen[tool] = true
				for member, byDefault := range map[string]float64{"max_headers_count": 100, "max_response_headers_kb": 60} {
					if own, from := numberOr(within, member, byDefault), numberOr(outer, member, byDefault); own <= from {
						x.say(warn, "limits", "cluster "+name, "common_http_protocol_options.%s is %.0f, and cluster %s takes %.0f: a reply with that many would be in doubt, for three headers are added on the way. Use more, such as %.0f", member, own, tool, from, 2*from)
					}
				}
			}
		}
	}
}

func numberOr(o object, member string, byDefault float64) float64 {
	if n, there := number(o, member); there {
		return n
	}
	return byDefault
}

// innerIdle looks which end of a connection to the execution listener closes it when it is idle.
func (x *examination) innerIdle(m *manager) {
	cluster := x.parts.cluster(x.config.Execute.Cluster)
	client, there := duration(httpProtocol(cluster), "idle_timeout")
	if !there {
		client = defaultConnectionIdle
	}
	server, there := duration(m.config, "common_http_protocol_options", "idle_timeout")
	if !there {
		server = defaultConnectionIdle
	}
	if server > 0 && (client == 0 || client >= server) {
		x.say(warn, "limits", m.place, "common_http_protocol_options.idle_timeout is %v, and that of cluster %s %v: a request may meet a connection that is closing, and would be in doubt. Use 0s in the listener, so that only the cluster closes", server, x.config.Execute.Cluster, client)
	}
}

// innerPaths compares how the listeners make paths normal.
func (x *examination) innerPaths(m *manager) {
	for _, g := range x.guards {
		for _, member := range []string{"normalize_path", "merge_slashes"} {
			if flag(m.config, member) && !flag(g.config, member) {
				x.say(warn, "limits", m.place, "%s is true here and not in %s: an execution may take another route than its call", member, g.place)
			}
		}
		if own, outer := escapedSlashes(m), escapedSlashes(g.manager); own == "REJECT_REQUEST" && outer != own {
			x.say(warn, "limits", m.place, "path_with_escaped_slashes_action is %s here and %s in %s: a guarded call with %%2F in its path would be in doubt. Use the same in both", own, outer, g.place)
		}
	}
}

func escapedSlashes(m *manager) string {
	set := text(m.config, "path_with_escaped_slashes_action")
	if set == "" || set == "IMPLEMENTATION_SPECIFIC_DEFAULT" {
		return "KEEP_UNCHANGED"
	}
	return set
}
