package e2e_test

import (
	"net/http"
	"testing"

	"idem/e2e/envoytest"
)

func TestFailuresOfTheTool(t *testing.T) {
	s := demoStack(t)
	t.Run("everyone has the failure and the next executes", func(t *testing.T) {
		failsForEveryone(t, s, "envelope", "/api/invoke")
		failsForEveryone(t, s, "transparent", "/tools/refund")
	})
	t.Run("never sent and in doubt are told apart", func(t *testing.T) { neverSentOrInDoubt(t, s) })
}

// A failed call is over: everyone who waited has the tool's own failure, and the next call executes.
func failsForEveryone(t *testing.T, s *envoytest.Stack, reply, path string) {
	t.Helper()
	s.Fresh(t)
	s.Tool.Behave("500")
	release := s.Tool.Hold()
	replies := make(chan envoytest.Reply, 3)
	for i, body := range []string{refundA, refundB, refundC} {
		go func() { replies <- s.Try(t.Context(), envoytest.Call{Path: path, Body: body}) }()
		if i == 0 {
			s.Tool.AwaitCount(t, 1)
		}
	}
	s.AwaitArrivals(t, 3)
	release()
	var failure []byte
	for range 3 {
		r := <-replies
		expect(t, "a caller of the failing tool", r, http.StatusInternalServerError, "failed")
		body := r.Body
		if reply == "envelope" {
			body = r.Envelope().Result
		}
		if failure == nil {
			failure = body
		}
		if string(body) != string(failure) || len(body) == 0 {
			t.Errorf("two callers got different failures: %s and %s", failure, body)
		}
	}
	expectExecutions(t, s.Tool, 1)

	s.Tool.Behave(envoytest.OK)
	expect(t, "the next call", s.Call(t, envoytest.Call{Path: path, Body: refundA}), http.StatusOK, "executed")
	expectExecutions(t, s.Tool, 2)
}

// Where the tool was surely not reached the caller may try again; where it may have acted nobody does by itself.
func neverSentOrInDoubt(t *testing.T, s *envoytest.Stack) {
	s.Fresh(t)
	s.Tool.Refuse()
	p := expectProblem(t, "a call to a tool that refuses", s.Call(t, envoytest.Call{Body: refundA}), http.StatusBadGateway, "not_sent")
	if !p.Retryable {
		t.Errorf("not_sent is not retryable: %+v", p)
	}
	s.Tool.Accept(t)
	expect(t, "the retry", s.Call(t, envoytest.Call{Body: refundA}), http.StatusOK, "executed")

	for _, behaviour := range []envoytest.Behaviour{envoytest.Reset, envoytest.Cut, "504"} {
		call := envoytest.Call{
			Body:   `{"tool":"ship","args":{"order":"` + string(behaviour) + `"}}`,
			Header: map[string]string{envoytest.BehaviourHeader: string(behaviour)},
		}
		before := s.Tool.Count()
		p := expectProblem(t, "the caller of a tool that did "+string(behaviour), s.Call(t, call), http.StatusGatewayTimeout, "in_doubt")
		if p.Retryable {
			t.Errorf("%s: in_doubt is retryable: %+v", behaviour, p)
		}
		expectProblem(t, "the retry after "+string(behaviour), s.Call(t, call), http.StatusConflict, "in_doubt")
		if n := s.Tool.Count() - before; n != 1 {
			t.Errorf("%s: the tool ran %d times, want once", behaviour, n)
		}
	}
}
