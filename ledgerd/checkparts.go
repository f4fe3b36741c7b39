package main

import (
	"fmt"
	"strconv"
	"strings"
)

// envoyParts are the parts of an Envoy's configuration, out of a bootstrap file or out of what a running Envoy dumps.
type envoyParts struct {
	bootstrap object
	listeners []object
	clusters  []object
	routes    []object
	endpoints []object            // ClusterLoadAssignments that came from elsewhere
	filters   map[string]object   // HTTP filters that came from elsewhere, by name
	dynamic   map[string]struct{} // what the document does not hold and Envoy would be told: "listeners", "clusters"
}

// partsOf takes a document apart. Of what a dump shows twice, as it was written and as it runs, the latter counts.
func partsOf(doc any) *envoyParts {
	p := &envoyParts{filters: map[string]object{}, dynamic: map[string]struct{}{}}
	top, _ := doc.(object)
	if dumps := list(top, "configs"); dumps != nil {
		for _, d := range dumps {
			p.addDump(d)
		}
	} else {
		p.bootstrap = top
		p.seeDynamic()
	}
	static := inner(p.bootstrap, "static_resources")
	if p.listeners == nil {
		p.listeners = list(static, "listeners")
	}
	if p.clusters == nil {
		p.clusters = list(static, "clusters")
	}
	return p
}

func (p *envoyParts) addDump(d object) {
	members := func(of, member string) (found []object) {
		for _, o := range list(d, of) {
			if m := inner(o, member); m != nil {
				found = append(found, m)
			}
		}
		return found
	}
	switch kind := text(d, "@type"); {
	case strings.HasSuffix(kind, ".BootstrapConfigDump"):
		p.bootstrap = inner(d, "bootstrap")
	case strings.HasSuffix(kind, ".ListenersConfigDump"):
		p.listeners = append(p.listeners, members("static_listeners", "listener")...)
		for _, l := range list(d, "dynamic_listeners") {
			for _, state := range []string{"active_state", "warming_state"} {
				if listener := inner(inner(l, state), "listener"); listener != nil {
					p.listeners = append(p.listeners, listener)
					break
				}
			}
		}
	case strings.HasSuffix(kind, ".ClustersConfigDump"):
		for _, of := range []string{"static_clusters", "dynamic_active_clusters", "dynamic_warming_clusters"} {
			p.clusters = append(p.clusters, members(of, "cluster")...)
		}
	case strings.HasSuffix(kind, ".RoutesConfigDump"):
		p.routes = append(p.routes, members("static_route_configs", "route_config")...)
		p.routes = append(p.routes, members("dynamic_route_configs", "route_config")...)
	case strings.HasSuffix(kind, ".EndpointsConfigDump"):
		p.endpoints = append(p.endpoints, members("static_endpoint_configs", "endpoint_config")...)
		p.endpoints = append(p.endpoints, members("dynamic_endpoint_configs", "endpoint_config")...)
	case strings.HasSuffix(kind, ".EcdsConfigDump"):
		for _, f := range members("ecds_filters", "ecds_filter") {
			p.filters[text(f, "name")] = f
		}
	}
}

// seeDynamic notes what a bootstrap file leaves to a server of configurations.
func (p *envoyParts) seeDynamic() {
	from := inner(p.bootstrap, "dynamic_resources")
	for member, what := range map[string]string{"lds_config": "listeners", "cds_config": "clusters"} {
		if from[member] != nil {
			p.dynamic[what] = struct{}{}
		}
	}
}

func (p *envoyParts) comesLater(what string) bool {
	_, is := p.dynamic[what]
	return is
}

func (p *envoyParts) cluster(name string) object { return byName(p.clusters, name) }

// endpointsOf gives the addresses of a cluster's endpoints; none: there are none, or they are not seen.
func (p *envoyParts) endpointsOf(cluster object) []object {
	from := cluster["load_assignment"]
	if from == nil {
		service := orWord(text(cluster, "eds_cluster_config", "service_name"), text(cluster, "name"))
		for _, e := range p.endpoints {
			if text(e, "cluster_name") == service {
				from = e
			}
		}
	}
	var addresses []object
	for _, e := range findObjects(from, func(o object) bool { return o["address"] != nil }) {
		if a := inner(e, "address"); a["socket_address"] != nil || a["envoy_internal_address"] != nil || a["pipe"] != nil {
			addresses = append(addresses, a)
		}
	}
	return addresses
}

// httpProtocol gives a cluster's options of HTTP that a function looks for: those of today's extension, else the
// cluster's own, deprecated ones.
func httpProtocol(cluster object) object {
	o := inner(inner(cluster, "typed_extension_protocol_options"), "envoy.extensions.upstreams.http.v3.HttpProtocolOptions")
	if common := inner(o, "common_http_protocol_options"); common != nil {
		return common
	}
	return inner(cluster, "common_http_protocol_options")
}

func byName(of []object, name string) object {
	for _, o := range of {
		if text(o, "name") == name {
			return o
		}
	}
	return nil
}

// listenerName is what people call a listener.
func listenerName(l object) string {
	if name := text(l, "name"); name != "" {
		return name
	}
	return addressText(inner(l, "address"))
}

func addressText(address object) string {
	if name := text(address, "envoy_internal_address", "server_listener_name"); name != "" {
		return "the internal listener " + name
	}
	if path := text(address, "pipe", "path"); path != "" {
		return path
	}
	socket := inner(address, "socket_address")
	return fmt.Sprintf("%s:%v", text(socket, "address"), socket["port_value"])
}

// inner gives a member that is an object; nil: there is none.
func inner(o object, name string) object {
	m, _ := o[name].(object)
	return m
}

// list gives a member that is a list, of objects; nil: there is none.
func list(o object, name string) []object {
	items, isList := o[name].([]any)
	if !isList {
		return nil
	}
	objects := make([]object, 0, len(items))
	for _, i := range items {
		if each, ok := i.(object); ok {
			objects = append(objects, each)
		}
	}
	return objects
}

// flag gives a member that is true or false; false: it is not there.
func flag(o object, name string) bool {
	v, _ := o[name].(bool)
	return v
}

// number gives a member that is a number, also where it is written as a text, as 64 bits are.
func number(o object, name string) (n float64, there bool) {
	switch v := o[name].(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case string:
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	case object: // a wrapper that was written out
		return number(v, "value")
	}
	return 0, false
}
