package e2e_test

import (
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
)

// TestCasesOnAVirtualClock plays every case of canon/testdata/cases on the compiled filter without Envoy: at the times
// that the case names, to the millisecond, and without waiting for them.
func TestCasesOnAVirtualClock(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			inWorld(t, setup{plugin: caseRules()}, func(t *testing.T, w *world) { c.playOnVirtualClock(t, w) })
		})
	}
}

func (c acceptanceCase) playOnVirtualClock(t *testing.T, w *world) {
	host := c.ID + ".cases.example"
	streams := make([]*wasmhost.Stream, len(c.Steps))
	replies := map[int]envoytest.Reply{}
	reply := func(i int) envoytest.Reply {
		if _, known := replies[i]; !known {
			replies[i] = w.await(streams[i])
		}
		return replies[i]
	}
	began := time.Now()
	for i, s := range c.Steps {
		// An answer of a person may have had to wait for its time.
		w.pass(max(time.Duration(s.AtMS)*time.Millisecond-time.Since(began), 0))
		if s.Admin != "" {
			w.decide(s.Admin, reply(s.TargetStep))
			continue
		}
		if s.Fault == "ledger_down" {
			w.SetDown("ledgerd", true)
		}
		streams[i] = w.send(c.call(s, host))
		if s.Fault == "ledger_down" {
			reply(i)
			w.SetDown("ledgerd", false)
		}
	}
	for i, want := range c.Expect {
		if want == nil {
			continue
		}
		if r := reply(i); !want.met(r) {
			t.Errorf("step %d: got %v; want %s %s\n%s: %s", i, r, want.Outcome, want.Code, c.Kind, c.Why)
		}
	}
	if n := w.tool.count(); n != c.Executions {
		t.Errorf("the tool was reached %d times, want %d\n%s: %s", n, c.Executions, c.Kind, c.Why)
	}
}
