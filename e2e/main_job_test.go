package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// The README's story, request by request: three agents spell one refund differently and race; a fourth re-plans later.
func TestThreeSpellingsOfOneRefundExecuteOnce(t *testing.T) {
	s := demoStack(t)
	release := s.Tool.Hold()

	var arrived time.Time // the first one, or a moment ago
	replies := make([]chan envoytest.Reply, 3)
	for i, body := range []string{refundA, refundB, refundC} {
		replies[i] = make(chan envoytest.Reply, 1)
		go func() { replies[i] <- s.Try(t.Context(), envoytest.Call{Body: body}) }()
		if i == 0 {
			s.Tool.AwaitCount(t, 1) // so that worker-a is who executes
			arrived = time.Now()
		}
	}
	s.AwaitArrivals(t, 3)
	release()

	a, b, c := <-replies[0], <-replies[1], <-replies[2]
	expect(t, "worker-a", a, http.StatusOK, "executed")
	expect(t, "worker-b", b, http.StatusOK, "coalesced")
	expect(t, "the caller without a run", c, http.StatusOK, "coalesced")
	id := refundID(t, a)
	if refundID(t, b) != id || refundID(t, c) != id {
		t.Fatalf("the three have different results: %v, %v, %v", a, b, c)
	}
	if e := a.Envelope(); e.Outcome != "executed" || e.Coalesced || e.Replay || len(e.Fingerprint) != 64 {
		t.Errorf("worker-a's envelope: %s", a.Body)
	}
	if e := b.Envelope(); e.Outcome != "coalesced" || !e.Coalesced || e.Fingerprint != a.Envelope().Fingerprint {
		t.Errorf("worker-b's envelope: %s", b.Body)
	}
	again := s.Call(t, envoytest.Call{Body: refundB})
	expect(t, "worker-b again", again, http.StatusOK, "replay")
	if e := again.Envelope(); !e.Replay || refundID(t, again) != id {
		t.Errorf("worker-b's replay: %s", again.Body)
	}
	expectExecutions(t, s.Tool, 1)

	// Past the window, counted from the first arrival, a new run is a question to a person.
	const window = 5 * time.Second
	envoytest.Until(t, 0, "the window to pass", func() bool { return time.Since(arrived) > window+100*time.Millisecond })
	held := expectProblem(t, "worker-c", s.Call(t, refundBy("worker-c")), http.StatusConflict, "held")
	if held.Hold.ID == "" || held.Hold.Reason != "new_run" || held.Retryable {
		t.Fatalf("worker-c's hold: %+v", held)
	}
	expectExecutions(t, s.Tool, 1)

	if status, reply := releaseHold(t, s, held.Hold.ID); status != http.StatusOK {
		t.Fatalf("releasing the hold gave %d: %s", status, reply)
	}
	d := s.Call(t, refundBy("worker-d"))
	expect(t, "worker-d, after the release", d, http.StatusOK, "executed")
	if refundID(t, d) == id {
		t.Errorf("worker-d got the first execution's result")
	}
	expect(t, "worker-d again", s.Call(t, refundBy("worker-d")), http.StatusOK, "replay")
	if status, reply := releaseHold(t, s, held.Hold.ID); status != http.StatusConflict {
		t.Errorf("releasing the hold a second time gave %d, want 409: %s", status, reply)
	}
	expectExecutions(t, s.Tool, 2)

	// Another amount, another customer: other intents.
	for who, body := range map[string]string{
		"another amount":   `{"tool":"refund","runId":"worker-e","args":{"customer":"Ada@Example.com","amount":"$12.01","currency":"usd"}}`,
		"another customer": `{"tool":"refund","runId":"worker-e","args":{"customer":"Adam@Example.com","amount":"$12.00","currency":"usd"}}`,
	} {
		expect(t, who, s.Call(t, envoytest.Call{Body: body}), http.StatusOK, "executed")
	}
	expectExecutions(t, s.Tool, 4)
}

// releaseHold answers a hold as the console does, through Envoy.
func releaseHold(t *testing.T, s *envoytest.Stack, hold string) (status int, reply []byte) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"id": hold})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Call(t, envoytest.Call{Path: "/api/release", Body: string(body)})
	return r.Status, r.Body
}
