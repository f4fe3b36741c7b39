package main

import (
	"fmt"
	"strings"
	"time"

	"idem/e2e/envoytest"
)

// row is one line of the table: a kind of call at a number of connections, and what each round gave.
type row struct {
	name        string
	connections int
	envoy       *envoytest.Envoy
	body        func(n int) []byte
	outcome     string
	rounds      []figures
	memory      float64 // of its Envoy, MiB, after the last round
}

// bodySize is how long each body is, in bytes.
const bodySize = 250

// body is a refund of a customer's, padded to the size.
func body(customer string) []byte {
	text := fmt.Sprintf(`{"run_id":"bench","args":{"customer":"%s@example.com","amount":"$12.00","currency":"usd","note":""}}`, customer)
	return []byte(strings.Replace(text, `"note":""`, `"note":"`+strings.Repeat("x", max(bodySize-len(text), 0))+`"`, 1))
}

// replayed is how many different calls the replay rows repeat.
const replayed = 64

func measure(r *envoytest.Program, s settings) []*row {
	servers := startServers(r)
	known := make([][]byte, replayed)
	for i := range known {
		known[i] = body(fmt.Sprintf("known-%06d", i))
	}
	repeat := func(n int) []byte { return known[n%replayed] }
	used := 0
	unique := func(n int) []byte { return body(fmt.Sprintf("new-%08d", used+n)) }

	rows := []*row{
		{name: "bare Envoy", connections: s.connections, envoy: servers.bare, body: repeat},
		{name: "Envoy, ext_authz over HTTP with the body", connections: s.connections, envoy: servers.authorized, body: repeat},
		{name: "Idem, unique calls, SQLite, durable", connections: s.connections, envoy: servers.guarded, body: unique, outcome: "executed"},
		{name: "Idem, replays", connections: s.connections, envoy: servers.guarded, body: repeat, outcome: "replay"},
		{name: "bare Envoy", connections: 1, envoy: servers.bare, body: repeat},
		{name: "Envoy, ext_authz over HTTP with the body", connections: 1, envoy: servers.authorized, body: repeat},
		{name: "Idem, unique calls, SQLite, durable", connections: 1, envoy: servers.guarded, body: unique, outcome: "executed"},
		{name: "Idem, replays", connections: 1, envoy: servers.guarded, body: repeat, outcome: "replay"},
	}
	// What the replay rows repeat is executed before, which also warms the way; so are the others.
	for _, first := range []*row{
		{envoy: servers.guarded, outcome: "executed"}, {envoy: servers.bare}, {envoy: servers.authorized},
	} {
		l := load{address: first.envoy.Address, connections: 1, limit: time.Minute, calls: replayed, body: repeat, outcome: first.outcome}
		if _, err := l.measure(r.Context()); err != nil {
			r.Fatalf("warming up: %v", err)
		}
	}
	for round := range s.rounds {
		for _, row := range rows {
			before := servers.executions.Load()
			envoyBefore, ledgerdBefore := cpu(r, row.envoy.PID()), cpu(r, servers.ledgerd.PID())
			l := load{
				address: row.envoy.Address, connections: row.connections, body: row.body, outcome: row.outcome,
				limit: time.Duration(s.seconds * float64(time.Second)), calls: s.calls,
			}
			got, err := l.measure(r.Context())
			if err != nil {
				r.Fatalf("%s, %d connections: %v", row.name, row.connections, err)
			}
			got.envoyCPU = perCall(cpu(r, row.envoy.PID())-envoyBefore, got.calls)
			if row.outcome != "" { // the others do not call it
				got.ledgerdCPU = perCall(cpu(r, servers.ledgerd.PID())-ledgerdBefore, got.calls)
			}
			executed := int(servers.executions.Load() - before)
			if row.outcome == "executed" {
				used += got.calls
			}
			if want := got.calls; row.outcome != "replay" && executed != want || row.outcome == "replay" && executed != 0 {
				r.Fatalf("%s: the tool ran %d times for %d calls", row.name, executed, got.calls)
			}
			r.Logf("round %d: %-42s %2d connections: %8.0f calls/s, p50 %v, p99 %v", round+1, row.name, row.connections, got.perSecond, got.p50, got.p99)
			row.rounds = append(row.rounds, got)
			row.memory = memory(r, row.envoy.PID())
		}
	}
	return rows
}
