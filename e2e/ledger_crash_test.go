package e2e_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"idem/e2e/envoytest"
)

// ledgerd is killed in the middle of 2,000 unique calls, more than once. Whatever was answered `executed` replays with
// the same result, and nothing runs twice.
func TestLedgerKilledDuringTwoThousandCalls(t *testing.T) {
	const calls, callers = 2000, 32
	s := envoytest.StartStack(t, envoytest.Options{
		Plugin: plugin(`{"match":{"path":"/api/invoke"},"reply":"envelope","wait":"5s"}`),
	})
	call := func(i int) envoytest.Call {
		return envoytest.Call{Run: "crash", Body: fmt.Sprintf(`{"tool":"ship","args":{"order":"o-%d"}}`, i)}
	}

	var answered atomic.Int64
	replies := make([]envoytest.Reply, calls)
	next := make(chan int)
	var done sync.WaitGroup
	for range callers {
		done.Go(func() {
			for i := range next {
				replies[i] = s.Try(t.Context(), call(i))
				answered.Add(1)
			}
		})
	}
	for i := range calls {
		if i == calls/4 || i == calls/2 || i == calls*3/4 {
			s.Ledgerd.Kill9(t)
			// Some calls must meet a ledger that is not there before it comes back.
			next <- i
			s.Ledgerd.Start(t)
			continue
		}
		next <- i
	}
	close(next)
	done.Wait()

	executed := 0
	for i, r := range replies {
		if r.Err != nil {
			t.Fatalf("call %d got no reply: %v", i, r.Err)
		}
		switch r.Outcome() {
		case "executed":
			executed++
		case "unavailable", "in_doubt", "in_flight":
		default:
			t.Errorf("call %d got %v", i, r)
		}
	}
	t.Logf("%d of %d calls were answered executed", executed, calls)
	if executed < calls/2 {
		t.Errorf("only %d of %d calls were answered executed: the test shows too little", executed, calls)
	}

	for i, was := range replies {
		now := s.Call(t, call(i))
		if was.Outcome() == "executed" && (now.Status != http.StatusOK || now.Outcome() != "replay" || refundID(t, now) != refundID(t, was)) {
			t.Errorf("call %d was answered %v, and now %v", i, was, now)
		}
	}
	for body, n := range s.Tool.CountBy(func(r envoytest.Received) string { return string(r.Body) }) {
		if n > 1 {
			t.Errorf("the tool ran %d times for %s", n, body)
		}
	}
}
