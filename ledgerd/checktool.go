package main

import "time"

// toolClusters looks whether connections to the tool are closed here before the tool closes them.
func (x *examination) toolClusters(c guardedCall) {
	for _, r := range c.executedBy() {
		names, _ := r.clusters()
		for _, name := range names {
			x.toolCluster(name, r)
		}
	}
}

// A tool closes a connection that has been idle for long enough: many servers after 5 s, some after 2 s, few after more
// than a minute.
const (
	surelyTooLong = time.Minute
	mayBeTooLong  = 2 * time.Second
)

func (x *examination) toolCluster(name string, from *taken) {
	const what = "tool's connections"
	const right = "it must be below the time after which the tool closes an idle connection (many servers: 5 s, some 2 s), for a request that meets a closing one is in doubt. Use 1s, or what is below your tool's"
	cluster, place := x.parts.cluster(name), "cluster "+name
	switch idle, set := duration(httpProtocol(cluster), "idle_timeout"); {
	case cluster == nil && x.parts.comesLater("clusters"):
		x.say(warn, what, place, "not seen: it comes by CDS")
	case cluster == nil:
		x.say(fail, what, place, "there is no cluster of this name, to which %s leads", from.place())
	case !set:
		x.say(fail, what, place, "common_http_protocol_options.idle_timeout is not set, so that Envoy's 1h hold: %s", right)
	case idle == 0 || idle > surelyTooLong:
		x.say(fail, what, place, "common_http_protocol_options.idle_timeout is %v: %s", idle, right)
	case idle >= mayBeTooLong:
		x.say(warn, what, place, "common_http_protocol_options.idle_timeout is %v: %s", idle, right)
	}
}
