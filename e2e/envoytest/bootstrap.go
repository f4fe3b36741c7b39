package envoytest

import (
	"encoding/json"
	"fmt"
)

// Bootstrap is a bootstrap configuration, decoded JSON, as [Options].Edit gets it. Its methods change it in place. What
// they are given is JSON, a format and its arguments; a mistake in it is the test's, and panics.
type Bootstrap map[string]any

// AddCluster adds a cluster.
func (b Bootstrap) AddCluster(format string, args ...any) {
	static := b["static_resources"].(map[string]any)
	static["clusters"] = append(static["clusters"].([]any), parsed(format, args...))
}

// Cluster is one of its clusters.
func (b Bootstrap) Cluster(name string) map[string]any { return b.resource("clusters", name) }

// Listener is one of its listeners: "idem", where callers come in, or "idem-execute".
func (b Bootstrap) Listener(name string) map[string]any { return b.resource("listeners", name) }

func (b Bootstrap) resource(kind, name string) map[string]any {
	for _, r := range b["static_resources"].(map[string]any)[kind].([]any) {
		if r := r.(map[string]any); r["name"] == name {
			return r
		}
	}
	panic("there is no " + name + " among the " + kind)
}

// Manager is the HTTP connection manager of a listener.
func (b Bootstrap) Manager(listener string) map[string]any {
	filters := b.Listener(listener)["filter_chains"].([]any)[0].(map[string]any)["filters"].([]any)
	return filters[0].(map[string]any)["typed_config"].(map[string]any)
}

func (b Bootstrap) virtualHost(listener string) map[string]any {
	return b.Manager(listener)["route_config"].(map[string]any)["virtual_hosts"].([]any)[0].(map[string]any)
}

// SetRoutes gives a listener other routes: a JSON array. Each request tells the tool which attempt it is.
func (b Bootstrap) SetRoutes(listener, format string, args ...any) {
	host := b.virtualHost(listener)
	host["routes"] = parsed(format, args...)
	host["include_request_attempt_count"] = true
}

// AddRoutes puts routes, a JSON array, before those of a listener.
func (b Bootstrap) AddRoutes(listener, format string, args ...any) {
	host := b.virtualHost(listener)
	host["routes"] = append(parsed(format, args...).([]any), host["routes"].([]any)...)
}

// AllToTool leads every path of both listeners to the tool. The filter looks on as all executions pass.
func (b Bootstrap) AllToTool() {
	b.SetRoutes("idem", `[{"match": {"prefix": "/"}, "route": {"cluster": "tool", "timeout": "60s"}}]`)
	b.SetRoutes("idem-execute", `[{"match": {"prefix": "/"}, "route": {"cluster": "tool", "timeout": "60s"}, "typed_per_filter_config":
		{"idem-executions": {"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "config": {}}}}]`)
}

// BeforeAll puts an HTTP filter before all others.
func (b Bootstrap) BeforeAll(listener, format string, args ...any) {
	manager := b.Manager(listener)
	manager["http_filters"] = append([]any{parsed(format, args...)}, manager["http_filters"].([]any)...)
}

// BeforeRouter puts an HTTP filter before the router, which is the last.
func (b Bootstrap) BeforeRouter(listener, format string, args ...any) {
	manager := b.Manager(listener)
	filters := manager["http_filters"].([]any)
	last := len(filters) - 1
	manager["http_filters"] = append(append([]any{}, filters[:last]...), parsed(format, args...), filters[last])
}

// LogAccess makes a listener write a line for each request. Envoy writes them when it likes, unless it is told otherwise
// by --file-flush-interval-msec.
func (b Bootstrap) LogAccess(listener, file, line string) {
	b.Manager(listener)["access_log"] = []any{parsed(`{"name": "envoy.access_loggers.file", "typed_config": {
		"@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
		"path": %q, "log_format": {"text_format_source": {"inline_string": %q}}}}`, file, line+"\n")}
}

// Endpoint is a host of a cluster, in JSON.
func Endpoint(address string) string {
	host, port := splitAddress(address)
	return fmt.Sprintf(`{"endpoint": {"address": {"socket_address": {"address": %q, "port_value": %d}}}}`, host, port)
}

func parsed(format string, args ...any) (v any) {
	if err := json.Unmarshal(fmt.Appendf(nil, format, args...), &v); err != nil {
		panic(fmt.Sprintf("%v in %s", err, fmt.Sprintf(format, args...)))
	}
	return v
}
