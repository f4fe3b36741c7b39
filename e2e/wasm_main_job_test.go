package e2e_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
	"idem/ledgerd/intent"
	"idem/ledgerd/ledger"
	"idem/ledgerd/wire"
)

// The README's story without Envoy: three spellings race, a late run is held, released once and executed once.
func TestWasmThreeSpellingsOfOneRefundExecuteOnce(t *testing.T) {
	inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
		w.tool.usual = envoytest.Slow
		began := time.Now()
		sa := w.send(envoytest.Call{Body: refundA})
		sb := w.sendBy(1, request(envoytest.Call{Body: refundB}))
		sc := w.send(envoytest.Call{Body: refundC})
		if !sa.Parked() || !sb.Parked() || !sc.Parked() {
			t.Fatal("a caller has a reply before the tool gave one")
		}
		a, b, c := w.await(sa), w.await(sb), w.await(sc)
		if took := time.Since(began); took > envoytest.SlowFor+100*time.Millisecond {
			t.Errorf("the callers were answered after %v, the tool took %v", took, envoytest.SlowFor)
		}
		expect(t, "worker-a", a, http.StatusOK, "executed")
		expect(t, "worker-b", b, http.StatusOK, "coalesced")
		expect(t, "the caller without a run", c, http.StatusOK, "coalesced")
		id := refundID(t, a)
		if refundID(t, b) != id || refundID(t, c) != id {
			t.Fatalf("the three have different results: %v, %v, %v", a, b, c)
		}
		w.tool.usual = envoytest.OK
		again := w.call(envoytest.Call{Body: refundB})
		expect(t, "worker-b again", again, http.StatusOK, "replay")
		if e := again.Envelope(); !e.Replay || refundID(t, again) != id {
			t.Errorf("worker-b's replay: %s", again.Body)
		}

		// The window counts from the first arrival and does not slide: to the millisecond.
		const window = 5 * time.Second
		w.pass(window - time.Since(began))
		expect(t, "a new run at the window's end", w.call(refundBy("worker-in-time")), http.StatusOK, "replay")
		w.pass(time.Millisecond)
		held := w.call(refundBy("worker-c"))
		p := expectProblem(t, "worker-c", held, http.StatusConflict, "held")
		if p.Hold.ID == "" || p.Hold.Reason != "new_run" || p.Retryable {
			t.Fatalf("worker-c's hold: %+v", p.Hold)
		}
		w.count(1)

		w.decide("release", held)
		d := w.call(refundBy("worker-d"))
		expect(t, "worker-d, after the release", d, http.StatusOK, "executed")
		if refundID(t, d) == id {
			t.Error("worker-d got the first execution's result")
		}
		expect(t, "worker-d again", w.call(refundBy("worker-d")), http.StatusOK, "replay")
		release := ledger.HoldAnswer{Decision: intent.Release, By: "ada"}
		if _, err := w.ledger.AnswerHold(t.Context(), p.Hold.ID, release); err == nil || !strings.Contains(err.Error(), "approved") && !strings.Contains(err.Error(), "open") {
			t.Errorf("a second release gave %v, want a conflict", err)
		}
		w.count(2)
		for who, body := range map[string]string{
			"another amount":   `{"tool":"refund","runId":"worker-e","args":{"customer":"Ada@Example.com","amount":"$12.01","currency":"usd"}}`,
			"another customer": `{"tool":"refund","runId":"worker-e","args":{"customer":"Adam@Example.com","amount":"$12.00","currency":"usd"}}`,
		} {
			expect(t, who, w.call(envoytest.Call{Body: body}), http.StatusOK, "executed")
		}
		w.count(4)
	})
}

// count fails the test where the tool was reached another number of times.
func (w *world) count(n int) {
	w.t.Helper()
	if got := w.tool.count(); got != n {
		w.t.Fatalf("the tool ran %d times, want %d", got, n)
	}
}

// 500 callers of one refund over two workers: one execution, everyone has its result, and the workers ask the ledger
// once for each of them that waits there, not once a caller.
func TestWasmManyCallersOneExecution(t *testing.T) {
	for path, transparent := range map[string]bool{"/api/invoke": false, "/tools/refund": true} {
		inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
			const callers = 500
			w.tool.usual = envoytest.Slow
			random := rand.New(rand.NewPCG(1, 2))
			var streams []*wasmhost.Stream
			for i := range callers {
				body := spelling(random, "ada@example.com", 1200, fmt.Sprintf("worker-%d", i%50))
				streams = append(streams, w.VM(i%2).Request(request(envoytest.Call{Path: path, Body: body})))
			}
			w.pass(envoytest.SlowFor)
			outcomes := map[string]int{}
			first := got(t, streams[0])
			for _, s := range streams {
				r := got(t, s)
				outcomes[r.Outcome()]++
				if r.Status != http.StatusOK || refundID(t, r) != refundID(t, first) || transparent && !bytes.Equal(r.Body, first.Body) {
					t.Fatalf("two callers got different results: %v and %v", first, r)
				}
			}
			if outcomes["executed"] != 1 || outcomes["coalesced"] != callers-1 {
				t.Errorf("outcomes %v, want 1 executed and %d coalesced", outcomes, callers-1)
			}
			w.count(1)
			if n := len(w.heard.of(wire.OpAwait)); n > 2 {
				t.Errorf("the workers waited %d times at the ledger, want at most once each", n)
			}
		})
	}
}

