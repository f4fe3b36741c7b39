package e2e_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// A tool whose provider knows keys gets one with every execution: equal for what repeats an execution that may have
// happened or failed, new for what a person released as another one.
func providerKeys(t *testing.T, w *web) {
	const path, header = "/tools/key/refund", "idempotency-key"
	keys := func() []string {
		var all []string
		for _, call := range w.Tool.Calls() {
			values := call.Header.Values(header)
			if len(values) != 1 || len(values[0]) < 32 {
				t.Fatalf("the tool got the keys %q", values)
			}
			if lookalike := call.Header.Get("idempotency_key"); lookalike != "" {
				t.Errorf("the tool got %q too, under a name that many servers take for the same", lookalike)
			}
			all = append(all, values[0])
		}
		return all
	}

	w.Fresh(t)
	first := envoytest.Call{Path: path, Run: "run-1", Body: refundA, Header: map[string]string{header: "the caller's", envoytest.BehaviourHeader: "500"}}
	expect(t, "the first caller", w.Call(t, first), http.StatusInternalServerError, "failed")
	retry := envoytest.Call{Path: path, Run: "run-2", Body: refundB, Header: map[string]string{header: "another", "idempotency_key": "one more"}}
	expect(t, "the retry", w.Call(t, retry), http.StatusOK, "executed")
	if k := keys(); k[0] != k[1] || k[0] == "the caller's" {
		t.Errorf("the keys of an execution and its repetition are %q", k)
	}
	expect(t, "another refund", w.Call(t, envoytest.Call{Path: path, Run: "run-2", Body: strings.Replace(refundA, "12.00", "13.00", 1)}), http.StatusOK, "executed")
	expect(t, "another caller", w.Call(t, as(path, "authorization", "Bearer b")), http.StatusOK, "executed")
	k := keys()
	if k[2] == k[0] || k[3] == k[0] || k[3] == k[2] {
		t.Errorf("the keys of three calls are %q", k[1:])
	}

	// A person says that it is another refund: it has a key of its own, and keeps it when it fails.
	w.Fresh(t)
	expect(t, "a refund", w.Call(t, envoytest.Call{Path: path, Run: "run-1", Body: refundA}), http.StatusOK, "executed")
	similar := envoytest.Call{Path: path, Run: "run-2", Body: strings.Replace(refundA, `"currency"`, `"note":"again","currency"`, 1)}
	held := w.Call(t, similar)
	expectProblem(t, "a similar one", held, http.StatusConflict, "held")
	answer(t, w.Stack, "release", held)
	similar.Header = map[string]string{envoytest.BehaviourHeader: "503"}
	expect(t, "what was released", w.Call(t, similar), http.StatusServiceUnavailable, "failed")
	similar.Header = nil
	expect(t, "its repetition", w.Call(t, similar), http.StatusOK, "executed")
	if k := keys(); k[1] == k[0] || k[1] != k[2] {
		t.Errorf("the keys of a refund, of the released one and of its repetition are %q", k)
	}

	t.Run("a doubt is settled under the same key", func(t *testing.T) { doubtUnderKey(t, w) })
}

// A call in doubt may be repeated where the tool knows its key: it is reached again, and does it once.
func doubtUnderKey(t *testing.T, w *web) {
	const path = "/tools/key-again/refund"
	w.Fresh(t)
	var mu sync.Mutex
	done := map[string]string{} // by key
	w.Tool.Answer(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		key := r.Header.Get("paypal-request-id")
		id, again := done[key]
		if !again {
			id = strconv.Itoa(len(done) + 1)
			done[key] = id
		}
		mu.Unlock()
		if !again { // it was done, and its reply is lost
			conn, _, err := http.NewResponseController(rw).Hijack()
			if err == nil {
				conn.Close()
			}
			return
		}
		io.WriteString(rw, `{"refund_id":"`+id+`"}`)
	})
	call := envoytest.Call{Path: path, Run: "run-1", Body: refundA, Header: map[string]string{"PayPal-Request-Id": "the caller's"}}
	began := time.Now()
	expectProblem(t, "the caller whose reply was lost", w.Call(t, call), http.StatusGatewayTimeout, "in_doubt")
	if r := w.Call(t, call); time.Since(began) < time.Second {
		expectProblem(t, "who asks before execution_timeout", r, http.StatusConflict, "in_doubt")
		expectExecutions(t, w.Tool, 1)
	}
	var settled envoytest.Reply
	envoytest.Until(t, 0, "the doubt to be settled", func() bool {
		settled = w.Call(t, call)
		return settled.Outcome() != "in_doubt"
	})
	if settled.Outcome() != "executed" && settled.Outcome() != "replay" || string(settled.Body) != `{"refund_id":"1"}` {
		t.Errorf("who settled it got %v", settled)
	}
	expect(t, "a later caller", w.Call(t, call), http.StatusOK, "replay")
	calls := w.Tool.Calls()
	mu.Lock()
	defer mu.Unlock()
	if len(calls) != 2 || len(done) != 1 || calls[0].Header.Get("paypal-request-id") != calls[1].Header.Get("paypal-request-id") {
		t.Errorf("the tool was reached %d times and did it %d times", len(calls), len(done))
	}
	if _, callers := done["the caller's"]; callers {
		t.Error("the tool got the caller's own key")
	}
}
