package e2e_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"idem/e2e/envoytest"
)

// No way of writing a request leads to the tool past its guard: each spelling is guarded, or refused by Envoy. What is
// one endpoint by the rules of URLs is one call.
func spellings(t *testing.T, w *web) {
	const body = `{"tool":"refund","args":{"customer":"c-1","amount":"$12.00"}}`
	h1 := func(target, host, more string) heard {
		conn := w.dial(t)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nhost: %s\r\ncontent-type: application/json\r\n%scontent-length: %d\r\n\r\n%s",
			target, host, more, len(body), body)
		r := received(t, conn)
		return heard{r.Status, r.Outcome()}
	}
	const host = "tools.example"
	for _, guarded := range []struct {
		rule      string
		same      []string // one endpoint by RFC 3986 and RFC 9110, or by the rule: one call
		otherwise []string // guarded, whatever the tool makes of it
	}{
		{"/api/invoke", []string{
			"/api/invoke", "/api/%69nvoke", "/%61pi/invok%65", "/api//invoke", "//api/invoke", "/api/./invoke", "/./api/invoke", "/api/x/../invoke",
			"/x/../api/invoke", "/api/%2e/invoke", "/api/x/%2E%2e/invoke", "/api/invoke/", "/api/invoke//", "/api/invoke/.", "/api/invoke?",
			"/api/invoke;v=1", "/api;v=1/invoke", "/api/invoke;", "http://tools.example/api/invoke", "http://TOOLS.example:80/api/x/../invoke",
		}, []string{
			"/api%2Finvoke", "/api%2finvoke", "/api/%2e%2e/api%2Finvoke", `/api\invoke`, "/api%5Cinvoke", "/api%5cinvoke", "/api/invoke%2F", "/api/invoke%00",
			"/api/%2569nvoke", "/api/invoke%3Fx", "/api/invoke%23x", "/api/invoke#x", "/api/..;/api/invoke", "/x/..;/api/invoke", "/api/invoke?x#y",
			"https://tools.example/api/invoke", "http://tools.example/api%2Finvoke", "/API/INVOKE", "/api/Invoke", "/Api/%49nvoke/",
		}},
		{"/tools/refund", []string{
			"/tools/refund", "/tools/%72efund", "/tools//refund", "//tools///refund", "/tools/./refund", "/tools/x/../refund", "/x/../tools/refund",
			"/x/%2e%2E/tools/refund", "http://tools.example/tools/refund", "/tools/refund?",
		}, []string{
			"/tools/refund/", "/tools%2Frefund", `/tools\refund`, "/tools%5Crefund", "/tools;v=1/refund", "/tools/refund;v=1", "/x/..;/tools/refund", "/tools/../tools/refund%2F",
			"/tools/%2572efund", "/Tools/refund", "/TOOLS/REFUND", "/%54ools/refund", "/tools/..%2ftools/refund", "/x/..%2ftools/refund", `/x/..\tools/refund`,
		}},
	} {
		w.Fresh(t)
		for i, target := range guarded.same {
			want := heard{http.StatusOK, "replay"}
			if i == 0 {
				want.outcome = "executed"
			}
			if got := h1(target, host, ""); got != want {
				t.Errorf("%s: got %v, want %v", target, got, want)
			}
			if target[0] != '/' {
				continue
			}
			if got := rawHTTP2(t, w, "POST", target, host, body); got.outcome != "replay" {
				t.Errorf("%s over HTTP/2: got %v", target, got)
			}
		}
		if n := w.Tool.Count(); n != 1 {
			t.Errorf("%s: the tool ran %d times for one call in %d spellings", guarded.rule, n, len(guarded.same))
		}
		for _, target := range guarded.otherwise {
			for protocol, send := range map[string]func() heard{
				"HTTP/1.1": func() heard { return h1(target, host, "") },
				"HTTP/2":   func() heard { return rawHTTP2(t, w, "POST", target, host, body) },
			} {
				if protocol == "HTTP/2" && target[0] != '/' {
					continue // Envoy breaks such a connection, in its own time
				}
				before := w.Tool.Count()
				got := send()
				if reached := w.Tool.Count() > before; reached && got.outcome == "" {
					t.Errorf("%s over %s leads around the guard of %s: %v, %s", target, protocol, guarded.rule, got, w.Tool.Calls()[before].Path)
				}
			}
		}
	}

	// Hosts are one whatever their case, their root dot and the port that would be taken anyway.
	w.Fresh(t)
	for i, name := range []string{"tools.example", "TOOLS.Example", "tools.example.", "tools.example:80"} {
		want := heard{http.StatusOK, "replay"}
		if i == 0 {
			want.outcome = "executed"
		}
		if got := h1("/tools/refund", name, ""); got != want {
			t.Errorf("host %s: got %v, want %v", name, got, want)
		}
	}
	expectExecutions(t, w.Tool, 1)

	// Methods: what a tool may take for the guarded one is guarded.
	w.Fresh(t)
	for _, how := range []struct{ method, target, header string }{
		{"POST", "/records/9", "x-http-method-override: DELETE\r\n"}, {"POST", "/records/9", "X-HTTP-Method: delete\r\n"},
		{"POST", "/records/9", "x-method-override: Delete\r\n"}, {"POST", "/records/9?_method=delete", ""}, {"GET", "/tools/refund", "x-http-method-override: POST\r\n"},
		{"GET", "/tools/refund?_method=POST", ""}, {"delete", "/tools/orders/9", ""}, {"post", "/tools/refund", ""}, {"Post", "/tools/refund", ""},
	} {
		before := w.Tool.Count()
		conn := w.dial(t)
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nhost: %s\r\ncontent-type: application/json\r\n%scontent-length: %d\r\n\r\n%s",
			how.method, how.target, host, how.header, len(body), body)
		r := received(t, conn)
		if r.Outcome() == "" && w.Tool.Count() > before {
			t.Errorf("%s %s with %q leads around the guard: %v", how.method, how.target, how.header, r)
		}
	}

	// A query in another order is the same, another query is not.
	apart(t, w, envoytest.Call{Path: "/tools/refund?a=1&b=2", Body: body}, envoytest.Call{Path: "/tools/refund?a=1", Body: body},
		envoytest.Call{Path: "/tools/refund?a=2&a=1&b=2", Body: body}, envoytest.Call{Path: "/tools/refund?a=1&a=2&b=2", Body: body})
	once(t, w, envoytest.Call{Path: "/tools/refund?a=1&b=2", Body: body}, envoytest.Call{Path: "/tools/refund?b=2&a=1", Body: body},
		envoytest.Call{Path: "/tools/refund?%61=%31&b=2&", Body: body})
}

// heard is what a caller that writes its request by hand looks at: status 0 is a connection or stream that was broken.
type heard struct {
	status  int
	outcome string
}

// rawHTTP2 sends one request by HTTP/2 frames, so that no client sets its target right.
func rawHTTP2(t *testing.T, w *web, method, target, host, body string) heard {
	t.Helper()
	conn, err := net.Dial("tcp", w.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, f := range [][2]string{
		{":method", method}, {":scheme", "http"}, {":authority", host}, {":path", target}, {"content-type", "application/json"},
	} {
		encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	fmt.Fprint(conn, http2.ClientPreface)
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	framer.WriteSettings()
	framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true})
	framer.WriteData(1, true, []byte(body))
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return heard{}
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			r := heard{}
			fmt.Sscan(f.PseudoValue("status"), &r.status)
			for _, h := range f.RegularFields() {
				if strings.EqualFold(h.Name, "x-idem-outcome") {
					r.outcome = h.Value
				}
			}
			return r
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return heard{}
		}
	}
}
