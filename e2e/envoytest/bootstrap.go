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

// Manager is the HTTP connection manager of a listener.
func (b Bootstrap) Manager(listener string) map[string]any {
	for _, l := range b["static_resources"].(map[string]any)["listeners"].([]any) {
		if l := l.(map[string]any); l["name"] == listener {
			filters := l["filter_chains"].([]any)[0].(map[string]any)["filters"].([]any)
			return filters[0].(map[string]any)["typed_config"].(map[string]any)
		}
	}
	panic("no listener " + listener)
}

// SetRoutes gives a listener other routes: a JSON array. Each request tells the tool which attempt it is.
func (b Bootstrap) SetRoutes(listener, format string, args ...any) {
	host := b.Manager(listener)["route_config"].(map[string]any)["virtual_hosts"].([]any)[0].(map[string]any)
	host["routes"] = parsed(format, args...)
	host["include_request_attempt_count"] = true
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
