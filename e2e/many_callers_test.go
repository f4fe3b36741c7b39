package e2e_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"idem/e2e/envoytest"
)

// Hundreds of agents that never see each other ask for one refund at once: one execution, and everyone has its result,
// wherever they came in.
func TestManyCallersOneExecution(t *testing.T) {
	for workers, s := range map[int]*envoytest.Stack{1: demoStack(t), 2: envoytest.StartStack(t, envoytest.Options{Concurrency: 2})} {
		for _, c := range []struct {
			reply, path string
			callers     int
		}{
			{"envelope", "/api/invoke", 500},
			{"transparent", "/tools/refund", 500},
			{"transparent", "/tools/refund", 1000},
		} {
			t.Run(fmt.Sprintf("%d callers, %d workers, %s", c.callers, workers, c.reply), func(t *testing.T) {
				manyCallers(t, s, c.callers, c.path, c.reply == "transparent")
			})
		}
	}
}

func manyCallers(t *testing.T, s *envoytest.Stack, callers int, path string, equalBodies bool) {
	s.Fresh(t)
	release := s.Tool.Hold()
	replies := make(chan envoytest.Reply, callers)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range callers {
		body := spelling(random, "ada@example.com", 1200, fmt.Sprintf("worker-%d", i%50))
		go func() { replies <- s.Try(t.Context(), envoytest.Call{Path: path, Body: body}) }()
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
		if refundID(t, r) != refundID(t, first) || equalBodies && !bytes.Equal(r.Body, first.Body) {
			t.Fatalf("two callers got different results: %v and %v", first, r)
		}
	}
	if outcomes["executed"] != 1 || outcomes["coalesced"] != callers-1 {
		t.Errorf("outcomes %v, want 1 executed and %d coalesced", outcomes, callers-1)
	}
	expectExecutions(t, s.Tool, 1)
}
