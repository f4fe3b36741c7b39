package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
	"idem/ledgerd/wire"
)

// A cluster without a healthy host fails the call to the tool at once, without a callback: it surely was not sent.
func TestWasmAToolThatCannotBeDispatchedToWasNotCalled(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		w.SetDown("idem-execute", true)
		p := expectProblem(t, "the caller", got(t, w.send(envoytest.Call{Body: refundA})), http.StatusBadGateway, "not_sent")
		if !p.Retryable {
			t.Error("not_sent is not retryable")
		}
		w.SetDown("idem-execute", false)
		expect(t, "the retry", w.call(envoytest.Call{Body: refundA}), http.StatusOK, "executed")
		w.count(1)
	})
}

// A callback without headers is a call that broke off: it may have happened, for everyone who waited, at every worker.
func TestWasmAnExecutionThatBreaksOffIsInDoubtForEveryone(t *testing.T) {
	inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
		w.freeze("idem-execute")
		streams := []*wasmhost.Stream{
			w.send(envoytest.Call{Body: refundA}), w.send(envoytest.Call{Body: refundB}), w.sendBy(1, request(envoytest.Call{Body: refundC})),
		}
		w.frozenCall("idem-execute").Reset()
		for i, s := range streams {
			expectProblem(t, fmt.Sprintf("caller %d", i), w.await(s), http.StatusGatewayTimeout, "in_doubt")
		}
		w.thaw("idem-execute")
		expectProblem(t, "the retry", w.call(envoytest.Call{Body: refundA}), http.StatusConflict, "in_doubt")
		w.count(0)
	})
}

// A caller that leaves takes nothing with it, whenever that is: what it asked for belongs to the worker.
func TestWasmACallerThatLeavesTakesNothingWithIt(t *testing.T) {
	inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
		w.introduce()
		w.freeze("ledgerd")
		early := w.send(envoytest.Call{Body: refundA})
		early.Disconnect() // before the grant
		w.freeze("idem-execute")
		w.thaw("ledgerd")
		execution := w.frozenCall("idem-execute")

		waiter, stays := w.send(envoytest.Call{Body: refundB}), w.send(envoytest.Call{Body: refundC})
		far, farStays := w.sendBy(1, request(envoytest.Call{Body: refundB})), w.sendBy(1, request(envoytest.Call{Body: refundC}))
		waiter.Disconnect() // while it waits here
		far.Disconnect()    // while it waits at another worker
		w.pass(time.Second)
		if execution.Cancelled() {
			t.Fatal("the execution ended with a caller")
		}
		w.thaw("idem-execute")
		expect(t, "a waiter that stayed", w.await(stays), http.StatusOK, "coalesced")
		expect(t, "one at the other worker", w.await(farStays), http.StatusOK, "coalesced")
		expect(t, "who left early, again", w.call(envoytest.Call{Body: refundA}), http.StatusOK, "replay")
		w.count(1)
	})
}

// When everyone has left, the tool still works for the next one.
func TestWasmAnExecutionThatNobodyWaitsForIsKept(t *testing.T) {
	inWorld(t, setup{vms: 2}, func(t *testing.T, w *world) {
		w.tool.usual = envoytest.Slow
		for i := range 2 {
			w.sendBy(i, request(envoytest.Call{Body: refundA})).Disconnect()
		}
		if n := len(w.VM(0).Streams()) + len(w.VM(1).Streams()); n != 0 {
			t.Fatalf("%d streams live", n)
		}
		w.pass(3 * time.Second)
		if n := len(w.Calls()); n != 0 {
			t.Errorf("%d calls are under way for nobody", n)
		}
		expect(t, "the retry", w.sendAndAwait(1, envoytest.Call{Body: refundA}), http.StatusOK, "replay")
		w.count(1)
	})
}

func (w *world) sendAndAwait(worker int, c envoytest.Call) envoytest.Reply {
	w.t.Helper()
	return w.await(w.sendBy(worker, request(c)))
}

