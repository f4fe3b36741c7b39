package main

// bodySize looks whether Envoy buffers what a rule takes.
func (x *examination) bodySize(c guardedCall) {
	const what = "body size"
	const mib = 1 << 20
	most := float64(c.rule.MaxBodyBytes)
	limit, there := number(c.guard.listener, "per_connection_buffer_limit_bytes")
	if !there {
		limit = mib
	}
	place := "listener " + listenerName(c.guard.listener)
	if c.by != nil {
		for _, l := range c.by.levels()[:2] {
			if n, raised := number(l.config, "request_body_buffer_limit"); raised { // it raises the limit only; measured
				limit = max(limit, n)
				break
			}
		}
	}
	judge := func(place, setting string, limit float64) {
		switch {
		case limit < most:
			x.say(fail, what, place, "%s: less than max_body_bytes (%.0f) of rule %q. A body between them gets Envoy's bare 413. Use more, such as 4194304", setting, most, c.rule.Name)
		case limit == most:
			x.say(warn, what, place, "%s: no more than max_body_bytes of rule %q, so that a larger body gets Envoy's bare 413 and not Idem's, which says what the limit is. Use more, such as 4194304", setting, c.rule.Name)
		}
	}
	judge(place, "per_connection_buffer_limit_bytes is "+setOr(there, limit, "Envoy's"), limit)
	for _, f := range c.guard.filters[:c.guard.at] {
		if !f.is(".buffer.v3.Buffer") {
			continue
		}
		if on, _ := c.guard.enabled(f, c.by); !on {
			continue
		}
		config, at := f.config, c.guard.place+", http_filters: "+f.name
		if c.by != nil {
			for _, l := range c.by.levels() {
				if own := inner(inner(l.config, "typed_per_filter_config"), f.name); own != nil {
					config, at = inner(own, "buffer"), l.place+", typed_per_filter_config of "+f.name
					if flag(own, "disabled") {
						config = nil
					}
					break
				}
			}
		}
		if n, given := number(config, "max_request_bytes"); given {
			judge(at, "max_request_bytes is "+setOr(true, n, ""), n)
		}
	}
}
