package main

import (
	"time"

	"idem/e2e/envoytest"
)

// sweep is one row of the third table.
type sweep struct {
	kind                     string
	before, meanwhile, after figures
	perSecond                float64 // calls that went meanwhile
}

// sweepCallers is how many callers call before, during and after a sweep.
const sweepCallers = 16

func measureSweeps(r *envoytest.Program, s settings) []sweep {
	var rows []sweep
	for _, kind := range s.sweep {
		r.Part(func() { rows = append(rows, measureSweep(r, s, kind)) })
	}
	return rows
}

// measureSweep lets a retention end while no ledgerd runs, so that the one which is started then finds all of it due.
func measureSweep(r *envoytest.Program, s settings, kind string) sweep {
	l := start(r, kind)
	// They must last until all are made, and new ones measured once: so it matters how fast that is.
	pace := l.measure(r, load{callers: growthCallers, links: s.links, calls: warmUp}).callsPerSecond()
	over := time.Now().Add(20*time.Second + s.time() + 2*time.Duration(float64(s.expired)/pace*float64(time.Second)))
	l.measure(r, load{callers: growthCallers, links: s.links, calls: s.expired, first: warmUp, over: over})

	row, used := sweep{kind: kind}, warmUp+s.expired
	measure := func() figures {
		f := l.measure(r, load{callers: sweepCallers, links: s.links, limit: s.time(), first: used})
		used += f.calls + sweepCallers
		return f
	}
	row.before = measure()
	if gone := l.ledgerd.Counter(r, "expired"); gone > 0 {
		r.Fatalf("%s: %d calls have gone before they should: the machine is too slow for so many", kind, gone)
	}
	l.ledgerd.Stop(r)
	select {
	case <-time.After(time.Until(over)):
	case <-r.Context().Done():
	}
	l.ledgerd.Start(r)
	envoytest.Until(r, time.Minute, "the sweep", func() bool { return l.ledgerd.Counter(r, "expired") > 0 })
	first := l.ledgerd.Counter(r, "expired")
	row.meanwhile = measure()
	last := l.ledgerd.Counter(r, "expired")
	if last >= int64(s.expired) {
		r.Fatalf("%s: the sweep was over before it was measured: want more than %d calls, or fewer seconds", kind, s.expired)
	}
	row.perSecond = float64(last-first) / row.meanwhile.elapsed.Seconds()
	envoytest.Until(r, 10*time.Minute, "the end of the sweep", func() bool { return l.ledgerd.Counter(r, "expired") >= int64(s.expired) })
	row.after = measure()
	return row
}
