package e2e_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"idem/e2e/envoytest"
)

// What a worker cannot keep it refuses; it never fails the callers that it has. The bodies keep the worker's one thread
// busy for seconds, so that the ledger's answers, and the ends of connections, are given time, and the callers come some
// at a time: ledgerd shuts a connection on which nothing is sent for ten seconds.
func TestMoreLargeBodiesThanAWorkerMayKeep(t *testing.T) {
	stack := envoytest.StartStack(t, envoytest.Options{
		Plugin: `{"ledger":{"cluster":"ledgerd","timeout":"25s"},"execute":{"cluster":"idem-execute"},"calls":[
			{"match":{"path":"/api/invoke"},"lease":"60s"}]}`,
		Edit: func(b envoytest.Bootstrap) { b.Manager("idem")["delayed_close_timeout"] = "60s" },
	})
	release := stack.Tool.Hold()
	large := strings.Repeat("x", 1<<20-1024)
	replies := make([]envoytest.Reply, 230)
	var callers sync.WaitGroup
	for i := range replies {
		callers.Go(func() {
			replies[i] = stack.Try(t.Context(), envoytest.Call{Body: fmt.Sprintf(`{"text":%q}`, large), Run: fmt.Sprint(i)})
		})
		if sent := int64(i + 1); sent%30 == 0 {
			envoytest.Until(t, 0, "these callers to be kept or refused", func() bool {
				return stack.Ledgerd.Counter(t, "arrivals")+stack.Stat(t, "wasmcustom.idem.calls.refused") >= sent
			})
		}
	}
	stack.Tool.AwaitCount(t, 1)
	envoytest.Until(t, 0, "callers to be refused", func() bool {
		return stack.Stat(t, "wasmcustom.idem.calls.refused") > 0 && stack.Stat(t, "http.idem.downstream_rq_total") == int64(len(replies))
	})
	release()
	callers.Wait()
	told := map[string]int{}
	for i, r := range replies {
		if r.Err != nil || r.Status != 200 && r.Problem().Code != "overloaded" {
			t.Errorf("caller %d got %.200v", i, r)
			continue
		}
		told[r.Outcome()]++
	}
	if told["executed"] != 1 || told["coalesced"] == 0 || told["refused"] == 0 || stack.Tool.Count() != 1 {
		t.Errorf("the callers were told %v, the tool was called %d times", told, stack.Tool.Count())
	}
	if reloads := stack.Stat(t, "wasm.idem.vm_reload_success"); reloads != 0 {
		t.Errorf("the module trapped %d times", reloads)
	}
}

// A request that the first listener takes is taken by the way to the tool too: a refusal there would be a doubt.
func TestAsManyHeadersAsTheListenerTakes(t *testing.T) {
	stack := demoStack(t)
	many := map[string]string{}
	for i := range 85 {
		many[fmt.Sprintf("x-more-%d", i)] = "1"
	}
	expect(t, "the caller with many headers", stack.Call(t, envoytest.Call{Body: `{"a":1}`, Header: many}), 200, "executed")
	long := map[string]string{"x-long": strings.Repeat("x", 50<<10)}
	expect(t, "the caller with a long header", stack.Call(t, envoytest.Call{Body: `{"a":2}`, Header: long}), 200, "executed")
}
