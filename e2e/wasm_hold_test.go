package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
)

// With hold_wait a held caller waits for the person's answer, at whatever worker, and gets what it says.
func TestWasmAHeldCallerWaitsForTheAnswer(t *testing.T) {
	rules := plugin(`{"match":{"path":"/api/invoke"},"near_duplicates":{"hold_wait":"10m"}}`)
	for decision, want := range map[string]struct {
		status  int
		outcome string
		runs    int
	}{
		"release":   {http.StatusOK, "executed", 2},
		"duplicate": {http.StatusOK, "replay", 1},
		"deny":      {http.StatusForbidden, "denied", 1},
		"":          {http.StatusConflict, "held", 1},
	} {
		t.Run("answer "+decision, func(t *testing.T) {
			inWorld(t, setup{plugin: rules, vms: 2}, func(t *testing.T, w *world) {
				expect(t, "the first run", w.call(refundBy("worker-a")), http.StatusOK, "executed")
				w.pass(time.Minute)
				near, far := w.send(refundBy("worker-b")), w.sendBy(1, request(refundBy("worker-c")))
				w.pass(9 * time.Minute)
				if !near.Parked() || !far.Parked() {
					t.Fatal("a caller has an answer before the person gave one")
				}
				if decision != "" {
					holds, err := w.ledger.Holds(t.Context(), 10)
					if err != nil || len(holds) != 1 {
						t.Fatalf("%d holds, %v; want one for both", len(holds), err)
					}
					w.answerHold(decision, holds[0].ID)
				}
				w.pass(time.Minute + 200*time.Millisecond)
				outcomes := map[string]int{}
				for _, s := range []*wasmhost.Stream{near, far} {
					r := got(t, s)
					outcomes[r.Outcome()]++
					if r.Status != want.status {
						t.Errorf("a caller got %v", r)
					}
				}
				if decision == "release" && (outcomes["executed"] != 1 || outcomes["coalesced"]+outcomes["replay"] != 1) || decision != "release" && outcomes[want.outcome] != 2 {
					t.Errorf("the callers were told %v", outcomes)
				}
				w.count(want.runs)
			})
		})
	}
}

// The provider's key is one for every execution of one intent that may be the same money, and another once a person has
// said that it is not.
func TestWasmTheProvidersKey(t *testing.T) {
	rules := plugin(`{"match":{"path":"/api/invoke"},"execution_timeout":"5s","provider_key":{"header":"Idempotency-Key","on_in_doubt":"retry"}}`)
	inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
		key := func() string {
			calls := w.tool.calls
			values := calls[len(calls)-1].Header.Values("idempotency-key")
			if len(values) != 1 {
				t.Fatalf("the tool got the keys %v", values)
			}
			return values[0]
		}
		call := refundBy("worker-a")
		call.Header = map[string]string{"idempotency-key": "the agent's own, new for every try"}
		w.tool.usual = "500"
		expect(t, "a try that fails", w.call(call), http.StatusInternalServerError, "failed")
		first := key()
		w.tool.usual = envoytest.Timeout
		expectProblem(t, "a try without an answer", w.call(call), http.StatusGatewayTimeout, "in_doubt")
		if key() != first {
			t.Error("another key after a definite failure")
		}
		w.tool.usual = envoytest.OK
		w.pass(time.Second)
		done := w.call(call)
		expect(t, "the try after the doubt", done, http.StatusOK, "executed")
		if key() != first {
			t.Error("another key for what may have happened already: the provider would do it twice")
		}
		w.count(3)

		w.pass(time.Minute)
		held := w.call(refundBy("worker-b"))
		expectProblem(t, "a new run", held, http.StatusConflict, "held")
		w.decide("release", held)
		expect(t, "after the release", w.call(refundBy("worker-b")), http.StatusOK, "executed")
		if key() == first {
			t.Error("the same key after a person's release: the provider would do nothing")
		}
	})
}

// Whose call it is may be what Envoy has verified: no caller is given another's result, and one that nothing was
// verified of is refused.
func TestWasmScopeByAVerifiedClaim(t *testing.T) {
	rules := plugin(`{"match":{"path":"/api/invoke"},"scope":[{"metadata":["envoy.filters.http.jwt_authn","payload","sub"]}]}`)
	inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
		by := func(subject, token string) envoytest.Reply {
			r := request(envoytest.Call{Body: refundA, Header: map[string]string{"authorization": "DPoP " + token}})
			if subject != "" {
				r.Properties = map[string]string{"metadata.filter_metadata.envoy.filters.http.jwt_authn.payload.sub": subject}
			}
			return w.await(w.sendBy(0, r))
		}
		expect(t, "ada", by("ada", "1"), http.StatusOK, "executed")
		expect(t, "ada with a new token", by("ada", "2"), http.StatusOK, "replay")
		expect(t, "bob", by("bob", "3"), http.StatusOK, "executed")
		expectProblem(t, "nobody", by("", "4"), http.StatusBadRequest, "unstable_scope")
		w.count(2)
	})
}
