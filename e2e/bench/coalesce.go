package main

import (
	"fmt"
	"slices"
	"time"

	"idem/e2e/envoytest"
)

// herd is what many callers of one call saw.
type herd struct {
	callers     int
	executions  int
	answeredIn  time.Duration // from the tool's answer until the last caller had it
	medianAfter time.Duration // until the median caller had it
}

// coalesce lets many callers ask for one call that is still running, and measures how soon after its end they have the
// result.
func coalesce(r *envoytest.Program, callers int) herd {
	s := envoytest.StartStack(r, envoytest.Options{Plugin: plugin, LogLevel: "error"})
	release := s.Tool.Hold()
	text := body("herd")
	type answer struct {
		at  time.Time
		err error
	}
	answers := make(chan answer, callers)
	conns := make([]*conn, callers)
	for i := range conns {
		c, err := dial(s.Address)
		if err != nil {
			r.Fatalf("caller %d: %v", i, err)
		}
		defer c.conn.Close()
		conns[i] = c
	}
	for i, c := range conns {
		outcome := "coalesced"
		if i == 0 {
			outcome = "executed"
		}
		go func() {
			err := c.call(text, outcome)
			answers <- answer{time.Now(), err}
		}()
		if i == 0 {
			s.Tool.AwaitCount(r, 1)
		}
	}
	s.AwaitArrivals(r, callers)
	released := time.Now()
	release()
	after := make([]time.Duration, 0, callers)
	for i := range callers {
		a := <-answers
		if a.err != nil {
			r.Fatalf("caller %d: %v", i, a.err)
		}
		after = append(after, a.at.Sub(released))
	}
	slices.Sort(after)
	h := herd{callers, s.Tool.Count(), after[len(after)-1], after[len(after)/2]}
	if h.executions != 1 {
		r.Fatalf("%d callers of one call: the tool ran %d times", callers, h.executions)
	}
	r.Logf("%s", fmt.Sprintf("%d callers coalesced: all answered within %v", callers, h.answeredIn))
	return h
}
