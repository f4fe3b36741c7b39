package e2e_test

import (
	"context"
	"testing/synctest"
	"time"

	"idem/e2e/wasmhost"
)

// server answers a call of the filter; nil resets it. It may wait for the clock or for the end of ctx, which is that of
// the call.
type server func(ctx context.Context, c *wasmhost.Call) *wasmhost.Response

// served is a call under way in a server.
type served struct {
	call   *wasmhost.Call
	cancel context.CancelFunc
	over   chan *wasmhost.Response
}

// settle lets everything happen that needs no time to pass.
func (w *world) settle() {
	for synctest.Wait(); w.happens(); synctest.Wait() {
	}
}

// happens lets the next thing happen, here or beside; false: there is none.
func (w *world) happens() bool {
	for _, each := range append([]*world{w}, w.beside...) {
		if each.serveNext() || each.deliverNext() {
			return true
		}
	}
	return false
}

// serveNext gives a call to its server. Calls are served in the order of their dispatch, each as far as it comes.
func (w *world) serveNext() bool {
	for _, c := range w.Calls() {
		serve := w.servers[c.Cluster]
		if w.frozen[c.Cluster] || w.isServed(c) {
			continue
		}
		ctx, cancel := context.WithCancel(w.t.Context())
		s := &served{c, cancel, make(chan *wasmhost.Response, 1)}
		w.underWay = append(w.underWay, s)
		go func() { s.over <- serve(ctx, c) }()
		return true
	}
	return false
}

func (w *world) isServed(c *wasmhost.Call) bool {
	for _, s := range w.underWay {
		if s.call == c {
			return true
		}
	}
	return false
}

// deliverNext gives the filter an answer that is there.
func (w *world) deliverNext() bool {
	w.underWay = w.stillServed()
	for _, s := range w.underWay {
		select {
		case r := <-s.over:
			s.cancel()
			if r == nil {
				s.call.Reset()
			} else {
				s.call.RespondWith(*r)
			}
			return true
		default:
		}
	}
	return false
}

// stillServed gives what is under way without the calls that have ended without their server.
func (w *world) stillServed() []*served {
	waiting := map[*wasmhost.Call]bool{}
	for _, c := range w.Calls() {
		waiting[c] = true
	}
	var still []*served
	for _, s := range w.underWay {
		if waiting[s.call] {
			still = append(still, s)
		} else {
			s.cancel()
		}
	}
	return still
}

// pass lets time pass, tick by tick, and everything happen that it brings.
func (w *world) pass(d time.Duration) {
	const tick = 100 * time.Millisecond
	for w.settle(); d > 0; w.settle() {
		step := min(d, tick)
		<-time.After(step)
		for _, each := range append([]*world{w}, w.beside...) {
			each.Advance(step)
		}
		d -= step
	}
}

// passUntil lets time pass until a condition holds, at most so long.
func (w *world) passUntil(what string, most time.Duration, holds func() bool) {
	w.t.Helper()
	for began := time.Now(); !holds(); w.pass(100 * time.Millisecond) {
		if time.Since(began) > most {
			w.t.Fatalf("after %v: never happened: %s", most, what)
		}
	}
}

// freeze makes the calls to a cluster wait for the test, until thaw.
func (w *world) freeze(cluster string) { w.frozen[cluster] = true }

func (w *world) thaw(cluster string) {
	delete(w.frozen, cluster)
	w.settle()
}

// frozenCall is the only call to a cluster that waits for the test.
func (w *world) frozenCall(cluster string) *wasmhost.Call {
	w.t.Helper()
	calls := w.CallsTo(cluster)
	if len(calls) != 1 {
		w.t.Fatalf("%d calls to %s are under way, want 1", len(calls), cluster)
	}
	return calls[0]
}
