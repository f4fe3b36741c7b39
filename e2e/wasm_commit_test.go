package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/ledgerd/wire"
)

// The ledger goes away while the tool works. The caller has the tool's reply, which does not claim to be kept; the
// commit is repeated until it is heard, and whoever waits or comes later has the same result.
func TestWasmALostCommitIsRepeatedUntilItIsHeard(t *testing.T) {
	for name, outage := range map[string]time.Duration{"within the lease": 10 * time.Second, "after the lease": 25 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, setup{}, func(t *testing.T, w *world) {
				w.introduce()
				w.tool.usual = envoytest.Slow
				began := time.Now()
				executor, waiter := w.send(envoytest.Call{Path: "/tools/refund", Body: refundA}), w.send(envoytest.Call{Path: "/tools/refund", Body: refundB})
				w.cutOff()
				r := w.await(executor)
				expect(t, "the executor", r, http.StatusOK, "in_doubt")
				if r.Header.Get("x-idem-committed") != "false" || refundID(t, r) != "rf-2" {
					t.Errorf("the executor got %v %v", r.Header, r)
				}
				if took := time.Since(began); took < 7*time.Second || took > 7200*time.Millisecond {
					t.Errorf("the executor was answered after %v, want the tool's 2 s and commit_timeout's 5 s", took)
				}
				w.pass(outage - time.Since(began))
				if !waiter.Parked() {
					t.Fatalf("the waiter got %v before its wait was over", got(t, waiter))
				}
				w.serveLedger()
				c := w.await(waiter)
				expect(t, "the waiter", c, http.StatusOK, "coalesced")
				if c.Header.Get("x-idem-committed") != "" {
					t.Error("the waiter's result is said not to be committed")
				}
				again := w.call(envoytest.Call{Path: "/tools/refund", Body: refundA})
				expect(t, "the retry", again, http.StatusOK, "replay")
				if refundID(t, c) != "rf-2" || refundID(t, again) != "rf-2" {
					t.Errorf("results differ: %v, %v, %v", r, c, again)
				}
				w.count(1)
			})
		})
	}
}

// cutOff lets no word through between filter and ledger; the ledger itself goes on.
func (w *world) cutOff() { w.refuseLedger() }

// A failure that the ledger cannot be told is the caller's all the same, without the claim that it is kept.
func TestWasmALostFailureIsRepeatedUntilItIsHeard(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		w.introduce()
		w.tool.usual = envoytest.Slow500
		s := w.send(envoytest.Call{Body: refundA})
		w.cutOff()
		r := w.await(s)
		expect(t, "the executor", r, http.StatusInternalServerError, "failed")
		if r.Header.Get("x-idem-committed") != "false" {
			t.Error("the failure is said to be kept")
		}
		w.serveLedger()
		w.pass(3 * time.Second)
		if state := w.rowState(); state != "released" {
			t.Errorf("the row is %s, want released", state)
		}
		w.tool.usual = envoytest.OK
		expect(t, "the next call", w.call(envoytest.Call{Body: refundA}), http.StatusOK, "executed")
	})
}

// A person decided that a silent execution did not happen, and it was executed once more elsewhere. Then the first one's
// result comes: it is not taken, it is seen, and who waited for it has the result that counts.
func TestWasmAFencedCommitIsEvidence(t *testing.T) {
	rules := plugin(`{"match":{"path":"/api/invoke"},"execution_timeout":"3s","wait":"60s"}`)
	inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
		w.introduce()
		other := w.another(setup{plugin: rules})
		w.tool.usual = envoytest.Slow
		executor, waiter := w.send(envoytest.Call{Body: refundA}), w.send(envoytest.Call{Body: refundB})
		w.cutOff()
		expect(t, "the executor", w.await(executor), http.StatusOK, "in_doubt")
		w.decide("resolve_released", got(t, executor))
		second := other.call(envoytest.Call{Body: refundA})
		expect(t, "the second execution", second, http.StatusOK, "executed")
		w.serveLedger()
		r := w.await(waiter)
		expect(t, "the waiter", r, http.StatusOK, "replay")
		if refundID(t, r) != refundID(t, second) {
			t.Errorf("the waiter got %v, want the result that counts", r)
		}
		w.count(2)
		if n := w.ledger.Counters()["fenced_commits"]; n != 1 {
			t.Errorf("%d fenced commits are counted, want 1", n)
		}
	})
}

