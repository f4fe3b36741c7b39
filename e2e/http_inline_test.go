package e2e_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// Inline, the caller's stream goes on to the tool and the reply streams past; the others wait for its end.
func inline(t *testing.T, w *web) {
	const path = "/tools/inline/refund"
	const begins, ends = "event: progress\ndata: {\"done\":1}\n\n", "event: result\ndata: {\"refund_id\":\"rf-1\"}\n\n"
	events := func(more <-chan struct{}) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("content-type", "text/event-stream")
			rw.Header().Set("x-idem-outcome", "held")
			io.WriteString(rw, begins)
			http.NewResponseController(rw).Flush()
			select {
			case <-more:
			case <-r.Context().Done():
				return
			}
			io.WriteString(rw, ends)
		}
	}

	t.Run("the first event is there before the tool has ended", func(t *testing.T) {
		w.Fresh(t)
		more := make(chan struct{})
		w.Tool.Answer(events(more))
		response, err := http.DefaultClient.Do(w.post(t, path, refundA))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		first := make([]byte, len(begins))
		if _, err := io.ReadFull(response.Body, first); err != nil || string(first) != begins {
			t.Fatalf("the first event is %q, %v", first, err)
		}
		if o := response.Header.Values("x-idem-outcome"); len(o) != 1 || o[0] != "executed" || response.Header.Get("x-idem-committed") != "pending" {
			t.Errorf("the caller is told %v, %v", o, response.Header.Values("x-idem-committed"))
		}
		waiter := make(chan envoytest.Reply, 1)
		go func() { waiter <- w.Try(t.Context(), envoytest.Call{Path: path, Body: refundB}) }()
		w.AwaitArrivals(t, 2)
		select {
		case r := <-waiter:
			t.Fatalf("who waits got %v before the tool has ended", r)
		default:
		}
		close(more)
		rest, err := io.ReadAll(response.Body)
		if err != nil || string(rest) != ends {
			t.Errorf("the rest is %q, %v", rest, err)
		}
		for outcome, r := range map[string]envoytest.Reply{"coalesced": <-waiter, "replay": w.Call(t, envoytest.Call{Path: path, Body: refundC})} {
			expect(t, "another caller", r, http.StatusOK, outcome)
			if string(r.Body) != begins+ends || r.Header.Get("content-type") != "text/event-stream" {
				t.Errorf("%s: got %v", outcome, r)
			}
		}
		expectExecutions(t, w.Tool, 1)
		got := w.Tool.Calls()[0]
		if string(got.Body) != refundA || got.Header.Get("accept-encoding") != "identity" || got.Header.Get("x-idem-run") != "" {
			t.Errorf("the tool got %v %s", got.Header, got.Body)
		}
	})

	for name, until := range map[string]string{"before the reply": "", "in the reply": begins} {
		t.Run("a caller that leaves "+name+" leaves a doubt", func(t *testing.T) {
			w.Fresh(t)
			w.Tool.Answer(events(nil))
			release := func() {}
			if until == "" {
				release = w.Tool.Hold()
			}
			defer release()
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			began := make(chan struct{})
			r := w.post(t, path, refundA).WithContext(ctx)
			go func() {
				response, err := http.DefaultClient.Do(r)
				if err != nil {
					close(began)
					return
				}
				defer response.Body.Close()
				io.ReadFull(response.Body, make([]byte, len(until)))
				close(began)
				<-ctx.Done()
			}()
			w.Tool.AwaitCount(t, 1)
			if until != "" {
				<-began
			}
			waiter := make(chan envoytest.Reply, 1)
			go func() { waiter <- w.Try(t.Context(), envoytest.Call{Path: path, Body: refundB}) }()
			w.AwaitArrivals(t, 2)
			leave()
			expectProblem(t, "who waited", <-waiter, http.StatusGatewayTimeout, "in_doubt")
			expectProblem(t, "the retry", w.Call(t, envoytest.Call{Path: path, Body: refundA}), http.StatusConflict, "in_doubt")
			expectExecutions(t, w.Tool, 1)
		})
	}

	t.Run("trailers pass", func(t *testing.T) {
		w.Fresh(t)
		w.Tool.Answer(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("trailer", "x-sum")
			io.WriteString(rw, "done")
			rw.Header().Set("x-sum", "2")
		})
		r := w.post(t, "/tools/h2/inline/refund", "")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(refundA)), -1
		r.Trailer = http.Header{"X-Checksum": {"1"}}
		first := send(t, http2Client(), r)
		expect(t, "the caller", first.Reply, http.StatusOK, "executed")
		if got := w.Tool.Calls()[0]; got.Trailer.Get("x-checksum") != "1" || string(got.Body) != refundA {
			t.Errorf("the tool got %s, trailers %v", got.Body, got.Trailer)
		}
		if string(first.Body) != "done" || first.Trailer.Get("x-sum") != "2" {
			t.Errorf("the caller got %q, trailers %v", first.Body, first.Trailer)
		}
		again := w.Call(t, envoytest.Call{Path: "/tools/h2/inline/refund", Body: refundA})
		expect(t, "the retry", again, http.StatusOK, "replay")
		if string(again.Body) != "done" {
			t.Errorf("the retry got %q", again.Body)
		}
		expectExecutions(t, w.Tool, 1)
	})

	t.Run("large replies stream past", func(t *testing.T) {
		for size, kept := range map[int]bool{200_000: true, 300_000: true, 300_001: false, 20 << 20: false} {
			w.Fresh(t)
			piece := bytes.Repeat([]byte("0123456789"), 1000)
			w.Tool.Answer(func(rw http.ResponseWriter, _ *http.Request) {
				for left := size; left > 0; left -= len(piece) {
					rw.Write(piece[:min(left, len(piece))])
				}
			})
			call := envoytest.Call{Path: path, Body: refundA}
			first := w.Call(t, call)
			if first.Outcome() != "executed" || len(first.Body) != size {
				t.Errorf("the caller got %d, %s, %d bytes of %d", first.Status, first.Outcome(), len(first.Body), size)
			}
			r := w.Call(t, call)
			if !kept {
				expectProblem(t, "the retry", r, http.StatusConflict, "result_unavailable")
			} else if r.Outcome() != "replay" || !bytes.Equal(r.Body, first.Body) {
				t.Errorf("the retry got %d, %s, %d bytes of %d", r.Status, r.Outcome(), len(r.Body), size)
			}
			expectExecutions(t, w.Tool, 1)
		}
	})

	t.Run("failures", func(t *testing.T) {
		for behaviour, want := range map[envoytest.Behaviour]string{
			"500": "failed", "404": "failed", envoytest.Reset: "in_doubt", "504": "in_doubt", envoytest.Cut: "in_doubt", envoytest.CutChunks: "in_doubt",
		} {
			w.Fresh(t)
			call := envoytest.Call{Path: path, Body: refundA, Header: map[string]string{envoytest.BehaviourHeader: string(behaviour)}}
			r := w.Call(t, call)
			if r.Outcome() != want {
				t.Errorf("the caller of a tool that does %s got %v", behaviour, r)
			}
			if want == "in_doubt" {
				expectProblem(t, "the caller of a tool that does "+string(behaviour), r, http.StatusGatewayTimeout, want)
			}
			again := w.Call(t, envoytest.Call{Path: path, Body: refundA})
			executions := 1
			if want == "failed" {
				executions = 2
				expect(t, "the next call", again, http.StatusOK, "executed")
				expect(t, "the one after", w.Call(t, envoytest.Call{Path: path, Body: refundA}), http.StatusOK, "replay")
			} else {
				expectProblem(t, "the next call", again, http.StatusConflict, "in_doubt")
			}
			expectExecutions(t, w.Tool, executions)
		}
	})

	t.Run("a stream that breaks off", func(t *testing.T) {
		w.Fresh(t)
		w.Tool.Answer(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("content-type", "text/event-stream")
			io.WriteString(rw, begins)
			http.NewResponseController(rw).Flush()
			panic(http.ErrAbortHandler)
		})
		cut := w.Try(t.Context(), envoytest.Call{Path: path, Body: refundA})
		if cut.Err == nil {
			t.Errorf("the caller of a reply that was cut short takes it for whole: %v", cut)
		}
		expectProblem(t, "the next call", w.Call(t, envoytest.Call{Path: path, Body: refundA}), http.StatusConflict, "in_doubt")
		expectExecutions(t, w.Tool, 1)
	})
}
