package main

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

// repeatsInline looks at the routes of the first listener that inline executions take.
func (x *examination) repeatsInline(c guardedCall) {
	if !c.rule.Inline || c.by == nil {
		return
	}
	for _, again := range c.by.repeats() {
		if again.retries {
			x.say(warn, "inline executions", again.place, "%s: rule %q executes inline on this route. The filter asks Envoy for no retry of such a call, so that the setting is for others alone", shown(again.value), c.rule.Name)
			continue
		}
		x.say(fail, "inline executions", again.place, "%s: rule %q executes inline on this route, which can send a call to the tool more than once. Leave it out, or use execution \"detached\"", shown(again.value), c.rule.Name)
	}
}
