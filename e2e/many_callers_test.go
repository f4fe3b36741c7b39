package e2e_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"idem/e2e/envoytest"
)

// 500 agents that never see each other ask for one refund at once, on two Envoy workers: one execution, and everyone
// has its result.
func TestFiveHundredCallersOneExecution(t *testing.T) {
	const callers = 500
	s := envoytest.StartStack(t, envoytest.Options{Concurrency: 2})
	for _, c := range []struct{ reply, path string }{{"envelope", "/api/invoke"}, {"transparent", "/tools/refund"}} {
		t.Run(c.reply, func(t *testing.T) {
			s.Fresh(t)
			release := s.Tool.Hold()
			replies := make(chan envoytest.Reply, callers)
			random := rand.New(rand.NewPCG(1, 2))
			for i := range callers {
				body := spelling(random, "ada@example.com", 1200, fmt.Sprintf("worker-%d", i%50))
				go func() { replies <- s.Try(t.Context(), envoytest.Call{Path: c.path, Body: body}) }()
			}
			s.AwaitArrivals(t, callers)
			release()

			outcomes := map[string]int{}
			var first envoytest.Reply
			for i := range callers {
				r := <-replies
				if r.Err != nil || r.Status != http.StatusOK {
					t.Fatalf("a caller got %v", r)
				}
				outcomes[r.Outcome()]++
				if i == 0 {
					first = r
				}
				if refundID(t, r) != refundID(t, first) {
					t.Fatalf("two callers got different results: %v and %v", first, r)
				}
				if c.reply == "transparent" && !bytes.Equal(r.Body, first.Body) {
					t.Fatalf("two callers got different bodies: %v and %v", first, r)
				}
			}
			if outcomes["executed"] != 1 || outcomes["coalesced"] != callers-1 {
				t.Errorf("outcomes %v, want 1 executed and %d coalesced", outcomes, callers-1)
			}
			expectExecutions(t, s.Tool, 1)
		})
	}
}
