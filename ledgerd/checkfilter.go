package main

import (
	"slices"
	"strings"
	"time"

	"idem/filter/policy"
)

// plugin judges the settings of the wasm plugin itself.
func (x *examination) plugin(p object) {
	place := "wasm plugin " + orWord(text(p, "name"), "of Idem")
	x.question("failure policy", "FAIL_RELOAD", func() {
		if set := text(p, "failure_policy"); set != "FAIL_RELOAD" {
			x.say(fail, "failure policy", place, "failure_policy is %q: want FAIL_RELOAD. With FAIL_OPEN calls pass unguarded once the filter has failed, with FAIL_CLOSED the worker never answers again", orWord(set, "not set"))
		}
	})
	x.question("parking", "allow_on_headers_stop_iteration", func() {
		if !flag(p, "allow_on_headers_stop_iteration") {
			x.say(fail, "parking", place, "allow_on_headers_stop_iteration is not true: Envoy would keep the body of a guarded call from the filter, and its caller would hang")
		}
	})
	x.question("module", "root_id, vm_id, runtime and capabilities are the filter's", func() { x.module(p, place) })
	x.question("environment", "the variables that the configuration names are handed to the filter", func() { x.environment(p, place) })
	if text(pluginOf(p), "fingerprint", "key_env") == "" {
		x.found = append(x.found, finding{warn, "fingerprint key", "there is no fingerprint.key_env: who sees a fingerprint can guess what was called"})
	}
}

func (x *examination) module(p object, place string) {
	const what = "module"
	vm := inner(p, "vm_config")
	switch root := text(p, "root_id"); root {
	case "idem":
	case looksOn:
		x.say(fail, what, place, "root_id is %q, under which the filter only looks on and every call passes unguarded: want \"idem\"", root)
	default:
		x.say(warn, what, place, "root_id is %q: want \"idem\"", root)
	}
	if id := text(vm, "vm_id"); id != "idem" {
		x.say(warn, what, place, "vm_config.vm_id is %q: want \"idem\", which the filter in the execution listener must have too", id)
	}
	switch runtime := text(vm, "runtime"); runtime {
	case "envoy.wasm.runtime.v8":
	case "envoy.wasm.runtime.null":
		x.say(fail, what, place, "vm_config.runtime is %q, which runs no module: want envoy.wasm.runtime.v8", runtime)
	default:
		x.say(warn, what, place, "vm_config.runtime is %q: Idem is known to run in envoy.wasm.runtime.v8 alone", orWord(runtime, "not set"))
	}
	if allowed := inner(inner(p, "capability_restriction_config"), "allowed_capabilities"); len(allowed) > 0 {
		x.say(warn, what, place, "capability_restriction_config allows %d capabilities only: the filter was never run with less than all; leave it out", len(allowed))
	}
}

// environment looks for the variables that the plugin configuration names.
func (x *examination) environment(p object, place string) {
	document, err := documentOf(p)
	if err != nil {
		return
	}
	named, err := parsePlugin(document, nil, "")
	if err != nil {
		return // told of elsewhere
	}
	given := inner(inner(p, "vm_config"), "environment_variables")
	keys, _ := given["host_env_keys"].([]any)
	for _, name := range named.unset {
		if slices.Contains(keys, any(name)) {
			continue
		}
		if _, written := inner(given, "key_values")[name]; written {
			x.say(warn, "environment", place, "vm_config.environment_variables.key_values holds %s: a secret there shows in every config dump; use host_env_keys", name)
			continue
		}
		x.say(fail, "environment", place, "%s is not among vm_config.environment_variables.host_env_keys (%s): the filter refuses its configuration without it", name, shown(given["host_env_keys"]))
	}
}

// authenticators are the filters that say who a caller is, or turn it away, by the ends of their types.
var authenticators = []string{
	".jwt_authn.v3.JwtAuthentication", ".ext_authz.v3.ExtAuthz", ".rbac.v3.RBAC", ".basic_auth.v3.BasicAuth",
	".api_key_auth.v3.ApiKeyAuth", ".oauth2.v3.OAuth2", ".csrf.v3.CsrfPolicy",
}

// place judges where the filter stands among the others.
func (x *examination) place(g *guard) {
	const what = "filter"
	f := g.idem()
	if config := inner(f.config, "config"); pluginOf(config) == nil {
		x.say(warn, what, g.place, "not seen: for which calls filter %s is switched on, for its configuration is %s", f.name, orWord(text(f.config, "@type"), "unknown"))
	}
	x.question(what, "every guarded call passes it, after the filters that authenticate", func() {
		if flag(f.entry, "is_optional") {
			x.say(fail, what, g.place, "http_filters: %s is_optional, so that an Envoy which has no wasm lets every call pass. Leave it out", f.name)
		}
		for i, other := range g.filters {
			switch {
			case i < g.at && other.is(".router.v3.Router"):
				x.say(fail, what, g.place, "http_filters: %s stands after the router, so that no call reaches it", f.name)
			case i > g.at && slices.ContainsFunc(authenticators, other.is) && !flag(other.entry, "disabled"):
				x.say(fail, what, g.place, "http_filters: %s stands after %s, which answers guarded calls and executes them before that filter has seen the caller: put it first", other.name, f.name)
			case i != g.at && other.plugin() != nil:
				x.say(fail, what, g.place, "http_filters: %s guards beside %s, so that an inline execution waits for itself. Leave one out", other.name, f.name)
			case i != g.at && other.config == nil:
				x.say(warn, what, g.place, "not seen: what filter %s is, for its configuration comes from elsewhere", other.name)
			}
		}
	})
	x.scopes(g)
	x.question("replies", "they leave this listener as the filter gives them", func() { x.replies(g) })
}