// The caller leaves after half a second of a slow call: the tool runs once, the retry has its result.
func TestWasmCallerLeavesAndTheRetryReplays(t *testing.T) {
	inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
		w.tool.usual = envoytest.Slow
		s := w.send(envoytest.Call{Body: refundA})
		w.pass(500 * time.Millisecond)
		s.Disconnect()
		during := w.sendBy(1, request(envoytest.Call{Body: refundA}))
		expect(t, "the retry while the tool works", w.await(during), http.StatusOK, "coalesced")
		again := w.call(envoytest.Call{Body: refundA})
		expect(t, "the retry after", again, http.StatusOK, "replay")
		if refundID(t, again) != refundID(t, got(t, during)) {
			t.Error("two retries got different results")
		}
		w.count(1)
	})
}

// Everyone who waited has the tool's own failure; the next call executes.
func TestWasmFailureOfTheToolIsEveryones(t *testing.T) {
	for _, path := range []string{"/api/invoke", "/tools/refund"} {
		inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
			w.tool.usual = envoytest.Slow500
			var streams []*wasmhost.Stream
			for i, body := range []string{refundA, refundB, refundC} {
				streams = append(streams, w.sendBy(i%2, request(envoytest.Call{Path: path, Body: body})))
			}
			for _, s := range streams {
				r := w.await(s)
				expect(t, "a caller of the failing tool", r, http.StatusInternalServerError, "failed")
				if !strings.Contains(string(r.Body), `{"error":"the tool failed","call":"rf-1"}`) {
					t.Errorf("it does not have the tool's own failure: %v", r)
				}
			}
			w.count(1)
			w.tool.usual = envoytest.OK
			expect(t, "the next call", w.call(envoytest.Call{Path: path, Body: refundA}), http.StatusOK, "executed")
		})
	}
}

// What surely did not happen may be tried again; what may have happened is not repeated by itself.
func TestWasmNeverSentAndInDoubtAreToldApart(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		w.tool.usual = "refused"
		p := expectProblem(t, "a call to a tool that refuses", w.call(envoytest.Call{Body: refundA}), http.StatusBadGateway, "not_sent")
		if !p.Retryable {
			t.Error("not_sent is not retryable")
		}
		w.tool.usual = envoytest.OK
		expect(t, "the retry", w.call(envoytest.Call{Body: refundA}), http.StatusOK, "executed")
		for _, behaviour := range []envoytest.Behaviour{envoytest.Reset, envoytest.Cut, envoytest.Timeout, "504"} {
			call := envoytest.Call{
				Body:   `{"tool":"ship","args":{"order":"` + string(behaviour) + `"}}`,
				Header: map[string]string{envoytest.BehaviourHeader: string(behaviour)},
			}
			before := w.tool.count()
			p := expectProblem(t, string(behaviour), w.call(call), http.StatusGatewayTimeout, "in_doubt")
			if p.Retryable {
				t.Errorf("%s: in_doubt is retryable", behaviour)
			}
			expectProblem(t, "the retry after "+string(behaviour), w.call(call), http.StatusConflict, "in_doubt")
			if n := w.tool.count() - before; n != 1 {
				t.Errorf("%s: the tool ran %d times, want once", behaviour, n)
			}
		}
	})
}

// A reply that the route made itself proves that nothing was sent only by its flags, and only where nothing was tried
// twice.
func TestWasmOnlyTheRoutesFlagsProveThatNothingWasSent(t *testing.T) {
	for _, c := range []struct {
		flags, details, attempts, code string
		status                         int
	}{
		{"UF", "upstream_reset_before_response_started{remote_connection_failure}", "1", "not_sent", 503},
		{"UH", "no_healthy_upstream", "1", "not_sent", 503},
		{"UO", "upstream_reset_before_response_started{overflow}", "1", "not_sent", 503},
		{"NR", "route_not_found", "0", "not_sent", 404},
		{"NC", "cluster_not_found", "0", "not_sent", 503},
		{"UF,UH", "no_healthy_upstream", "-", "not_sent", 503},
		{"UF", "upstream_reset_before_response_started{remote_connection_failure}", "2", "in_doubt", 503},
		{"UF,UC", "upstream_reset_before_response_started{connection_termination}", "1", "in_doubt", 503},
		{"UC", "upstream_reset_before_response_started{connection_termination}", "1", "in_doubt", 503},
		{"UT", "response_timeout", "1", "in_doubt", 504},
		{"-", "direct_response", "0", "in_doubt", 200},
		{"", "", "", "in_doubt", 200}, // a route that does not write what the filter reads
	} {
		inWorld(t, setup{}, func(t *testing.T, w *world) {
			w.freeze("idem-execute")
			s := w.send(envoytest.Call{Body: refundA})
			w.frozenCall("idem-execute").RespondWith(*madeByRoute(c.status, c.flags, c.details, c.attempts))
			if p := w.await(s).Problem(); p.Code != c.code {
				t.Errorf("flags %s, details %s, attempts %s: got %q, want %q", c.flags, c.details, c.attempts, p.Code, c.code)
			}
		})
	}
}
