package main

import (
	"fmt"
	"strings"
)

// endHeaders are the headers by which the execution listener says how a call ended, and what each must be made of.
var endHeaders = [][2]string{
	{"x-idem-flags", "%RESPONSE_FLAGS%"},
	{"x-idem-details", "%RESPONSE_CODE_DETAILS%"},
	{"x-idem-attempts", "%UPSTREAM_REQUEST_ATTEMPT_COUNT%"},
}

// repeaters are the members of a route that may send a request more than once.
var repeaters = []string{"retry_policy", "hedge_policy", "request_mirror_policies", "internal_redirect_policy", "retry_policy_typed_config"}

// examineExecution follows a cluster to the listener of this Envoy that executions come in by, and judges its routes.
func examineExecution(dump any, cluster string) []finding {
	what := "execution (" + cluster + ")"
	c := named(dump, cluster, "load_assignment", "type", "connect_timeout", "cluster_type")
	if c == nil {
		return []finding{{fail, what, "there is no cluster of this name"}}
	}
	listener, where := targetListener(dump, c)
	if listener == nil {
		return []finding{{fail, what, "the cluster leads to " + where + ", where no listener of this Envoy is: executions must come in by one, which says how they ended"}}
	}
	managers := findObjects(listener, isManager)
	if len(managers) == 0 {
		return []finding{{fail, what, where + " has no HTTP connection manager"}}
	}
	found := []finding{{well, what, "leads to " + where}}
	for _, m := range managers {
		found = append(found, examineManager(dump, m, where)...)
	}
	return found
}

func examineManager(dump any, manager object, where string) []finding {
	routes := routesOf(dump, manager)
	if routes == nil {
		return []finding{{fail, "execution routes", where + " has no route configuration that is known here"}}
	}
	var found []finding
	if at := repeating(routes, "route_config"); len(at) > 0 {
		found = append(found, finding{fail, "executed once", strings.Join(at, ", ") + ": it can send a call to the tool more than once"})
	} else {
		found = append(found, finding{well, "executed once", "no retries, hedging, mirroring or internal redirects"})
	}
	found = append(found, endsTold("routes say how a call ended", func(h [2]string) bool { return everyRouteAdds(routes, h) },
		"on the route configuration, response_headers_to_add with OVERWRITE_IF_EXISTS_OR_ADD"))
	local, _ := manager["local_reply_config"].(object)
	found = append(found, endsTold("so do Envoy's own replies", func(h [2]string) bool {
		mappers, _ := local["mappers"].([]any)
		for _, m := range mappers {
			if mapper, ok := m.(object); ok && adds(mapper["headers_to_add"], h) {
				return true
			}
		}
		return false
	}, "in local_reply_config's mappers, headers_to_add with OVERWRITE_IF_EXISTS_OR_ADD"))
	return found
}

// endsTold says which of the three headers are missing somewhere.
func endsTold(what string, has func([2]string) bool, remedy string) finding {
	var missing []string
	for _, h := range endHeaders {
		if !has(h) {
			missing = append(missing, h[0]+": "+h[1])
		}
	}
	if len(missing) > 0 {
		return finding{fail, what, fmt.Sprintf("missing: %s. Put them %s; without them every failure is in doubt", strings.Join(missing, ", "), remedy)}
	}
	return finding{well, what, "x-idem-flags, x-idem-details, x-idem-attempts"}
}

// everyRouteAdds says whether the header is added whatever route a call takes: by the configuration, by each virtual
// host, or by each route of those that do not.
func everyRouteAdds(routes object, h [2]string) bool {
	const member = "response_headers_to_add"
	if adds(routes[member], h) {
		return true
	}
	hosts, _ := routes["virtual_hosts"].([]any)
	for _, v := range hosts {
		host, _ := v.(object)
		if adds(host[member], h) {
			continue
		}
		list, _ := host["routes"].([]any)
		for _, r := range list {
			if route, _ := r.(object); !adds(route[member], h) {
				return false
			}
		}
	}
	return len(hosts) > 0
}

// adds says whether a list of header options writes a header over whatever was there.
func adds(list any, want [2]string) bool {
	options, _ := list.([]any)
	for _, o := range options {
		option, _ := o.(object)
		header, _ := option["header"].(object)
		if strings.EqualFold(text(header, "key"), want[0]) && text(header, "value") == want[1] {
			return text(option, "append_action") == "OVERWRITE_IF_EXISTS_OR_ADD"
		}
	}
	return false
}

// repeating lists where a route configuration may send a request more than once. A retry policy that names no
// condition retries nothing.
func repeating(doc any, at string) (found []string) {
	switch v := doc.(type) {
	case object:
		for _, name := range sortedKeys(v) {
			for _, r := range repeaters {
				if name == r && !(name == "retry_policy" && idle(v[name])) {
					found = append(found, at+"/"+name)
				}
			}
			found = append(found, repeating(v[name], at+"/"+name)...)
		}
	case []any:
		for i, item := range v {
			found = append(found, repeating(item, fmt.Sprintf("%s/%d", at, i))...)
		}
	}
	return found
}

func idle(policy any) bool {
	p, _ := policy.(object)
	return text(p, "retry_on") == "" && p["retriable_status_codes"] == nil && p["retry_host_predicate"] == nil
}

// targetListener gives the listener of this Envoy that a cluster's endpoints lead to, and how it is reached.
func targetListener(dump any, cluster object) (listener object, where string) {
	where = "no endpoint"
	for _, endpoint := range findObjects(cluster, func(o object) bool { return o["envoy_internal_address"] != nil || o["socket_address"] != nil }) {
		if name := text(endpoint, "envoy_internal_address", "server_listener_name"); name != "" {
			where = "the internal listener " + name
			if l := named(dump, name, "internal_listener"); l != nil {
				return l, where
			}
			continue
		}
		socket, _ := endpoint["socket_address"].(object)
		where = fmt.Sprintf("%s:%v", text(socket, "address"), socket["port_value"])
		for _, l := range findObjects(dump, func(o object) bool { return o["filter_chains"] != nil && o["address"] != nil }) {
			own, _ := l["address"].(object)
			at, _ := own["socket_address"].(object)
			if at != nil && fmt.Sprint(at["port_value"]) == fmt.Sprint(socket["port_value"]) {
				return l, where
			}
		}
	}
	return nil, where
}

// named finds the resource of a name that has one of some members.
func named(dump any, name string, members ...string) object {
	found := findObjects(dump, func(o object) bool {
		if text(o, "name") != name {
			return false
		}
		for _, m := range members {
			if o[m] != nil {
				return true
			}
		}
		return false
	})
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

func isManager(o object) bool { return strings.HasSuffix(text(o, "@type"), ".HttpConnectionManager") }

// routesOf gives a connection manager's route configuration; nil where it is not known.
func routesOf(dump any, manager object) object {
	if rds, _ := manager["rds"].(object); rds != nil {
		return named(dump, text(rds, "route_config_name"), "virtual_hosts")
	}
	routes, _ := manager["route_config"].(object)
	return routes
}