// Two workers number their streams alike. No caller is ever given the reply of another's stream.
func TestWasmWorkersNeverAnswerEachOthersCallers(t *testing.T) {
	inWorld(t, setup{vms: 3}, func(t *testing.T, w *world) {
		w.freeze("idem-execute")
		var streams []*wasmhost.Stream
		for i := range 60 {
			body := fmt.Sprintf(`{"tool":"ship","args":{"order":"o-%d"}}`, i)
			streams = append(streams, w.sendBy(i%3, request(envoytest.Call{Path: "/tools/ship", Body: body})))
		}
		calls := w.CallsTo("idem-execute")
		for i := len(calls) - 1; i >= 0; i-- {
			calls[i].RespondWith(*w.tool.reply(http.StatusOK, `{"echo":`+string(calls[i].Body)+`}`, nil))
		}
		w.settle()
		for i, s := range streams {
			r := got(t, s) // at once: no worker depends on a tick, or on another worker, to be woken
			expect(t, fmt.Sprintf("caller %d", i), r, http.StatusOK, "executed")
			if want := fmt.Sprintf(`"o-%d"`, i); !strings.Contains(string(r.Body), want) {
				t.Errorf("caller %d got %s", i, r.Body)
			}
		}
	})
}

// A result that is too large to travel with other answers is fetched; when it cannot be fetched, the caller is told that
// it happened.
func TestWasmALargeResultIsFetched(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		w.tool.body = `{"refund_id":"rf-1","text":"` + strings.Repeat("x", 200_000) + `"}`
		call := envoytest.Call{Path: "/tools/refund", Body: refundA}
		first, second := w.call(call), w.call(call)
		expect(t, "the first", first, http.StatusOK, "executed")
		expect(t, "the second", second, http.StatusOK, "replay")
		if string(first.Body) != w.tool.body || string(second.Body) != w.tool.body {
			t.Error("a body was changed")
		}
		if n := len(w.heard.of(wire.OpFetch)); n != 2 { // one asks for the ledger's clock
			t.Errorf("%d fetches, want 2", n)
		}

		w.freeze("ledgerd")
		third := w.send(call)
		w.serveFrozen("ledgerd")
		w.frozenCall("ledgerd").Reset()
		p := expectProblem(t, "the third", got(t, third), http.StatusServiceUnavailable, "ledger_unavailable")
		if !strings.Contains(p.Detail, "it was executed") || !p.Retryable {
			t.Errorf("the third was told %+v", p)
		}
		w.thaw("ledgerd")
		expect(t, "the fourth", w.call(call), http.StatusOK, "replay")
		w.count(1)
	})
}

// serveFrozen serves the one call to a frozen cluster; what comes of it stays frozen.
func (w *world) serveFrozen(cluster string) {
	w.t.Helper()
	c := w.frozenCall(cluster)
	c.RespondWith(*w.servers[cluster](w.t.Context(), c))
}

// A result over max_result_bytes reaches who executed, and is not kept: everyone else is told that it happened.
func TestWasmAResultOverTheLimitIsNotKept(t *testing.T) {
	rules := plugin(`{"match":{"path_prefix":"/tools/"},"max_result_bytes":1000}`)
	inWorld(t, setup{plugin: rules, vms: 2}, func(t *testing.T, w *world) {
		w.tool.body, w.tool.usual = `"`+strings.Repeat("x", 2000)+`"`, envoytest.OK
		w.freeze("idem-execute")
		executor := w.send(envoytest.Call{Path: "/tools/refund", Body: refundA})
		near, far := w.send(envoytest.Call{Path: "/tools/refund", Body: refundB}), w.sendBy(1, request(envoytest.Call{Path: "/tools/refund", Body: refundC}))
		w.thaw("idem-execute")
		r := w.await(executor)
		expect(t, "the executor", r, http.StatusOK, "executed")
		if string(r.Body) != w.tool.body {
			t.Errorf("the executor got %d bytes", len(r.Body))
		}
		for who, s := range map[string]*wasmhost.Stream{
			"a waiter here": near, "a waiter at another worker": far, "who comes later": w.send(envoytest.Call{Path: "/tools/refund", Body: refundA}),
		} {
			p := expectProblem(t, who, w.await(s), http.StatusConflict, "result_unavailable")
			if p.Retryable {
				t.Errorf("%s is told to retry", who)
			}
		}
		w.count(1)
	})
}
