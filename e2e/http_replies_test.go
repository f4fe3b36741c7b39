package e2e_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// A replay is the tool's reply, byte for byte, whatever the reply is; so is what those get who waited for it.
func replies(t *testing.T, w *web) {
	const early = http.StatusEarlyHints
	binary := make([]byte, 70_000)
	for i := range binary {
		binary[i] = byte(i * i >> 3)
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status int
		body   []byte
	}{
		"created": {func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("location", "/refunds/1")
			rw.Header().Set("etag", `W/"1"`)
			rw.WriteHeader(http.StatusCreated)
			rw.Write([]byte(`{"id": 1}` + "\n"))
		}, http.StatusCreated, []byte(`{"id": 1}` + "\n")},
		"no content": {func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNoContent) }, http.StatusNoContent, nil},
		"not modified": {func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("etag", `"2"`)
			rw.WriteHeader(http.StatusNotModified)
		}, http.StatusNotModified, nil},
		"see other": {func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("location", "/receipts/1")
			rw.WriteHeader(http.StatusSeeOther)
		}, http.StatusSeeOther, nil},
		"empty": {func(rw http.ResponseWriter, _ *http.Request) { rw.Header().Set("content-type", "application/pdf") }, http.StatusOK, nil},
		"of no type": {func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header()["Content-Type"] = nil
			rw.Write(binary)
		}, http.StatusOK, binary},
		"early hints": {func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("link", "</a.css>; rel=preload")
			rw.WriteHeader(early)
			rw.Write([]byte("done"))
		}, http.StatusOK, []byte("done")},
		"binary": {func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("content-type", "application/pdf")
			rw.Write(binary)
		}, http.StatusOK, binary},
		"chunks and trailers": {func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("trailer", "x-checksum")
			for piece := range slices.Chunk(binary, 10_000) {
				rw.Write(piece)
				http.NewResponseController(rw).Flush()
			}
			rw.Header().Set("x-checksum", "1")
		}, http.StatusOK, binary},
		"headers of one name": {func(rw http.ResponseWriter, _ *http.Request) {
			for _, v := range []string{"b", "a", "a", ""} {
				rw.Header().Add("x-part", v)
				rw.Header().Add("link", "</"+v+">")
			}
			rw.Header().Set("x-bytes", "caf\xc3\xa9")
			rw.Header().Set("vary", "accept-encoding")
			rw.Write([]byte("ok"))
		}, http.StatusOK, []byte("ok")},
		"packed, though it was asked not to": {func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("content-encoding", "gzip")
			rw.Write([]byte(gzipped(t, "ok")))
		}, http.StatusOK, []byte(gzipped(t, "ok"))},
	} {
		w.Fresh(t)
		w.Tool.Answer(c.answer)
		call := envoytest.Call{Path: "/tools/refund", Body: refundA, Header: map[string]string{"accept-encoding": "gzip"}}
		first, waited := executedAndWaited(t, w, call)
		expect(t, name+": the executor", first, c.status, "executed")
		if told, is := first.Header.Values("content-type"), typeOf(c.answer); !slices.Equal(told, is) {
			t.Errorf("%s: the tool's content-type is %q, the executor is told %q", name, is, told)
		}
		if !bytes.Equal(first.Body, c.body) {
			t.Errorf("%s: the executor's body has %d bytes, the tool's %d", name, len(first.Body), len(c.body))
		}
		for outcome, r := range map[string]envoytest.Reply{"coalesced": waited, "replay": w.Call(t, call)} {
			expect(t, name, r, c.status, outcome)
			if !bytes.Equal(r.Body, first.Body) {
				t.Errorf("%s, %s: the body differs from the executor's", name, outcome)
			}
			if a, b := lastingHeaders(first.Header), lastingHeaders(r.Header); a != b {
				t.Errorf("%s: the %s has other headers\n%s\nthan the executor\n%s", name, outcome, b, a)
			}
			if r.Header.Get("idempotent-replayed") != "true" {
				t.Errorf("%s: the %s does not say so", name, outcome)
			}
		}
		// Another caller, of the protocol's other version and with other wishes, gets the same.
		h2 := send(t, http2Client(), w.post(t, "/tools/refund", refundB))
		if h2.Outcome() != "replay" || !bytes.Equal(h2.Body, first.Body) || lastingHeaders(h2.Header) != lastingHeaders(first.Header) {
			t.Errorf("%s: over HTTP/2 the replay is %d %v", name, h2.Status, h2.Header)
		}
		expectExecutions(t, w.Tool, 1)
		if wants := w.Tool.Calls()[0].Header.Values("accept-encoding"); !slices.Equal(wants, []string{"identity"}) {
			t.Errorf("%s: the tool was asked for %v", name, wants)
		}
	}
}

