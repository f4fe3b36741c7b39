package e2e_test

import (
	"net/http"
	"testing"

	"idem/e2e/envoytest"
)

// Without a ledger nothing is executed: fail closed. With it back, on the same data, what was known is known.
func TestWithoutALedgerTheToolIsNotReached(t *testing.T) {
	s := demoStack(t)
	first := s.Call(t, envoytest.Call{Body: refundA})
	expect(t, "the first call", first, http.StatusOK, "executed")

	s.Ledgerd.Kill9(t)
	other := refundBy("worker-x")
	other.Body = `{"tool":"refund","runId":"worker-x","args":{"customer":"eve@example.com","amount":"$7.00"}}`
	down := s.Call(t, other)
	problem := expectProblem(t, "a call without a ledger", down, http.StatusServiceUnavailable, "ledger_unavailable")
	if down.Header.Get("retry-after") == "" || !problem.Retryable || problem.Outcome != "unavailable" {
		t.Errorf("the refusal does not say that it may be tried again: %v %s", down.Header, down.Body)
	}
	expectExecutions(t, s.Tool, 1)

	s.Ledgerd.Start(shared) // for the tests to come too
	again := s.Call(t, envoytest.Call{Body: refundA})
	expect(t, "the first call again", again, http.StatusOK, "replay")
	if refundID(t, again) != refundID(t, first) {
		t.Errorf("the replay has another result: %v, then %v", first, again)
	}
	expect(t, "the call that met no ledger", s.Call(t, other), http.StatusOK, "executed")
	expectExecutions(t, s.Tool, 2)
}
