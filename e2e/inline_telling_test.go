package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// What streams past has its head before its end is known. How it ended stands in the access log and the counters, and in
// the trailers where there are some; a stream that may not go on is broken off, and never left to hang.
func TestHowAnInlineStreamEndedIsTold(t *testing.T) {
	logs := filepath.Join(t.TempDir(), "access.log")
	tool, ledgerd := envoytest.StartTool(t), envoytest.StartLedgerd(t, "")
	line := envoytest.StartLine(t, ledgerd)
	s := &failureStack{Stack: &envoytest.Stack{Tool: tool, Ledgerd: ledgerd}, rows: &rowFinder{ledgerd: ledgerd}}
	s.Envoy = envoytest.Start(t, envoytest.Options{
		Plugin: strings.Replace(plugin(
			`{"match":{"path_prefix":"/tools/brief/"},"execution":"inline","execution_timeout":"3s"}`,
			`{"match":{"path_prefix":"/tools/"},"execution":"inline"}`), `"timeout":"2s"`, `"timeout":"2s","commit_timeout":"2s"`, 1),
		Tool: tool.Address, Ledger: line.Address, Args: []string{"--file-flush-interval-msec", "20"},
		Edit: func(b envoytest.Bootstrap) {
			overHTTP2(t, b)
			b.Manager("idem")["access_log"] = readmeAccessLog(t, logs)
		},
	})
	logged := func(path string) (outcome string) {
		t.Helper()
		envoytest.Until(t, 0, path+" in the access log", func() bool {
			text, _ := os.ReadFile(logs)
			for line := range strings.Lines(string(text)) {
				var one struct{ Path, Outcome string }
				if json.Unmarshal([]byte(line), &one) == nil && one.Path == path {
					outcome = one.Outcome
				}
			}
			return outcome != ""
		})
		return outcome
	}
	streams := func(end func(rw http.ResponseWriter, r *http.Request)) {
		tool.Answer(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("content-type", "text/event-stream")
			rw.Header().Set("trailer", "x-sum")
			io.WriteString(rw, "data: 1\n\n")
			http.NewResponseController(rw).Flush()
			end(rw, r)
			rw.Header().Set("x-sum", "2")
		})
	}

	t.Run("whole", func(t *testing.T) {
		streams(func(http.ResponseWriter, *http.Request) {})
		r := s.Call(t, envoytest.Call{Path: "/tools/whole", Body: refundA})
		expect(t, "the caller", r, http.StatusOK, "executed")
		if said := logged("/tools/whole"); said != "executed" || s.Stat(t, "wasmcustom.idem.calls.executed") != 1 {
			t.Errorf("the access log says %s", said)
		}
	})
	t.Run("broken off", func(t *testing.T) {
		streams(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		if r := s.Try(t.Context(), envoytest.Call{Path: "/tools/broken", Body: refundA}); r.Err == nil {
			t.Errorf("the caller takes it for whole: %v", r)
		}
		if said := logged("/tools/broken"); said != "in_doubt" {
			t.Errorf("the access log says %s", said)
		}
		envoytest.Until(t, 0, "it to be counted", func() bool { return s.Stat(t, "wasmcustom.idem.calls.in_doubt") == 1 })
	})
	t.Run("left", func(t *testing.T) {
		streams(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/tools/left", strings.NewReader(refundA))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("content-type", "application/json")
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		leave()
		reply.Body.Close()
		if said := logged("/tools/left"); said != "in_doubt" {
			t.Errorf("the access log says %s", said)
		}
	})
	t.Run("longer than execution_timeout", func(t *testing.T) {
		closed := make(chan struct{})
		streams(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			close(closed)
		})
		executor := s.ask(t.Context(), envoytest.Call{Path: "/tools/brief/long", Body: refundA})
		waiter := s.ask(t.Context(), envoytest.Call{Path: "/tools/brief/long", Body: refundB})
		expectBroken(t, <-executor, <-waiter)
		<-closed
		if said := logged("/tools/brief/long"); said != "in_doubt" {
			t.Errorf("the access log says %s", said)
		}
	})
	t.Run("not kept", func(t *testing.T) {
		streams(func(http.ResponseWriter, *http.Request) { line.Lose(envoytest.Question, 0, "commit") })
		defer line.Restore()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/tools/h2/unkept", strings.NewReader(refundA))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("content-type", "application/json")
		got := send(t, http2Client(), r)
		if got.Status != http.StatusOK || got.Header.Get("x-idem-committed") != "pending" || string(got.Body) != "data: 1\n\n" {
			t.Errorf("the caller got %v, committed %q", got.Reply, got.Header.Get("x-idem-committed"))
		}
		if got.Trailer.Get("x-sum") != "2" || got.Trailer.Get("x-idem-outcome") != "in_doubt" || got.Trailer.Get("x-idem-committed") != "false" {
			t.Errorf("the trailers are %v", got.Trailer)
		}
		if said := logged("/tools/h2/unkept"); said != "in_doubt" {
			t.Errorf("the access log says %s", said)
		}
	})
}

// expectBroken: of two callers of one call the one whose stream executed finds it broken off, and the other is told.
func expectBroken(t *testing.T, a, b envoytest.Reply) {
	t.Helper()
	if a.Err == nil {
		a, b = b, a
	}
	if a.Err == nil {
		t.Errorf("the executor takes its stream for whole: %v", a)
	}
	expectProblem(t, "who waited", b, http.StatusGatewayTimeout, "in_doubt")
}
