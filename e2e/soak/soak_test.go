package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// settings are IDEM_SOAK_CALLS, how many calls are made, and IDEM_SOAK_SEED, which repeats a run as far as the machine
// does.
func settings(t *testing.T, calls int64) (int64, uint64) {
	t.Helper()
	calls, seed := envoytest.Setting(t, "IDEM_SOAK_CALLS", calls), uint64(envoytest.Setting(t, "IDEM_SOAK_SEED", time.Now().UnixNano()))
	t.Logf("%d calls, IDEM_SOAK_SEED=%d", calls, seed)
	return calls, seed
}

// Thousands of mixed calls, a tool that fails in every way, callers that leave, people who answer: every order is done
// once, everyone is answered, and what the product takes from its machine does not grow.
func TestSoak(t *testing.T) {
	calls, seed := settings(t, 5000)
	s := start(t, seed, "enforce")
	began := time.Now()
	s.load.make(t.Context(), calls/3)
	third := s.measure(t)
	s.load.make(t.Context(), calls)
	took := time.Since(began)
	end := s.measure(t)
	t.Logf("%d calls in %v, %.0f a second", s.load.made.Load(), took.Round(time.Second), float64(s.load.made.Load())/took.Seconds())
	t.Logf("Envoy: %v after a third, %v at the end; ledgerd: %v, %v", third.envoy, end.envoy, third.ledgerd, end.ledgerd)
	s.finish(t)
	expectFlat(t, third, end)
	if n := int64(s.book.outcomes["unavailable"]); n*10 > calls {
		t.Errorf("%d callers were told that there is no ledger: want one in ten at most, where the machine is busy", n)
	}
}

// The same while ledgerd is killed and started again, several times: a caller may be told that there is no ledger, and
// more is in doubt; nothing is done twice.
func TestSoakWhileTheLedgerIsKilled(t *testing.T) {
	calls, seed := settings(t, 3000)
	s := start(t, seed, "enforce")
	kills := max(3, calls/5000)
	done := make(chan struct{})
	go func() { defer close(done); s.load.make(t.Context(), calls) }()
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range kills {
		at := calls*i/kills + random.Int64N(calls/kills)
		envoytest.Until(t, 10*time.Minute, "calls", func() bool { return s.load.made.Load() >= at })
		s.ledgerd.Kill9(t)
		s.ledgerd.Start(t)
	}
	<-done
	s.settle(t)
	t.Logf("ledgerd was killed %d times", kills)
	s.finish(t)
}

// A tool that nobody guards is found out by the same judge: it is not blind.
func TestTheJudgeNoticesAnUnguardedTool(t *testing.T) {
	_, seed := settings(t, 300)
	s := start(t, seed, "off")
	s.load.make(t.Context(), 300)
	s.book.wrong = nil // nobody was told an outcome: that is known
	s.book.audit()
	if len(s.book.wrong) == 0 || !strings.Contains(s.book.wrong[0], "was done") && !strings.Contains(s.book.wrong[0], "was asked") {
		t.Errorf("the judge saw no order that was done twice: %q", s.book.wrong)
	}
}

// finish lets the tool work, calls every order once more until there is an end for it, and holds the whole run to what is
// promised.
func (s *stack) finish(t *testing.T) {
	t.Helper()
	s.tool.smooth.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	orders := slices.Clone(s.load.seen)
	for len(orders) > 0 {
		outcomes := s.load.again(ctx, orders)
		orders = nil
		for outcome, of := range outcomes {
			switch outcome {
			case "executed", "coalesced", "replay", "denied":
			default:
				orders = append(orders, of...)
			}
		}
		if ctx.Err() != nil {
			t.Errorf("%d orders have come to no end", len(orders))
			break
		}
		s.book.note(func() {
			if s.book.wrongs > 0 {
				orders = nil
			}
		})
	}
	s.settle(t)
	s.book.audit()
	count, asked, deeds, failed, released, undone, denied := s.book.totals()
	t.Logf("%d orders, %d calls, %d callers left; the tool was asked %d times, did %d deeds and failed %d times; people released %d holds, denied %d, and found nothing done %d times",
		count, s.load.made.Load(), s.load.left.Load(), asked, deeds, failed, released, denied, undone)
	t.Logf("told: %v", s.book.outcomes)
	for _, wrong := range s.book.wrong {
		t.Error(wrong)
	}
	if more := s.book.wrongs - len(s.book.wrong); more > 0 {
		t.Errorf("and %d more", more)
	}
	for _, gauge := range []string{"idem_waits_under_way", "idem_operations_under_way"} {
		if n := s.ledgerd.Gauge(t, gauge); n != 0 {
			t.Errorf("ledgerd's %s is %v at the end", gauge, n)
		}
	}
	for worker := range workers {
		if name := fmt.Sprintf("listener.127.0.0.1_0.worker_%d.downstream_cx_total", worker); s.envoy.Stat(t, name) == 0 {
			t.Errorf("%s is 0: the run shows nothing about two workers", name)
		}
	}
	for _, trap := range []string{"wasm.idem.vm_reload_success", "wasm.idem.vm_reload_failure", "wasm.idem.vm_reload_backoff"} {
		if n := s.envoy.Stat(t, trap); n != 0 {
			t.Errorf("%s is %d: a worker trapped", trap, n)
		}
	}
	for _, n := range []string{"arrivals", "executed", "replays", "coalesced", "unknown", "leases_expired", "fenced_commits"} {
		t.Logf("ledgerd counted %d %s", s.ledgerd.Counter(t, n), n)
	}
}

// ledgerdKeeps is what ledgerd's memory comes to once its caches are full of rows and results (e2e/ledger/README.md), and
// a quarter more.
const ledgerdKeeps = 512 << 20

// expectFlat compares what a process took after a third of the calls and after all of them, in the same state of rest.
func expectFlat(t *testing.T, third, end measured) {
	t.Helper()
	if was, is := third.envoy.memory, end.envoy.memory; is > was*13/10 {
		t.Errorf("Envoy's memory grew from %d to %d MiB", was>>20, is>>20)
	}
	if was, is := third.ledgerd.memory, end.ledgerd.memory; is > max(was*3/2, ledgerdKeeps) {
		t.Errorf("ledgerd's memory grew from %d to %d MiB", was>>20, is>>20)
	}
	for name, u := range map[string][2]usage{"Envoy": {third.envoy, end.envoy}, "ledgerd": {third.ledgerd, end.ledgerd}} {
		if was, is := u[0].descriptors, u[1].descriptors; is > was+10 {
			t.Errorf("%s had %d descriptors open, and has %d", name, was, is)
		}
	}
}
