package e2e_test

import (
	"context"
	"net/http"
	"testing"

	"idem/e2e/envoytest"
)

func TestCallersThatLeave(t *testing.T) {
	s := demoStack(t)
	t.Run("the caller leaves and the retry replays", func(t *testing.T) { callerLeaves(t, s) })
	t.Run("a waiter leaves and the others get the result", func(t *testing.T) { waiterLeaves(t, s) })
}

// The caller's timeout is the commonest reason for a second call: the first goes on without the caller, and the retry
// gets its result.
func callerLeaves(t *testing.T, s *envoytest.Stack) {
	s.Fresh(t)
	release := s.Tool.Hold()

	ctx, leave := context.WithCancel(t.Context())
	left := make(chan envoytest.Reply, 1)
	go func() { left <- s.Try(ctx, envoytest.Call{Body: refundA}) }()
	s.Tool.AwaitCount(t, 1)
	leave()
	if r := <-left; r.Err == nil {
		t.Fatalf("the caller that left got %v", r)
	}
	envoytest.Until(t, 0, "Envoy to notice that the caller left", func() bool {
		return s.Stat(t, "http.idem.downstream_rq_active") == 0
	})
	release()

	// The retry may come while the tool still works, or after: it never makes it run again.
	retry := s.Call(t, envoytest.Call{Body: refundA})
	if o := retry.Outcome(); retry.Status != http.StatusOK || o != "replay" && o != "coalesced" {
		t.Fatalf("the retry got %v; want the first call's result", retry)
	}
	again := s.Call(t, envoytest.Call{Body: refundA})
	expect(t, "the second retry", again, http.StatusOK, "replay")
	if refundID(t, again) != refundID(t, retry) {
		t.Errorf("two retries got different results: %v and %v", retry, again)
	}
	expectExecutions(t, s.Tool, 1)
}

// A waiter that leaves takes nothing from the others.
func waiterLeaves(t *testing.T, s *envoytest.Stack) {
	s.Fresh(t)
	release := s.Tool.Hold()

	executor := make(chan envoytest.Reply, 1)
	go func() { executor <- s.Try(t.Context(), envoytest.Call{Body: refundA}) }()
	s.Tool.AwaitCount(t, 1)

	ctx, leave := context.WithCancel(t.Context())
	left, stays := make(chan envoytest.Reply, 1), make(chan envoytest.Reply, 1)
	go func() { left <- s.Try(ctx, envoytest.Call{Body: refundB}) }()
	go func() { stays <- s.Try(t.Context(), envoytest.Call{Body: refundC}) }()
	s.AwaitArrivals(t, 3)
	leave()
	<-left
	envoytest.Until(t, 0, "Envoy to notice that the waiter left", func() bool {
		return s.Stat(t, "http.idem.downstream_rq_active") == 2
	})
	release()

	expect(t, "the executor", <-executor, http.StatusOK, "executed")
	expect(t, "the waiter that stayed", <-stays, http.StatusOK, "coalesced")
	expectExecutions(t, s.Tool, 1)
}
