package main

import "strings"

// repeat is a setting of a route that may send a request more than once.
type repeat struct {
	place   string
	value   any
	retries bool // it does so by Envoy's retries, which a limit of retries in the request ends
}

// retryPolicy gives the retry policy that holds for a route: its own, else its virtual host's.
func (r *taken) retryPolicy() (policy object, place string) {
	for _, member := range []string{"retry_policy", "retry_policy_typed_config"} {
		if p := inner(r.action(), member); p != nil {
			return p, r.place() + ", " + member
		}
		if p := inner(r.host, member); p != nil {
			return p, r.levels()[1].place + ", " + member
		}
	}
	return nil, ""
}

// repeats lists what may send a request of a route more than once.
func (r *taken) repeats() (found []repeat) {
	if policy, place := r.retryPolicy(); policy != nil && !idle(policy) {
		found = append(found, repeat{place, policy, true})
	}
	levels := r.levels()
	levels[0].config = r.action()
	for _, l := range levels {
		if hedge := inner(l.config, "hedge_policy"); len(hedge) > 0 {
			found = append(found, repeat{l.place + ", hedge_policy", hedge, true})
		}
		if mirrors := list(l.config, "request_mirror_policies"); len(mirrors) > 0 {
			found = append(found, repeat{l.place + ", request_mirror_policies", l.config["request_mirror_policies"], false})
		}
	}
	for _, member := range []string{"internal_redirect_policy", "request_mirror_policy"} {
		if p := inner(r.action(), member); p != nil {
			found = append(found, repeat{r.place() + ", " + member, p, false})
		}
	}
	if text(r.action(), "internal_redirect_action") == "HANDLE_INTERNAL_REDIRECT" {
		found = append(found, repeat{r.place() + ", internal_redirect_action", "HANDLE_INTERNAL_REDIRECT", false})
	}
	return found
}

// idle says whether a retry policy retries nothing: it names no condition, or allows no retry.
func idle(policy object) bool {
	if n, there := number(policy, "num_retries"); there && n == 0 {
		return true
	}
	return text(policy, "@type") == "" && text(policy, "retry_on") == "" && policy["retriable_status_codes"] == nil && policy["retry_host_predicate"] == nil
}

// executedOnce looks at every route of the execution listener.
func (x *examination) executedOnce(m *manager) {
	const what = "executed once"
	x.question(what, "no retries, hedging, mirroring or internal redirects", func() {
		for _, r := range m.all() {
			for _, again := range r.repeats() {
				x.say(fail, what, again.place, "%s: it can send a call to the tool more than once. Leave it out", shown(again.value))
			}
		}
	})
}

// inlineRetries is how much retries of inline executions matter.
const inlineRetries = fail

// repeatsInline looks at the routes of the first listener that inline executions take.
func (x *examination) repeatsInline(c guardedCall) {
	if !c.rule.Inline || c.by == nil {
		return
	}
	for _, again := range c.by.repeats() {
		grade := fail
		if again.retries {
			grade = inlineRetries
		}
		x.say(grade, "inline executions", again.place, "%s: rule %q executes inline on this route, which can send a call to the tool more than once. Leave it out, or use execution \"detached\"", shown(again.value), c.rule.Name)
	}
}

// all gives every route of a manager.
func (m *manager) all() (routes []*taken) {
	for i, h := range list(m.routes, "virtual_hosts") {
		for j, route := range list(h, "routes") {
			routes = append(routes, &taken{m, h, i, route, j, false})
		}
	}
	return routes
}

// endHeader is a header by which the execution listener says how a call ended, and what it must be made of.
type endHeader struct{ name, value string }

var endHeaders = []endHeader{
	{"x-idem-flags", "%RESPONSE_FLAGS%"},
	{"x-idem-details", "%RESPONSE_CODE_DETAILS%"},
	{"x-idem-attempts", "%UPSTREAM_REQUEST_ATTEMPT_COUNT%"},
}

// endsTold looks whether the execution listener's replies say how the call ended, its routes' and Envoy's own.
func (x *examination) endsTold(m *manager) {
	const what, own = "routes say how a call ended", "so do Envoy's own replies"
	const cost = "without it every failure is in doubt"
	x.question(what, "x-idem-flags, x-idem-details, x-idem-attempts", func() {
		for _, r := range m.all() {
			for _, h := range endHeaders {
				if !r.tells(h) {
					x.say(fail, what, r.place(), "its replies are not sure to have %s: %s. Put it on the route configuration, response_headers_to_add with OVERWRITE_IF_EXISTS_OR_ADD, and nothing over it; %s", h.name, h.value, cost)
				}
			}
		}
	})
	x.question(own, "x-idem-flags, x-idem-details, x-idem-attempts", func() {
		mappers := list(inner(m.config, "local_reply_config"), "mappers")
		for _, h := range endHeaders {
			tells := false
			for _, mapper := range mappers {
				if set := adds(mapper, "headers_to_add", h); set {
					tells = true
				} else if !tells {
					x.say(warn, own, m.place, "local_reply_config: a mapper (%s) stands before the one that writes %s, and the first that matches holds", shown(mapper["filter"]), h.name)
				}
			}
			if !tells {
				x.say(fail, own, m.place, "local_reply_config: missing %s: %s. Put it in a mapper's headers_to_add with OVERWRITE_IF_EXISTS_OR_ADD; %s", h.name, h.value, cost)
			}
		}
	})
}

// tells says whether a route's replies have a header as it must be, whatever the tool sends. Envoy writes the headers of
// the route first and those of the route configuration last, unless most_specific_header_mutations_wins.
func (r *taken) tells(h endHeader) bool {
	order := make([]object, 0, 4)
	for _, l := range r.levels() {
		order = append(order, l.config)
	}
	ways := [][]object{order}
	if weighted := r.weighted(); len(weighted) > 0 {
		ways = nil
		for _, w := range weighted {
			ways = append(ways, append([]object{w}, order...))
		}
	}
	for _, way := range ways {
		if flag(r.manager.routes, "most_specific_header_mutations_wins") {
			reversed := make([]object, 0, len(way))
			for i := len(way) - 1; i >= 0; i-- {
				reversed = append(reversed, way[i])
			}
			way = reversed
		}
		right := false
		for _, level := range way {
			right = writes(level, h, right)
		}
		if !right {
			return false
		}
	}
	return true
}

// writes says whether a header is as it must be after a level had its way.
func writes(level object, h endHeader, right bool) bool {
	removed, _ := level["response_headers_to_remove"].([]any)
	for _, name := range removed {
		if n, _ := name.(string); strings.EqualFold(n, h.name) {
			right = false
		}
	}
	for _, option := range list(level, "response_headers_to_add") {
		if strings.EqualFold(text(option, "header", "key"), h.name) {
			right = overwrites(option) && text(option, "header", "value") == h.value
		}
	}
	return right
}

// adds says whether a list of header options writes a header over whatever was there.
func adds(of object, member string, want endHeader) bool {
	for _, option := range list(of, member) {
		if strings.EqualFold(text(option, "header", "key"), want.name) && text(option, "header", "value") == want.value {
			return overwrites(option)
		}
	}
	return false
}

func overwrites(option object) bool {
	appends, given := option["append"].(bool) // what append_action was before
	return text(option, "append_action") == "OVERWRITE_IF_EXISTS_OR_ADD" || given && !appends
}
