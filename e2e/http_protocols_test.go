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

// One call is one call by whichever version of HTTP its callers and the tool speak.
func protocols(t *testing.T, w *web) {
	secure := w.authority.client(nil)
	old := w.authority.client(nil)
	old.Transport.(*http.Transport).ForceAttemptHTTP2 = false
	for path, toolSpeaks := range map[string]string{"/tools/refund": "HTTP/1.1", "/tools/h2/refund": "HTTP/2.0"} {
		w.Fresh(t)
		call := envoytest.Call{Path: path, Host: "tools.example", Body: refundA}
		first := w.Call(t, call)
		expect(t, path, first, http.StatusOK, "executed")
		for speaks, c := range map[string]struct {
			client *http.Client
			url    string
		}{
			"HTTP/2.0 h2c": {http2Client(), w.URL}, "HTTP/2.0 ALPN": {secure, "https://" + w.Address}, "HTTP/1.1 TLS": {old, "https://" + w.Address},
		} {
			r := w.post(t, path, refundB)
			r.URL.Scheme, r.Host = strings.Split(c.url, ":")[0], "tools.example"
			reply := send(t, c.client, r)
			expect(t, speaks, reply.Reply, http.StatusOK, "replay")
			if !strings.HasPrefix(speaks, reply.Protocol) || !bytes.Equal(reply.Body, first.Body) {
				t.Errorf("%s: got %s %s", speaks, reply.Protocol, reply.Body)
			}
		}
		expectExecutions(t, w.Tool, 1)
		if got := w.Tool.Calls()[0]; got.Protocol != toolSpeaks || string(got.Body) != refundA || got.Host != "tools.example" {
			t.Errorf("the tool got %s %s %s", got.Protocol, got.Host, got.Body)
		}
	}

	// The first caller may speak HTTP/2, and leave; its stream alone ends, the connection and the execution go on.
	w.Fresh(t)
	release := w.Tool.Hold()
	client := http2Client()
	client.Transport.(*http.Transport).DisableKeepAlives = false
	defer client.CloseIdleConnections()
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	r := w.post(t, "/tools/h2/refund", refundA).WithContext(ctx)
	go func() {
		response, err := client.Do(r)
		if err == nil {
			response.Body.Close()
		}
		left <- err
	}()
	w.Tool.AwaitCount(t, 1)
	waiter := make(chan webReply, 1)
	retry := w.post(t, "/tools/h2/refund", refundB)
	go func() { waiter <- send(t, client, retry) }()
	w.AwaitArrivals(t, 2)
	leave()
	if err := <-left; err == nil {
		t.Error("the caller that left has a reply")
	}
	release()
	expect(t, "who waited on the same connection", (<-waiter).Reply, http.StatusOK, "coalesced")
	expectExecutions(t, w.Tool, 1)

	// Trailers end a request as an end of stream does.
	w.Fresh(t)
	for _, outcome := range []string{"executed", "replay"} {
		r := w.post(t, "/tools/h2/refund", "")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(refundA)), -1
		r.Trailer = http.Header{"X-Checksum": {"1"}}
		expect(t, "the caller with trailers", send(t, http2Client(), r).Reply, http.StatusOK, outcome)
		r = w.post(t, "/tools/h2/close", "")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader("")), -1
		r.Header.Del("content-type")
		r.Trailer = http.Header{"X-Checksum": {"1"}}
		expect(t, "the caller with nothing but trailers", send(t, http2Client(), r).Reply, http.StatusOK, outcome)
		expectExecutions(t, w.Tool, 2)
	}
	w.Fresh(t)
	r = w.post(t, "/tools/h2/refund", "\x00\x00\x00\x00\x02{}")
	r.Header.Set("content-type", "application/grpc+proto")
	r.Header.Set("te", "trailers")
	// Envoy says a refusal to a gRPC caller as gRPC has it: status 2, unknown.
	if refused := send(t, http2Client(), r); refused.Header.Get("grpc-status") != "2" || refused.Outcome() != "refused" ||
		!strings.Contains(refused.Header.Get("grpc-message"), "unsupported_media_type") {
		t.Errorf("a gRPC caller got %d %v", refused.Status, refused.Header)
	}
	expectExecutions(t, w.Tool, 0)
}