// A person decided that a silent execution did not happen; before anyone executes it again its result comes. The person
// was wrong, and the result counts.
func TestWasmALateCommitOntoAReleasedRowCounts(t *testing.T) {
	rules := plugin(`{"match":{"path":"/api/invoke"},"execution_timeout":"3s","wait":"60s"}`)
	inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
		w.introduce()
		w.tool.usual = envoytest.Slow
		executor, waiter := w.send(envoytest.Call{Body: refundA}), w.send(envoytest.Call{Body: refundB})
		w.cutOff()
		expect(t, "the executor", w.await(executor), http.StatusOK, "in_doubt")
		w.decide("resolve_released", got(t, executor))
		w.serveLedger()
		expect(t, "the waiter", w.await(waiter), http.StatusOK, "coalesced")
		expect(t, "the retry", w.call(envoytest.Call{Body: refundA}), http.StatusOK, "replay")
		w.count(1)
	})
}

// A tool that works longer than the lease keeps its row by signs of life: it is never in doubt. A caller whose wait is
// over is told so, and the result is there later.
func TestWasmALongExecutionKeepsItsLease(t *testing.T) {
	inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
		w.freeze("idem-execute")
		began := time.Now()
		executor, near := w.send(envoytest.Call{Body: refundA}), w.send(envoytest.Call{Body: refundB})
		far := w.sendBy(1, request(envoytest.Call{Body: refundC}))
		for time.Since(began) < 29*time.Second {
			w.pass(time.Second)
			if state := w.rowState(); state != "in_flight" && time.Since(began) > 6*time.Second {
				t.Fatalf("after %v the row is %s", time.Since(began), state)
			}
		}
		if !near.Parked() || !far.Parked() {
			t.Fatal("a wait was over before its time")
		}
		w.pass(2 * time.Second)
		for who, r := range map[string]envoytest.Reply{"the waiter here": got(t, near), "the waiter at another worker": got(t, far)} {
			p := expectProblem(t, who, r, http.StatusConflict, "in_flight")
			if !p.Retryable || r.Header.Get("retry-after") == "" {
				t.Errorf("%s is not told to ask again: %v", who, r)
			}
		}
		w.pass(20 * time.Second)
		if extends := w.heard.of(wire.OpExtend); len(extends) < 50/5-1 {
			t.Errorf("%d signs of life in 51 s, want one every 5 s", len(extends))
		}
		w.thaw("idem-execute")
		expect(t, "the executor", w.await(executor), http.StatusOK, "executed")
		expect(t, "the waiter, again", w.call(envoytest.Call{Body: refundB}), http.StatusOK, "replay")
		w.count(1)
		if n := w.ledger.Counters()["leases_expired"]; n != 0 {
			t.Errorf("%d leases expired", n)
		}
	})
}

// Signs of life that do not come through put the row in doubt, and the first one that does takes it out again.
func TestWasmASignOfLifeEndsTheDoubt(t *testing.T) {
	inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
		w.introduce()
		w.freeze("idem-execute")
		executor := w.send(envoytest.Call{Body: refundA})
		w.cutOff()
		w.pass(20 * time.Second)
		w.inDoubt(w.heard.of(wire.OpReserve)[1].op.Fingerprint)
		w.serveLedger()
		expectProblem(t, "who asks meanwhile", got(t, w.sendBy(1, request(envoytest.Call{Body: refundB}))), http.StatusConflict, "in_doubt")
		w.pass(6 * time.Second)
		if state := w.rowState(); state != "in_flight" {
			t.Errorf("the row is %s, want in_flight", state)
		}
		w.thaw("idem-execute")
		expect(t, "the executor", w.await(executor), http.StatusOK, "executed")
		w.count(1)
	})
}
