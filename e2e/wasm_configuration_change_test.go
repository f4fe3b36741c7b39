package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// A configuration that is replaced is kept until what runs under it is settled.
func TestWasmAReplacedConfigurationSettlesWhatItBegan(t *testing.T) {
	t.Run("nothing is under way", func(t *testing.T) {
		inWorld(t, setup{}, func(t *testing.T, w *world) {
			w.introduce()
			w.VM(0).Shutdown()
			if !w.VM(0).Failed() {
				t.Error("the plugin does not end")
			}
		})
	})
	t.Run("a caller waits", func(t *testing.T) {
		inWorld(t, setup{}, func(t *testing.T, w *world) {
			w.tool.usual = envoytest.Slow
			s := w.send(envoytest.Call{Body: refundA})
			w.VM(0).Shutdown()
			expect(t, "the caller", w.await(s), http.StatusOK, "executed")
			w.pass(time.Second)
			if !w.VM(0).Failed() {
				t.Error("the plugin does not end")
			}
		})
	})
	t.Run("an execution whose caller has left", func(t *testing.T) {
		inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
			w.tool.usual = envoytest.Slow
			w.send(envoytest.Call{Body: refundA}).Disconnect()
			w.VM(0).Shutdown()
			if w.VM(0).Failed() {
				t.Fatal("the plugin ended in the middle of an execution")
			}
			w.pass(envoytest.SlowFor + 200*time.Millisecond)
			if !w.VM(0).Failed() {
				t.Error("the plugin does not end")
			}
			expect(t, "the retry at a new worker", w.sendAndAwait(1, envoytest.Call{Body: refundA}), http.StatusOK, "replay")
			w.count(1)
		})
	})
	t.Run("a commit that the ledger has not heard", func(t *testing.T) {
		inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
			w.introduce()
			w.tool.usual = envoytest.Slow
			w.send(envoytest.Call{Body: refundA}).Disconnect()
			w.cutOff()
			w.VM(0).Shutdown()
			w.pass(10 * time.Second)
			if w.VM(0).Failed() {
				t.Fatal("the plugin ended before its result was kept")
			}
			w.serveLedger()
			w.pass(3 * time.Second)
			if !w.VM(0).Failed() {
				t.Error("the plugin does not end")
			}
			expect(t, "the retry at a new worker", w.sendAndAwait(1, envoytest.Call{Body: refundA}), http.StatusOK, "replay")
			w.count(1)
		})
	})
	t.Run("an attempt that was given up", func(t *testing.T) {
		inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
			w.introduce()
			w.cut()
			expectProblem(t, "the caller", w.call(envoytest.Call{Body: refundA}), http.StatusServiceUnavailable, "ledger_unavailable")
			w.VM(0).Shutdown()
			if w.VM(0).Failed() {
				t.Fatal("the plugin ended before the ledger heard that its attempt was given up")
			}
			w.serveLedger()
			w.pass(3 * time.Second)
			if !w.VM(0).Failed() {
				t.Error("the plugin does not end")
			}
			expect(t, "the retry at a new worker", w.sendAndAwait(1, envoytest.Call{Body: refundA}), http.StatusOK, "executed")
		})
	})
}

// keyed is a configuration whose fingerprints have a key.
func keyed(fingerprint, rule string) string {
	return `{"ledger":{"cluster":"ledgerd","timeout":"2s"},"execute":{"cluster":"idem-execute"},"fingerprint":` + fingerprint +
		`,"calls":[` + rule + `]}`
}

// A new key and an edited rule forget nothing that the configuration's `previous` names: results replay, executions that
// run are waited for, holds stay asked.
func TestWasmARotatedKeyForgetsNothing(t *testing.T) {
	const rule = `{"name":"invoke","match":{"path":"/api/invoke"},"reply":"envelope"}`
	env := map[string]string{"OLD": "an old key of many bytes", "NEW": "a new key of as many bytes"}
	for name, c := range map[string]struct{ before, after string }{
		"from no key to one": {keyed(`{}`, rule), keyed(`{"key_env":"NEW","previous":[{"key_env":null}]}`, rule)},
		"another key":        {keyed(`{"key_env":"OLD"}`, rule), keyed(`{"key_env":"NEW","previous":[{"key_env":"OLD"}]}`, rule)},
		"an edited rule": {
			keyed(`{"key_env":"OLD"}`, rule),
			keyed(`{"key_env":"OLD","previous":[{"calls":[`+rule+`]}]}`, `{"name":"refunds","match":{"path":"/api/invoke"},"reply":"envelope","headers":["x-shop"]}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, setup{plugin: c.before, env: env}, func(t *testing.T, w *world) {
				after := w.another(setup{plugin: c.after, env: env, vms: 2})
				w.tool.usual = envoytest.Slow
				first := w.send(envoytest.Call{Body: refundA})
				waiter := after.send(envoytest.Call{Body: refundB})
				alien := after.sendBy(1, request(envoytest.Call{Body: `{"tool":"refund","args":{"customer":"bob@example.com","amount":"$12.00"}}`}))
				expect(t, "the executor under the old configuration", w.await(first), http.StatusOK, "executed")
				expect(t, "who waits under the new one", w.await(waiter), http.StatusOK, "coalesced")
				expect(t, "another customer's call", w.await(alien), http.StatusOK, "executed")
				replay := after.call(envoytest.Call{Body: refundA})
				expect(t, "the retry under the new one", replay, http.StatusOK, "replay")
				if refundID(t, replay) != refundID(t, got(t, first)) {
					t.Error("the retry has another result")
				}
				w.tool.usual = envoytest.OK
				w.pass(6 * time.Second)
				held := after.call(refundBy("worker-late"))
				expectProblem(t, "a late run under the new one", held, http.StatusConflict, "held")
				back := w.call(refundBy("worker-late"))
				expectProblem(t, "the same under the old one", back, http.StatusConflict, "held")
				if held.HoldID() != back.HoldID() {
					t.Errorf("a person is asked twice: holds %s and %s", held.HoldID(), back.HoldID())
				}
				w.decide("release", held)
				expect(t, "after the release", after.call(refundBy("worker-late")), http.StatusOK, "executed")
				expect(t, "and under the old one", w.call(refundBy("worker-late")), http.StatusOK, "replay")
				w.count(3)
			})
		})
	}
	t.Run("without previous it is new", func(t *testing.T) {
		inWorld(t, setup{plugin: keyed(`{"key_env":"OLD"}`, rule), env: env}, func(t *testing.T, w *world) {
			after := w.another(setup{plugin: keyed(`{"key_env":"NEW"}`, rule), env: env})
			w.call(envoytest.Call{Body: refundA})
			expect(t, "the retry", after.call(envoytest.Call{Body: refundA}), http.StatusOK, "executed")
			w.count(2)
		})
	})
}
