package main

import (
	"strconv"
	"strings"
	"time"
)

// bound is how long Envoy lets something last, by one of its settings.
type bound struct {
	place string // the setting's
	after time.Duration
	unset bool // it is Envoy's default
}

func (b bound) String() string {
	if b.unset {
		return b.place + " is not set, so that Envoy's " + b.after.String() + " hold"
	}
	return b.place + " is " + b.after.String()
}

// Envoy's defaults.
const (
	defaultRouteTimeout   = 15 * time.Second
	defaultStreamIdle     = 5 * time.Minute
	defaultConnectionIdle = time.Hour
)

// duration reads a member as protobuf writes durations: 900s, 0.5s.
func duration(o object, path ...string) (d time.Duration, there bool) {
	seconds, isDuration := strings.CutSuffix(text(o, path...), "s")
	f, err := strconv.ParseFloat(seconds, 64)
	if !isDuration || err != nil {
		return 0, false
	}
	return time.Duration(f * float64(time.Second)), true
}

// streamBounds is what ends a stream on a route that is idle, or lasts long. A setting of 0 is no bound.
func (r *taken) streamBounds() (bounds []bound, idle bound) {
	common := "common_http_protocol_options"
	idle = bound{place: r.manager.place + ", stream_idle_timeout", after: defaultStreamIdle, unset: true}
	if d, there := duration(r.manager.config, "stream_idle_timeout"); there {
		idle.after, idle.unset = d, false
	}
	if d, there := duration(r.action(), "idle_timeout"); there {
		idle = bound{place: r.place() + ", idle_timeout", after: d}
	}
	bounds = append(bounds, idle)
	if d, there := duration(r.action(), "max_stream_duration", "max_stream_duration"); there {
		bounds = append(bounds, bound{place: r.place() + ", max_stream_duration", after: d})
	} else if d, there := duration(r.manager.config, common, "max_stream_duration"); there {
		bounds = append(bounds, bound{place: r.manager.place + ", " + common + ".max_stream_duration", after: d})
	}
	return bounds, idle
}

// executionBounds is what ends a request that the route sends on.
func (x *examination) executionBounds(r *taken) []bound {
	bounds, _ := r.streamBounds()
	timeout := bound{place: r.place() + ", timeout", after: defaultRouteTimeout, unset: true}
	if d, there := duration(r.action(), "timeout"); there {
		timeout.after, timeout.unset = d, false
	}
	bounds = append(bounds, timeout)
	retries, at := r.retryPolicy()
	for _, per := range []string{"per_try_timeout", "per_try_idle_timeout"} {
		if d, there := duration(retries, per); there {
			bounds = append(bounds, bound{place: at + "." + per, after: d})
		}
	}
	names, _ := r.clusters()
	for _, name := range names {
		bounds = append(bounds, x.clusterBound(name)...)
	}
	return bounds
}

func (x *examination) clusterBound(name string) []bound {
	if d, there := duration(httpProtocol(x.parts.cluster(name)), "max_stream_duration"); there {
		return []bound{{place: "cluster " + name + ", common_http_protocol_options.max_stream_duration", after: d}}
	}
	return nil
}

// timeToExecute looks for what would end an execution before the rule does.
func (x *examination) timeToExecute(c guardedCall) {
	var bounds []bound
	switch {
	case !c.rule.Inline:
		bounds = x.clusterBound(x.config.Execute.Cluster)
		for _, r := range c.runs {
			if r.action() != nil {
				bounds = append(bounds, x.executionBounds(r)...)
			}
		}
	case c.by != nil && c.by.action() != nil:
		bounds = x.executionBounds(c.by)
	}
	for _, b := range bounds {
		if b.after > 0 && b.after < c.rule.ExecutionTimeout {
			x.found = append(x.found, finding{fail, "time to execute", b.String() + ": less than the execution_timeout (" +
				c.rule.ExecutionTimeout.String() + ") of rule " + strconv.Quote(c.rule.Name) + ", so that a call which takes longer is in doubt. Raise it"})
		}
	}
}

// timeToWait looks for what would end a caller that waits: for its own execution, for another's, or for a person.
func (x *examination) timeToWait(c guardedCall) {
	r := c.by
	if r == nil {
		r = &taken{manager: c.guard.manager}
	}
	longest := x.config.LongestWait(c.rule)
	bounds, idle := r.streamBounds()
	if idle.after == 0 {
		x.found = append(x.found, finding{warn, "time to wait", idle.place + " is 0s: callers that a trapped worker had parked would hang for ever. Use a little more than " + longest.String()})
	}
	rule := strconv.Quote(c.rule.Name)
	least := max(c.rule.Wait, c.rule.HoldWait, c.rule.ExecutionTimeout)
	for _, b := range bounds {
		switch {
		case b.after <= 0:
		case b.after < least:
			x.found = append(x.found, finding{fail, "time to wait", b.String() + ": callers of rule " + rule + " may wait for " + least.String() +
				" (wait, hold_wait, execution_timeout) and would be told nothing of what became of their call. Use more than " + longest.String()})
		case b.after < longest:
			x.found = append(x.found, finding{warn, "time to wait", b.String() + ": a caller of rule " + rule +
				" may wait, then execute, and ask the ledger meanwhile, which can take " + longest.String() + ". Use more"})
		}
	}
}
