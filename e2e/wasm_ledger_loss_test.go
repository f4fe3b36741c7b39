package e2e_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
	"idem/ledgerd/wire"
)

// Without a ledger nothing is executed, whether Envoy has no host for it, is refused the connection, loses the reply,
// waits in vain, or hears something that is no answer.
func TestWasmWithoutALedgerTheToolIsNotReached(t *testing.T) {
	says := func(status int, body string) func(*world) {
		return func(w *world) {
			w.servers["ledgerd"] = func(context.Context, *wasmhost.Call) *wasmhost.Response {
				return &wasmhost.Response{Status: status, Body: []byte(body)}
			}
		}
	}
	for name, lose := range map[string]func(*world){
		"no healthy host":    func(w *world) { w.SetDown("ledgerd", true) },
		"connection refused": func(w *world) { w.refuseLedger() },
		"reset": func(w *world) {
			w.servers["ledgerd"] = func(context.Context, *wasmhost.Call) *wasmhost.Response { return nil }
		},
		"silence":          func(w *world) { w.freeze("ledgerd") },
		"a wrong token":    says(http.StatusUnauthorized, "{}"),
		"no answer":        says(http.StatusOK, ""),
		"half an answer":   says(http.StatusOK, `{"answer":"execute","att`),
		"too many answers": says(http.StatusOK, `{"answer":"gone","now":1}`+"\n"+`{"answer":"gone","now":1}`+"\n"),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, setup{}, func(t *testing.T, w *world) {
				for _, day := range []string{"the first call of all", "a later call"} {
					lose(w)
					began := time.Now()
					r := w.call(envoytest.Call{Body: refundA})
					p := expectProblem(t, day, r, http.StatusServiceUnavailable, "ledger_unavailable")
					if r.Header.Get("retry-after") == "" || !p.Retryable || p.Outcome != "unavailable" {
						t.Errorf("the refusal does not say that it may be tried again: %v %s", r.Header, r.Body)
					}
					if took := time.Since(began); took > 2100*time.Millisecond {
						t.Errorf("the caller was told after %v, ledger.timeout is 2 s", took)
					}
					w.pass(10 * time.Second)
					w.count(0)

					w.SetDown("ledgerd", false)
					w.serveLedger()
					w.thaw("ledgerd")
					w.pass(3 * time.Second) // the longest time between two tries, and a tick
					last := w.heard.of(wire.OpFail)
					if day == "the first call of all" { // the link asks for the clock first: no reserve was sent
						if len(last) != 0 {
							t.Errorf("the ledger hears of an attempt that it was never asked for: %+v", last)
						}
					} else if len(last) == 0 || last[len(last)-1].op.Class != wire.ClassNotSent {
						t.Errorf("%s: the ledger has not heard that the attempt was given up: %+v", day, last)
					}
					w.introduce()
				}
				expect(t, "the retry", w.call(envoytest.Call{Body: refundA}), http.StatusOK, "executed")
			})
		})
	}
}

// cut loses every reply of the ledger on its way to the filter: what is asked is done.
func (w *world) cut() {
	serve := w.servers["ledgerd"]
	w.servers["ledgerd"] = func(ctx context.Context, c *wasmhost.Call) *wasmhost.Response {
		serve(ctx, c)
		return nil
	}
}

// A grant that was lost on its way is given back: the next call executes, and nobody finds it in doubt.
func TestWasmAGrantThatWasLostIsGivenBack(t *testing.T) {
	for name, outage := range map[string]time.Duration{"within the lease": time.Second, "after the lease": 20 * time.Second} {
		inWorld(t, setup{}, func(t *testing.T, w *world) {
			w.introduce()
			w.cut()
			expectProblem(t, name, w.call(envoytest.Call{Body: refundA}), http.StatusServiceUnavailable, "ledger_unavailable")
			if state := w.rowState(); state != "reserved" {
				t.Fatalf("%s: the row is %s; the test wants a grant that was lost", name, state)
			}
			w.refuseLedger() // so that the fail is lost too
			w.pass(outage)
			w.serveLedger()
			w.pass(3 * time.Second)
			granted, fails := w.heard.of(wire.OpReserve), w.heard.of(wire.OpFail)
			if len(fails) != 1 || fails[0].op.Attempt != granted[len(granted)-1].op.Attempt || fails[0].answer.Kind != wire.AnswerOK {
				t.Errorf("%s: the ledger heard %+v", name, fails)
			}
			w.count(0)
			expect(t, "the retry, "+name, w.call(envoytest.Call{Body: refundA}), http.StatusOK, "executed")
			w.count(1)
		})
	}
}

// A grant that comes when half of its lease is over is not executed: the ledger may give the row up before it hears of
// the execution.
func TestWasmALateGrantIsNotExecuted(t *testing.T) {
	for late, executes := range map[time.Duration]bool{900 * time.Millisecond: true, 1100 * time.Millisecond: false} {
		inWorld(t, setup{}, func(t *testing.T, w *world) {
			w.introduce()
			serve := w.servers["ledgerd"]
			w.servers["ledgerd"] = func(ctx context.Context, c *wasmhost.Call) *wasmhost.Response {
				r := serve(ctx, c)
				// A lease that is shorter than the rule's: otherwise the ledger's timeout ends the wait for the grant.
				r.Body = bytes.Replace(r.Body, []byte(`"lease_ms":15000`), []byte(`"lease_ms":2000`), 1)
				select {
				case <-time.After(late):
					return r
				case <-ctx.Done():
					return nil
				}
			}
			r := w.call(envoytest.Call{Body: refundA})
			if executes {
				expect(t, "the caller of a grant in time", r, http.StatusOK, "executed")
				return
			}
			expectProblem(t, "the caller of a late grant", r, http.StatusServiceUnavailable, "ledger_unavailable")
			w.servers["ledgerd"] = serve
			w.pass(3 * time.Second)
			w.count(0)
			if state := w.rowState(); state != "released" {
				t.Errorf("the row is %s, want released", state)
			}
		})
	}
}

// A limit of the ledger is told as one.
func TestWasmALimitOfTheLedgerIsToldAsOne(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		w.introduce()
		w.freeze("ledgerd")
		s := w.send(envoytest.Call{Body: refundA})
		w.frozenCall("ledgerd").Respond(http.StatusOK, nil, wire.AppendAnswer(nil, &wire.Answer{
			Kind: wire.AnswerRefused, Now: time.Now().UnixMilli(), Code: wire.CodeOverloaded, Detail: "256 rows", RetryAfterMS: 1500,
		}))
		r := w.await(s)
		p := expectProblem(t, "the caller", r, http.StatusTooManyRequests, "overloaded")
		if r.Header.Get("retry-after") != "2" || p.RetryAfterMS != 1500 {
			t.Errorf("it may be tried again after %s s, %d ms; want 2 s, 1500 ms", r.Header.Get("retry-after"), p.RetryAfterMS)
		}
	})
}
