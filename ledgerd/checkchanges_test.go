package main

const filterConfig = "type.googleapis.com/envoy.config.route.v3.FilterConfig"

// operatorsChanges are changes of the shipped configuration that break a promise, one each.
var operatorsChanges = []struct {
	name   string
	change func(s setup)
	grade  grade
	want   string // in the finding: place, value, what is right
}{
	// What executes several times.
	{"inline: retries on the route", func(s setup) {
		s.action("idem", "path_separated_prefix /mcp")["retry_policy"] = object{"retry_on": "5xx", "num_retries": 2}
	}, warn, `listener idem, virtual host idem, routes[3] path_separated_prefix /mcp, retry_policy: {"num_retries":2,"retry_on":"5xx"}: rule "mcp-streams" executes inline`},
	{"inline: retries on the virtual host", func(s setup) { s.host("idem")["retry_policy"] = object{"retry_on": "5xx"} },
		warn, "listener idem, virtual host idem, retry_policy"},
	{"inline: hedging", func(s setup) { s.host("idem")["hedge_policy"] = object{"hedge_on_per_try_timeout": true} },
		warn, "listener idem, virtual host idem, hedge_policy"},
	{"inline: mirroring of a route", func(s setup) {
		s.action("idem", "path_separated_prefix /mcp")["request_mirror_policies"] = []any{object{"cluster": "x"}}
	}, fail, `routes[3] path_separated_prefix /mcp, request_mirror_policies: [{"cluster":"x"}]: rule "mcp-streams"`},
	{"inline: mirroring of a virtual host", func(s setup) { s.host("idem")["request_mirror_policies"] = []any{object{"cluster": "x"}} },
		fail, "listener idem, virtual host idem, request_mirror_policies"},
	{"inline: mirroring of everything", func(s setup) { s.routes("idem")["request_mirror_policies"] = []any{object{"cluster": "x"}} },
		fail, "listener idem, route configuration, request_mirror_policies"},
	{"inline: internal redirects", func(s setup) {
		s.action("idem", "path_separated_prefix /mcp")["internal_redirect_policy"] = object{}
	}, fail, "routes[3] path_separated_prefix /mcp, internal_redirect_policy"},
	{"retries of a virtual host", func(s setup) { s.host("idem-execute")["retry_policy"] = object{"retry_on": "5xx"} },
		fail, "listener idem-execute, virtual host idem-execute, retry_policy"},
	{"hedging of a virtual host", func(s setup) {
		s.host("idem-execute")["hedge_policy"] = object{"hedge_on_per_try_timeout": true}
	}, fail, "listener idem-execute, virtual host idem-execute, hedge_policy"},
	{"mirroring of a route configuration", func(s setup) { s.routes("idem-execute")["request_mirror_policies"] = []any{object{"cluster": "x"}} },
		fail, "listener idem-execute, route configuration, request_mirror_policies"},
	{"retries of a typed policy", func(s setup) {
		s.action("idem-execute", "prefix /tools/")["retry_policy_typed_config"] = object{"@type": "x"}
	}, fail, "routes[1] prefix /tools/, retry_policy_typed_config"},
	{"camelCase", func(s setup) { s.host("idem-execute")["retryPolicy"] = object{"retryOn": "5xx"} }, fail, "virtual host idem-execute, retry_policy"},

	// How a call ended.
	{"a route that wins and says something else", func(s setup) {
		s.routes("idem-execute")["most_specific_header_mutations_wins"] = true
		s.route("idem-execute", "prefix /tools/")["response_headers_to_remove"] = []any{"X-Idem-Details"}
	}, fail, "routes[1] prefix /tools/: its replies are not sure to have x-idem-details"},
	{"a mapper before the one that tells", func(s setup) {
		m := inner(s.hcm("idem-execute"), "local_reply_config")
		mappers, _ := m["mappers"].([]any)
		m["mappers"] = append([]any{object{"filter": object{"response_flag_filter": object{"flags": []any{"NR"}}}}}, mappers...)
	}, warn, `a mapper ({"response_flag_filter":{"flags":["NR"]}}) stands before`},

	// Time.
	{"the tool's idle connections", func(s setup) { delete(s.protocol("tool"), "idle_timeout") }, fail,
		"cluster tool: common_http_protocol_options.idle_timeout is not set, so that Envoy's 1h hold"},
	{"the tool's protocol options", func(s setup) { delete(s.cluster("tool"), "typed_extension_protocol_options") }, fail,
		"cluster tool: common_http_protocol_options.idle_timeout is not set"},
	{"the tool's connections never idle", func(s setup) { s.protocol("tool")["idle_timeout"] = "0s" }, fail, "idle_timeout is 0s"},
	{"the tool's connections idle for long", func(s setup) { s.protocol("tool")["idle_timeout"] = "300s" }, fail, "idle_timeout is 5m0s"},
	{"the tool's connections idle for some seconds", func(s setup) { s.protocol("tool")["idle_timeout"] = "10s" }, warn, "idle_timeout is 10s"},
	{"no timeout of an execution route", func(s setup) { delete(s.action("idem-execute", "prefix /tools/"), "timeout") }, fail,
		`listener idem-execute, virtual host idem-execute, routes[1] prefix /tools/, timeout is not set, so that Envoy's 15s hold: less than the execution_timeout (1m0s) of rule "tools"`},
	{"a short timeout of an execution route", func(s setup) { s.action("idem-execute", "prefix /tools/")["timeout"] = "10s" }, fail, "timeout is 10s"},
	{"a short time for each try", func(s setup) {
		s.action("idem-execute", "prefix /tools/")["retry_policy"] = object{"per_try_timeout": "10s"}
	}, fail, "retry_policy.per_try_timeout is 10s"},
	{"a short idle timeout of an execution route", func(s setup) { s.action("idem-execute", "prefix /tools/")["idle_timeout"] = "5s" }, fail, "routes[1] prefix /tools/, idle_timeout is 5s"},
	{"a short duration of an execution route", func(s setup) {
		s.action("idem-execute", "prefix /tools/")["max_stream_duration"] = object{"max_stream_duration": "5s"}
	}, fail, "routes[1] prefix /tools/, max_stream_duration is 5s"},
	{"idle executions", func(s setup) { s.hcm("idem-execute")["stream_idle_timeout"] = "5s" }, fail, "listener idem-execute, stream_idle_timeout is 5s"},
	{"short executions", func(s setup) {
		inner(s.hcm("idem-execute"), "common_http_protocol_options")["max_stream_duration"] = "5s"
	}, fail,
		"listener idem-execute, common_http_protocol_options.max_stream_duration is 5s"},
	{"short requests to the tool", func(s setup) { s.protocol("tool")["max_stream_duration"] = "5s" }, fail, "cluster tool, common_http_protocol_options.max_stream_duration is 5s"},
	{"short requests on the inner way", func(s setup) { s.protocol("idem-execute")["max_stream_duration"] = "5s" }, fail, "cluster idem-execute, common_http_protocol_options.max_stream_duration is 5s"},
	{"a long execution_timeout", func(s setup) {
		s.rules(`"path_prefix": "/tools/"}`, `"path_prefix": "/tools/"}, "execution_timeout": "24h"`)
	}, fail,
		`routes[1] prefix /tools/, timeout is 15m0s: less than the execution_timeout (24h0m0s) of rule "tools"`},
	{"a short timeout of an inline route", func(s setup) { s.action("idem", "path_separated_prefix /mcp")["timeout"] = "15s" }, fail,
		`listener idem, virtual host idem, routes[3] path_separated_prefix /mcp, timeout is 15s: less than the execution_timeout (1m0s) of rule "mcp-streams"`},
	{"idle callers", func(s setup) { s.hcm("idem")["stream_idle_timeout"] = "5s" }, fail, "listener idem, stream_idle_timeout is 5s: callers of rule"},
	{"callers idle as long as an execution", func(s setup) { s.hcm("idem")["stream_idle_timeout"] = "70s" }, warn, "which can take 1m55s"},
	{"callers that hang for ever", func(s setup) { s.hcm("idem")["stream_idle_timeout"] = "0s" }, warn, "hang for ever. Use a little more than 1m55s"},
	{"idle callers on one route", func(s setup) { s.action("idem", "prefix /tools/")["idle_timeout"] = "5s" }, fail, "listener idem, virtual host idem, routes[1] prefix /tools/, idle_timeout is 5s"},
	{"short calls", func(s setup) { s.hcm("idem")["common_http_protocol_options"] = object{"max_stream_duration": "5s"} }, fail,
		"listener idem, common_http_protocol_options.max_stream_duration is 5s"},
	{"a long wait", func(s setup) { s.rules(`"path_prefix": "/tools/"}`, `"path_prefix": "/tools/"}, "wait": "24h"`) }, fail, "listener idem, stream_idle_timeout is 2m0s: callers of rule \"tools\" may wait for 24h0m0s"},
	{"a long wait for a person", func(s setup) {
		s.rules(`"path_prefix": "/tools/"}`, `"path_prefix": "/tools/"}, "near_duplicates": {"hold_wait": "10m"}`)
	}, fail, "may wait for 10m0s"},

	// The plugin.
	{"root_id of the one that looks on", func(s setup) { s.plugin()["root_id"] = "idem-executions" }, fail, "every call passes unguarded"},
	{"another root_id", func(s setup) { s.plugin()["root_id"] = "x" }, warn, `wasm plugin idem: root_id is "x": want "idem"`},
	{"another vm_id", func(s setup) { inner(s.plugin(), "vm_config")["vm_id"] = "x" }, warn, `vm_config.vm_id is "x"`},
	{"the null runtime", func(s setup) { inner(s.plugin(), "vm_config")["runtime"] = "envoy.wasm.runtime.null" }, fail, "want envoy.wasm.runtime.v8"},
	{"another runtime", func(s setup) { inner(s.plugin(), "vm_config")["runtime"] = "envoy.wasm.runtime.wasmtime" }, warn, `"envoy.wasm.runtime.wasmtime"`},
	{"no failure policy", func(s setup) { delete(s.plugin(), "failure_policy") }, fail, `failure_policy is "not set"`},
	{"fail_open", func(s setup) { delete(s.plugin(), "failure_policy"); s.plugin()["fail_open"] = true }, fail, "want FAIL_RELOAD"},
	{"no parking", func(s setup) { delete(s.plugin(), "allow_on_headers_stop_iteration") }, fail, "allow_on_headers_stop_iteration is not true"},
	{"capabilities", func(s setup) {
		s.plugin()["capability_restriction_config"] = object{"allowed_capabilities": object{"proxy_log": object{}}}
	}, warn, "capability_restriction_config allows 1 capabilities only"},
	{"a variable that Envoy keeps", func(s setup) {
		s.rules(`"cluster": "ledgerd"`, `"cluster": "ledgerd", "token_env": "TOKEN"`)
	}, fail, `TOKEN is not among vm_config.environment_variables.host_env_keys (["IDEM_LEDGER_TOKEN","IDEM_FINGERPRINT_KEY"])`},
	{"a secret in the configuration", func(s setup) {
		s.rules(`"cluster": "ledgerd"`, `"cluster": "ledgerd", "token_env": "TOKEN"`)
		inner(inner(s.plugin(), "vm_config"), "environment_variables")["key_values"] = object{"TOKEN": "x"}
	}, warn, "key_values holds TOKEN"},

	// What passes the filter by.
	{"the filter disabled", func(s setup) { s.filter()["disabled"] = true }, fail, `listener idem, http_filters: idem: the filter is disabled: rule`},
	{"the filter disabled on a route", func(s setup) {
		s.route("idem", "prefix /tools/")["typed_per_filter_config"] = object{"idem": object{"@type": filterConfig, "disabled": true}}
	}, fail, `routes[1] prefix /tools/, typed_per_filter_config of idem: the filter is disabled: rule "tools" guards /tools/`},
	{"the filter disabled on a virtual host", func(s setup) {
		s.host("idem")["typed_per_filter_config"] = object{"idem": object{"@type": filterConfig, "disabled": true}}
	}, fail, "listener idem, virtual host idem, typed_per_filter_config of idem"},
	{"the filter disabled on a route configuration", func(s setup) {
		s.routes("idem")["typed_per_filter_config"] = object{"idem": object{"@type": filterConfig, "disabled": true}}
	}, fail, "listener idem, route configuration, typed_per_filter_config of idem"},
	{"the filter disabled for a weighted cluster", func(s setup) {
		a := s.action("idem", "prefix /tools/")
		delete(a, "cluster")
		a["weighted_clusters"] = object{"clusters": []any{object{"name": "tool", "weight": 1,
			"typed_per_filter_config": object{"idem": object{"@type": filterConfig, "disabled": true}}}}}
	}, fail, "routes[1] prefix /tools/, weighted cluster tool, typed_per_filter_config of idem"},
	{"the filter after the router", func(s setup) {
		filters, _ := s.hcm("idem")["http_filters"].([]any)
		s.hcm("idem")["http_filters"] = []any{filters[1], filters[0]}
	}, fail, "listener idem: http_filters: idem stands after the router"},
	{"the filter before the one that authenticates", func(s setup) {
		s.insert("idem", 1, object{"name": "jwt", "typed_config": object{"@type": "type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication"}})
	}, fail, "listener idem: http_filters: jwt stands after idem"},
	{"the filter before the one that authorizes", func(s setup) {
		s.insert("idem", 1, object{"name": "authz", "typed_config": object{"@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz"}})
	}, fail, "listener idem: http_filters: authz stands after idem"},
	{"a scope that nobody verifies", func(s setup) {
		s.rules(`"path_prefix": "/tools/"}`, `"path_prefix": "/tools/"}, "scope": [{"metadata": ["envoy.filters.http.jwt_authn", "verified", "sub"]}]`)
	}, fail, `rule "tools" reads its scope from metadata envoy.filters.http.jwt_authn/verified/sub, but no such filter stands before idem`},
	{"a scope that is not written", func(s setup) {
		s.rules(`"path_prefix": "/tools/"}`, `"path_prefix": "/tools/"}, "scope": [{"metadata": ["envoy.filters.http.jwt_authn", "verified", "sub"]}]`)
		s.insert("idem", 0, object{"name": "jwt", "typed_config": object{"@type": "type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
			"providers": object{"p": object{"payload_in_metadata": "other"}}}})
	}, fail, "its providers write other (payload_in_metadata)"},
	{"a certificate where there is no TLS", func(s setup) {
		s.rules(`"path_prefix": "/tools/"}`, `"path_prefix": "/tools/"}, "scope": [{"certificate": "uri_san"}]`)
	}, fail, "no transport_socket for TLS"},
	{"another listener that leads to the tool", func(s setup) {
		other, _ := decodedObject(s.listener("idem"))
		other["name"] = "other"
		m := inner(list(list(other, "filter_chains")[0], "filters")[0], "typed_config")
		m["http_filters"] = m["http_filters"].([]any)[1:]
		static := inner(s.object, "static_resources")
		static["listeners"] = append(static["listeners"].([]any), other)
	}, warn, "listener other, virtual host idem, routes[1] prefix /tools/: it leads to cluster tool, which guarded calls execute on"},

	{"a route to the way of executions", func(s setup) { s.action("idem", "path /executions")["cluster"] = "idem-execute" }, fail,
		"path /executions: it leads to cluster idem-execute, the way of executions"},
	{"a route to the ledger", func(s setup) { s.action("idem", "path /executions")["cluster"] = "ledgerd" }, fail, "path /executions: it leads to cluster ledgerd, the ledger's data API"},
	{"the console for everyone", func(s setup) {
		inner(inner(s.listener("idem"), "address"), "socket_address")["address"] = "0.0.0.0"
	}, fail, "prefix /: it leads to cluster ledgerd-admin, ledgerd's admin API, and the listener's address is 0.0.0.0:10000"},
	{"Envoy's admin interface for everyone", func(s setup) {
		inner(inner(inner(s.object, "admin"), "address"), "socket_address")["address"] = "0.0.0.0"
	}, warn, "admin: its address is 0.0.0.0:9901"},
	{"upgrades that have filters of their own", func(s setup) {
		s.hcm("idem")["upgrade_configs"] = []any{object{"upgrade_type": "websocket", "filters": []any{list(s.hcm("idem"), "http_filters")[1]}}}
	}, fail, "listener idem: upgrade_configs: websocket has filters of its own without idem"},
	{"an Envoy that may do without the filter", func(s setup) { s.filter()["is_optional"] = true }, fail, "idem is_optional"},
	{"the filter twice", func(s setup) {
		again, _ := decodedObject(s.filter())
		again["name"] = "again"
		s.insert("idem", 1, again)
	}, fail, "http_filters: again guards beside idem"},
	{"replies in other words", func(s setup) {
		s.hcm("idem")["local_reply_config"] = object{"body_format": object{"text_format_source": object{"inline_string": "%RESPONSE_CODE%"}}}
	}, fail, "listener idem: local_reply_config gives other bodies or statuses to the filter's replies"},
	{"inline replies that break off", func(s setup) { delete(s.hcm("idem"), "local_reply_config") }, warn,
		`local_reply_config has no mapper for wasm.idem.broken_as == b'text/event-stream': where a tool's reply to an inline execution of rule "mcp-streams" breaks off`},
	{"replies that are lost", func(s setup) { delete(s.hcm("idem"), "delayed_close_timeout") }, warn, "listener idem: delayed_close_timeout is not set (Envoy's 1s)"},
	{"executions that are sent to TLS", func(s setup) { s.host("idem-execute")["require_tls"] = "ALL" }, warn, "virtual host idem-execute: require_tls is ALL"},

	// Paths and headers.
	{"no normal paths", func(s setup) { s.hcm("idem")["normalize_path"] = false }, warn, "listener idem: normalize_path is false: want true"},
	{"no normal paths where routes name rules", func(s setup) {
		delete(s.hcm("idem"), "normalize_path")
		s.route("idem", "prefix /tools/")["metadata"] = object{"filter_metadata": object{"idem": object{"rule": "tools"}}}
	}, fail, "listener idem: normalize_path is not set: want true. Without it another spelling of a path (/x/..//pay) takes another route"},
	{"no merged slashes", func(s setup) { delete(s.hcm("idem"), "merge_slashes") }, warn, "listener idem: merge_slashes is not set: want true"},
	{"escaped slashes", func(s setup) { delete(s.hcm("idem"), "path_with_escaped_slashes_action") }, warn, "path_with_escaped_slashes_action is not set, which is KEEP_UNCHANGED: want REJECT_REQUEST"},
	{"escaped slashes that executions refuse", func(s setup) { s.hcm("idem")["path_with_escaped_slashes_action"] = "KEEP_UNCHANGED" }, warn,
		"listener idem-execute: path_with_escaped_slashes_action is REJECT_REQUEST here and KEEP_UNCHANGED in listener idem"},
	{"callers that steer", func(s setup) { delete(s.hcm("idem"), "early_header_mutation_extensions") }, warn,
		"listener idem: early_header_mutation_extensions does not remove x-envoy-retry-on"},
	{"callers that say where they are", func(s setup) { delete(s.hcm("idem"), "use_remote_address") }, warn, "listener idem: use_remote_address is not set"},

	// Sizes.
	{"a small buffer", func(s setup) { s.listener("idem")["per_connection_buffer_limit_bytes"] = 1024 }, fail,
		`listener idem: per_connection_buffer_limit_bytes is 1024: less than max_body_bytes (1048576) of rule`},
	{"Envoy's own buffer", func(s setup) { delete(s.listener("idem"), "per_connection_buffer_limit_bytes") }, warn,
		"listener idem: per_connection_buffer_limit_bytes is not set (Envoy's 1048576): no more than max_body_bytes"},
	{"a rule that takes more", func(s setup) {
		s.rules(`"path_prefix": "/tools/"}`, `"path_prefix": "/tools/"}, "max_body_bytes": 8388608`)
	}, fail, "per_connection_buffer_limit_bytes is 4194304: less than max_body_bytes (8388608)"},
	{"a buffer filter", func(s setup) {
		s.insert("idem", 0, object{"name": "buffer", "typed_config": object{"@type": "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer", "max_request_bytes": 1024}})
	}, fail, "listener idem, http_filters: buffer: max_request_bytes is 1024"},
	{"few requests", func(s setup) { delete(s.cluster("idem-execute"), "circuit_breakers") }, warn, "cluster idem-execute: circuit_breakers: max_requests is not set (Envoy's 1024)"},
	{"few requests to the ledger", func(s setup) { delete(s.cluster("ledgerd"), "circuit_breakers") }, warn, "cluster ledgerd: circuit_breakers: max_requests is not set"},
	{"few headers", func(s setup) {
		delete(inner(s.hcm("idem-execute"), "common_http_protocol_options"), "max_headers_count")
	}, warn, "listener idem-execute: common_http_protocol_options.max_headers_count is 100"},
	{"short headers", func(s setup) { delete(s.hcm("idem-execute"), "max_request_headers_kb") }, warn, "listener idem-execute: max_request_headers_kb is 60"},
	{"few headers of replies", func(s setup) { delete(s.protocol("idem-execute"), "max_headers_count") }, warn, "cluster idem-execute: common_http_protocol_options.max_headers_count is 100"},
	{"short headers of replies", func(s setup) { delete(s.protocol("idem-execute"), "max_response_headers_kb") }, warn, "cluster idem-execute: common_http_protocol_options.max_response_headers_kb is 60"},
	{"two ends that close", func(s setup) {
		inner(s.hcm("idem-execute"), "common_http_protocol_options")["idle_timeout"] = "30s"
	}, warn, "listener idem-execute: common_http_protocol_options.idle_timeout is 30s, and that of cluster idem-execute 1m0s"},

	// Where executions go.
	{"another tool", func(s setup) { s.action("idem-execute", "prefix /tools/")["cluster"] = "ledgerd-admin" }, fail,
		`routes[1] prefix /tools/: it leads /tools/, which rule "tools" guards, to cluster ledgerd-admin; listener idem, virtual host idem, routes[1] prefix /tools/ leads it to tool`},
	{"another path", func(s setup) { s.action("idem", "prefix /tools/")["prefix_rewrite"] = "/" }, warn, `prefix_rewrite is not set, and "/" on listener idem`},
	{"a route that answers itself", func(s setup) {
		r := s.route("idem-execute", "prefix /tools/")
		delete(r, "route")
		r["direct_response"] = object{"status": 200}
	}, warn, "it answers /tools/ itself"},
	{"no route", func(s setup) { inner(s.route("idem-execute", "prefix /tools/"), "match")["prefix"] = "/tool" + "/" }, warn, `matches /tools/, which rule "tools" guards`},
	{"everyone's executions", func(s setup) {
		delete(s.listener("idem-execute"), "internal_listener")
		address := object{"socket_address": object{"address": "0.0.0.0", "port_value": 9}}
		s.listener("idem-execute")["address"] = address
		inner(list(list(inner(s.cluster("idem-execute"), "load_assignment"), "endpoints")[0], "lb_endpoints")[0], "endpoint")["address"] = object{"socket_address": object{"address": "127.0.0.1", "port_value": 9}}
	}, fail, "listener idem-execute: its address is 0.0.0.0:9"},
	{"no internal listeners", func(s setup) { delete(s.object, "bootstrap_extensions") }, fail, "envoy.bootstrap.internal_listener is not among them"},
	{"a circle", func(s setup) { s.insert("idem-execute", 0, s.filter()) }, fail, "listener idem-execute: http_filters: idem guards here too"},
	{"the tool as the execution's cluster", func(s setup) { s.rules(`"cluster": "idem-execute"`, `"cluster": "tool"`) }, fail, "cluster tool: it leads to 127.0.0.1:7412, where no listener of this Envoy is"},
	{"no ledger", func(s setup) { s.rules(`"cluster": "ledgerd"`, `"cluster": "ledger"`) }, fail, "cluster ledger: there is no cluster of this name (ledger.cluster)"},
	{"no tool", func(s setup) { s.cluster("tool")["name"] = "other" }, fail, "cluster tool: there is no cluster of this name, to which listener idem-execute"},
	{"MCP streams that nobody sees", func(s setup) {
		delete(s.route("idem-execute", "path_separated_prefix /mcp"), "typed_per_filter_config")
	}, warn,
		"routes[2] path_separated_prefix /mcp: the filter does not look on here"},
	{"MCP streams seen in another VM", func(s setup) {
		other, _ := decodedObject(inner(s.plugin(), "vm_config"))
		other["vm_id"] = "other"
		inner(inner(list(s.hcm("idem-execute"), "http_filters")[0], "typed_config"), "config")["vm_config"] = other
	}, warn, "idem-executions has another vm_config than idem"},
	{"executions that end with the one that looks on", func(s setup) {
		inner(inner(list(s.hcm("idem-execute"), "http_filters")[0], "typed_config"), "config")["failure_policy"] = "FAIL_RELOAD"
	}, warn, "idem-executions has failure_policy FAIL_RELOAD"},
}