// executedAndWaited makes a call twice at once, and gives what its executor and who waited for it are told.
func executedAndWaited(t *testing.T, w *web, call envoytest.Call) (executed, waited envoytest.Reply) {
	t.Helper()
	release := w.Tool.Hold()
	executor, waiter := make(chan envoytest.Reply, 1), make(chan envoytest.Reply, 1)
	go func() { executor <- w.Try(t.Context(), call) }()
	w.Tool.AwaitCount(t, 1)
	go func() { waiter <- w.Try(t.Context(), call) }()
	w.AwaitArrivals(t, 2)
	release()
	return <-executor, <-waiter
}

// typeOf is the content-type that a tool gives its answer, as an HTTP server sends it.
func typeOf(answer http.HandlerFunc) []string {
	tool := httptest.NewServer(answer)
	defer tool.Close()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get(tool.URL)
	if err != nil {
		return []string{err.Error()}
	}
	defer response.Body.Close()
	return response.Header.Values("content-type")
}

// lastingHeaders is what a reply's headers say, without what belongs to this reply alone.
func lastingHeaders(h http.Header) string {
	var lines []string
	for name, values := range h {
		switch name {
		case "Date", "Server", "X-Idem-Outcome", "Idempotent-Replayed", "Connection", "Content-Length", "Transfer-Encoding":
		default:
			lines = append(lines, name+": "+strings.Join(values, " | "))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A result of max_result_bytes is kept; a larger one goes to its own caller whole, and everyone else is told that it
// ran and that its result is not there.
func resultSizes(t *testing.T, w *web) {
	for name, c := range map[string]struct {
		path string
		size int
		kept bool
	}{
		"at the limit":     {"/tools/small/refund", 2000, true},
		"over the limit":   {"/tools/small/refund", 2001, false},
		"at the default":   {"/tools/refund", 1 << 20, true},
		"over the default": {"/tools/refund", 1<<20 + 1, false},
		"far over it":      {"/tools/refund", 8 << 20, false},
	} {
		w.Fresh(t)
		result := strings.Repeat("x", c.size)
		w.Tool.Answer(func(rw http.ResponseWriter, _ *http.Request) { rw.Write([]byte(result)) })
		call := envoytest.Call{Path: c.path, Body: refundA}
		first, waited := executedAndWaited(t, w, call)
		if first.Status != http.StatusOK || first.Outcome() != "executed" || string(first.Body) != result {
			t.Fatalf("%s: the executor got %d %s, %d bytes of %d", name, first.Status, first.Outcome(), len(first.Body), c.size)
		}
		for who, r := range map[string]envoytest.Reply{"who waited": waited, "who came later": w.Call(t, call)} {
			if !c.kept {
				expectProblem(t, name+": "+who, r, http.StatusConflict, "result_unavailable")
			} else if r.Status != http.StatusOK || string(r.Body) != result {
				t.Errorf("%s: %s got %d, %d bytes of %d", name, who, r.Status, len(r.Body), c.size)
			}
		}
		expectExecutions(t, w.Tool, 1)
	}
}