// replies looks for what changes the filter's replies, which are Envoy's own to Envoy, or loses them.
func (x *examination) replies(g *guard) {
	const what = "replies"
	local := inner(g.config, "local_reply_config")
	changed, brokenTold := local["body_format"] != nil, ""
	for _, m := range list(local, "mappers") {
		filter := shownWhole(m["filter"])
		if strings.Contains(filter, "wasm.idem.broken_as") {
			brokenTold += filter
			continue
		}
		changed = changed || m["body"] != nil || m["body_format_override"] != nil || m["status_code"] != nil
	}
	if changed {
		x.say(fail, what, g.place, "local_reply_config gives other bodies or statuses to the filter's replies, results that are replayed among them. Leave body_format, body, body_format_override and status_code out, but where wasm.idem.broken_as is asked for")
	}
	for _, rule := range x.config.Calls {
		kinds := []string{"application/problem+json"}
		if rule.Protocol == "mcp" {
			kinds = []string{"application/json", "text/event-stream"}
		}
		for _, kind := range kinds {
			if rule.Inline && rule.Mode == policy.Enforce && !strings.Contains(brokenTold, "'"+kind+"'") {
				x.say(warn, what, g.place, "local_reply_config has no mapper for wasm.idem.broken_as == b'%s': where a tool's reply to an inline execution of rule %q breaks off, its caller gets Envoy's bare error, not that the call is in doubt. Take it from envoy/demo.yaml", kind, rule.Name)
			}
		}
	}
	const least = 5 * time.Second
	if d, there := duration(g.config, "delayed_close_timeout"); !there || d < least {
		x.say(warn, what, g.place, "delayed_close_timeout is %s: a worker that reads large bodies is busy for seconds, and a reply on a connection that is to be closed would be lost. Use 10s", orWord(text(g.config, "delayed_close_timeout"), "not set (Envoy's 1s)"))
	}
}

// scopes looks whether what a rule's scope is read from is there.
func (x *examination) scopes(g *guard) {
	const what = "scope"
	before := g.filters[:g.at]
	x.question(what, "what the rules read it from comes before the filter", func() {
		for i, rule := range x.config.Calls {
			if rule.Mode != "enforce" {
				continue
			}
			sources := x.written.scope(i)
			if !slices.ContainsFunc(sources, func(s writtenSource) bool { return s.Value == "" && (len(s.Metadata) > 1 || s.Certificate != "") }) ||
				slices.ContainsFunc(sources, func(s writtenSource) bool { return s.Value != "" }) {
				continue
			}
			for _, s := range sources {
				if lack := lacks(g, before, s); lack != "" {
					x.say(fail, what, g.place, "rule %q reads its scope from %s, but %s: its calls are refused with 400 unstable_scope", rule.Name, s, lack)
				}
			}
		}
	})
}

// lacks says what a source of a scope would need and has not; empty: nothing, or it cannot be told.
func lacks(g *guard, before []httpFilter, s writtenSource) string {
	if s.Certificate != "" && g.chain["transport_socket"] == nil && g.chain["transport_socket_connect_timeout"] == nil {
		return "this listener has no transport_socket for TLS"
	}
	if len(s.Metadata) < 2 {
		return ""
	}
	kinds := map[string]string{
		"envoy.filters.http.jwt_authn": ".jwt_authn.v3.JwtAuthentication", "envoy.filters.http.ext_authz": ".ext_authz.v3.ExtAuthz",
	}
	kind, known := kinds[s.Metadata[0]]
	if !known {
		return ""
	}
	var written []string
	stands := false
	for _, f := range before {
		if f.config == nil || f.name == s.Metadata[0] && !f.is(kind) {
			return "" // nobody knows
		}
		if !f.is(kind) {
			continue
		}
		stands = true
		for _, provider := range inner(f.config, "providers") {
			p, _ := provider.(object)
			written = append(written, text(p, "payload_in_metadata"), text(p, "header_in_metadata"))
		}
	}
	written = distinct(written)
	switch {
	case !stands:
		return "no such filter stands before " + g.idem().name
	case kind == kinds["envoy.filters.http.jwt_authn"] && !slices.Contains(written, s.Metadata[1]):
		return "its providers write " + orWord(strings.Join(written, ", "), "nothing") + " (payload_in_metadata)"
	}
	return ""
}
