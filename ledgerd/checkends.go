package main

import "strings"

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
