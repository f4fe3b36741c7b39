package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"idem/e2e/envoytest"
)

// speed is one row of the first table.
type speed struct {
	kind            string
	callers         int
	unique, replays figures
	perGroup        float64 // writes that shared one sync, of the unique calls; 0: the store does not say
}

// warmUp is how many calls are made before anything is measured. They are those that are replayed.
const warmUp = 5000

func measureSpeed(r *envoytest.Program, s settings) []speed {
	var rows []speed
	for _, kind := range s.stores {
		r.Part(func() {
			l := start(r, kind)
			used := warmUp
			l.measure(r, load{callers: 64, links: s.links, calls: warmUp})
			for _, callers := range s.callers {
				row := speed{kind: kind, callers: callers}
				groups, writes := l.groups(r)
				row.unique = l.measure(r, load{callers: callers, links: s.links, limit: s.time(), first: used})
				used += row.unique.calls + callers
				if after, wrote := l.groups(r); after > groups {
					row.perGroup = (wrote - writes) / (after - groups)
				}
				row.replays = l.measure(r, load{callers: callers, links: s.links, limit: s.time(), kept: warmUp})
				rows = append(rows, row)
			}
		})
	}
	return rows
}

func (s settings) time() time.Duration { return time.Duration(s.seconds * float64(time.Second)) }

// measure runs a load on a ledger. A wrong answer ends the run.
func (l *ledger) measure(r *envoytest.Program, of load) figures {
	of.address = l.ledgerd.Address
	f, err := of.measure(r.Context())
	if err != nil {
		r.Fatalf("%s, %d callers: %v", l.kind, of.callers, err)
	}
	r.Logf("%-8s %4d callers: %8d calls, %7.0f operations/s, p50 %v, p99 %v", l.kind, of.callers, f.calls, f.opsPerSecond(), f.p50, f.p99)
	return f
}

// groups reads how many groups of writes ledgerd's store has made durable, and how many writes were in them.
func (l *ledger) groups(r *envoytest.Program) (groups, writes float64) {
	response, err := http.Get("http://" + l.ledgerd.Admin + "/metrics")
	if err != nil {
		r.Fatalf("%v", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.Fatalf("%v", err)
	}
	for line := range strings.Lines(string(text)) {
		for name, value := range map[string]*float64{"idem_store_groups_total": &groups, "idem_store_writes_total": &writes} {
			if strings.HasPrefix(line, name+" ") {
				if _, err := fmt.Sscanf(line, name+" %g", value); err != nil {
					r.Fatalf("%q: %v", line, err)
				}
			}
		}
	}
	return groups, writes
}

// growth is one row of the second table.
type growth struct {
	kind            string
	rows            int
	unique, replays figures
	disk, memory    int64
}

// growthCallers is how many callers fill a store and measure it.
const growthCallers = 64

func measureGrowth(r *envoytest.Program, s settings) []growth {
	var rows []growth
	for _, kind := range s.grow {
		r.Part(func() {
			l := start(r, kind)
			used := 0
			for _, n := range s.rows {
				if n > used {
					l.measure(r, load{callers: growthCallers, links: s.links, calls: n - used, first: used})
					used = n
				}
				row := growth{kind: kind, rows: n}
				row.replays = l.measure(r, load{callers: growthCallers, links: s.links, limit: s.time(), kept: n})
				row.unique = l.measure(r, load{callers: growthCallers, links: s.links, calls: max(n/50, 2000), first: used})
				used += row.unique.calls
				row.disk, row.memory = l.disk(), memory(r, l.ledgerd.PID())
				row.rows = used
				rows = append(rows, row)
			}
		})
	}
	return rows
}
