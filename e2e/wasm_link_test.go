package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
	"idem/ledgerd/wire"
)

// A worker has one batch under way at most; what comes meanwhile goes together with the next.
func TestWasmAWorkerSendsOneBatchAtATime(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		w.introduce()
		w.freeze("ledgerd")
		var streams []*wasmhost.Stream
		for i := range 600 {
			body := fmt.Sprintf(`{"tool":"ship","args":{"order":"o-%d"}}`, i)
			streams = append(streams, w.VM(0).Request(request(envoytest.Call{Body: body})))
		}
		var batches []int
		for len(w.CallsTo("ledgerd")) > 0 && len(batches) < 3 {
			batches = append(batches, len(opsOf(t, w.frozenCall("ledgerd"))))
			w.serveFrozen("ledgerd")
		}
		if want := []int{1, 512, 87}; fmt.Sprint(batches[:3]) != fmt.Sprint(want) {
			t.Errorf("batches of %v operations, want %v", batches, want)
		}
		w.thaw("ledgerd")
		for i, s := range streams {
			expect(t, fmt.Sprint("caller ", i), w.await(s), http.StatusOK, "executed")
		}
		w.count(600)
	})
}

// The link carries the token that the VM's environment has, and the configuration does not.
func TestWasmTheLinkCarriesItsToken(t *testing.T) {
	rules := `{"ledger":{"cluster":"ledgerd","token_env":"IDEM_LEDGER_TOKEN","timeout":"2s"},"execute":{"cluster":"idem-execute"},
		"calls":[{"match":{"path":"/api/invoke"}}]}`
	inWorld(t, setup{plugin: rules, env: map[string]string{"IDEM_LEDGER_TOKEN": "s3cret"}}, func(t *testing.T, w *world) {
		w.freeze("ledgerd")
		s := w.send(envoytest.Call{Body: refundA})
		if got := w.frozenCall("ledgerd").Headers.Get("authorization"); got != "Bearer s3cret" {
			t.Errorf("authorization is %q", got)
		}
		w.thaw("ledgerd")
		expect(t, "the caller", w.await(s), http.StatusOK, "executed")
		for _, l := range w.Logs(wasmhost.Trace) {
			if strings.Contains(l.Text, "s3cret") || strings.Contains(l.Text, "example.com") {
				t.Errorf("the log tells %s", l.Text)
			}
		}
		if v := w.tool.calls[0].Header.Get("authorization"); v != "" {
			t.Errorf("the tool sees the ledger's token: %s", v)
		}
	})
}

// A worker that loses the ledger while its callers wait for another's execution tells them so only when their wait is
// over, and gives them the result when the ledger is back before.
func TestWasmWaitersOutliveALostLink(t *testing.T) {
	for name, outage := range map[string]time.Duration{"a short loss": 10 * time.Second, "a loss beyond the wait": 40 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, setup{}, func(t *testing.T, w *world) {
				w.tool.usual = envoytest.Slow
				other := w.another(setup{})
				executor, waiter := w.send(envoytest.Call{Body: refundA}), other.send(envoytest.Call{Body: refundB})
				other.cutOff()
				other.reset("ledgerd")
				expect(t, "the executor", w.await(executor), http.StatusOK, "executed")
				other.pass(outage)
				if outage > 30*time.Second {
					p := expectProblem(t, "the waiter", got(t, waiter), http.StatusServiceUnavailable, "ledger_unavailable")
					if !p.Retryable || !strings.Contains(p.Detail, "another attempt") {
						t.Errorf("the waiter was told %+v", p)
					}
				}
				other.serveLedger()
				other.pass(time.Second)
				if outage < 30*time.Second {
					expect(t, "the waiter", got(t, waiter), http.StatusOK, "coalesced")
				}
				expect(t, "the retry", other.call(envoytest.Call{Body: refundB}), http.StatusOK, "replay")
			})
		})
	}
}

// reset breaks off the calls to a cluster that are under way.
func (w *world) reset(cluster string) {
	for _, c := range w.CallsTo(cluster) {
		c.Reset()
	}
	w.settle()
}

// However many wait for one thing at a worker, it waits at the ledger once for all of them.
func TestWasmOneAwaitForAllWhoWaitHere(t *testing.T) {
	inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
		w.freeze("idem-execute")
		w.send(envoytest.Call{Body: refundA})
		for range 50 {
			w.sendBy(1, request(envoytest.Call{Body: refundB}))
		}
		if n := len(w.underWay); n != 1 {
			t.Errorf("%d waits are under way at the ledger, want 1", n)
		}
		w.thaw("idem-execute")
		w.pass(200 * time.Millisecond)
		if n, awaits := len(w.VM(1).Streams()), len(w.heard.of(wire.OpAwait)); n != 0 || awaits != 1 {
			t.Errorf("%d callers wait still; %d awaits", n, awaits)
		}
	})
}
