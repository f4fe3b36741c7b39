package e2e_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// Two spellings of a form are one call, and the tool gets the form as the first caller wrote it.
func bodies(t *testing.T, w *web) {
	const form = "application/x-www-form-urlencoded"
	at := func(contentType, body string) envoytest.Call {
		return envoytest.Call{Path: "/tools/form/pay", Type: contentType, Body: body}
	}
	const asWritten = "action=pay&amount=%2412.00&currency=usd&note=a+b"
	once(t, w, at(form, asWritten), at(form+"; charset=UTF-8", "note=a%20b&currency=USD&amount=12.00+USD&action=pay"),
		at(form, "&amount=1200%20cents&action=pay&&note=a%20b&currency=usd&"))
	if got := w.Tool.Calls()[0]; string(got.Body) != asWritten || got.Header.Get("content-type") != form {
		t.Errorf("the tool got %s %s", got.Header.Get("content-type"), got.Body)
	}
	apart(t, w, at(form, "action=pay&item=1&item=2"), at(form, "action=pay&item=2&item=1"), at(form, "action=pay&item=1"))

	w.Fresh(t)
	for name, body := range map[string]string{"no escape": "a=%zz", "no UTF-8": "a=%ff", "nothing": "", "only separators": "&&"} {
		expectProblem(t, name, w.Call(t, at(form, body)), http.StatusBadRequest, "malformed_body")
	}
	for name, call := range map[string]envoytest.Call{
		"JSON under a form's rule":  at("", `{"action":"pay"}`),
		"multipart":                 at("multipart/form-data; boundary=x", "--x--"),
		"another charset":           at(form+"; charset=latin1", "a=b"),
		"two media types":           {Path: "/tools/refund", Type: "application/json, text/plain", Body: refundA},
		"gRPC-Web":                  {Path: "/tools/refund", Type: "application/grpc-web+proto", Body: "\x00"},
		"a stream of JSON":          {Path: "/tools/refund", Type: "application/x-ndjson", Body: refundA},
		"gzip":                      {Path: "/tools/refund", Body: gzipped(t, refundA), Header: map[string]string{"content-encoding": "gzip"}},
		"gzip under another name":   {Path: "/tools/refund", Body: gzipped(t, refundA), Header: map[string]string{"content-encoding": "X-GZip"}},
		"deflate":                   {Path: "/tools/refund", Body: refundA, Header: map[string]string{"content-encoding": "deflate"}},
		"br":                        {Path: "/tools/refund", Body: refundA, Header: map[string]string{"content-encoding": "br"}},
		"zstd beside identity":      {Path: "/tools/refund", Body: refundA, Header: map[string]string{"content-encoding": "identity, zstd"}},
		"a body without media type": {Path: "/tools/refund", Type: "-", Body: refundA},
	} {
		expectProblem(t, name, w.Call(t, call), http.StatusUnsupportedMediaType, "unsupported_media_type")
	}
	expectExecutions(t, w.Tool, 0)
	once(t, w, envoytest.Call{Path: "/tools/refund", Body: refundA, Header: map[string]string{"content-encoding": "identity"}},
		envoytest.Call{Path: "/tools/refund", Type: "application/vnd.tool+json", Body: refundB})
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// sized is a JSON body of exactly so many bytes.
func sized(n int) string {
	const around = `{"note":""}`
	return `{"note":"` + strings.Repeat("x", n-len(around)) + `"}`
}

// A body of max_body_bytes executes, one byte more is refused by Idem; both with and without a length.
func bodySizes(t *testing.T, w *web) {
	w.Fresh(t)
	for path, limit := range map[string]int{"/tools/small/refund": 1000, "/tools/refund": 1 << 20} {
		expect(t, "at the limit", w.Call(t, envoytest.Call{Path: path, Body: sized(limit)}), http.StatusOK, "executed")
		over := envoytest.Call{Path: path, Body: sized(limit + 1)}
		p := expectProblem(t, "over the limit", w.Call(t, over), http.StatusRequestEntityTooLarge, "body_too_large")
		if !strings.Contains(p.Detail, fmt.Sprint(limit)) {
			t.Errorf("the refusal does not name the limit of %d: %s", limit, p.Detail)
		}
		r := w.post(t, path, over.Body)
		r.ContentLength = -1
		expectProblem(t, "over the limit without a length", send(t, http.DefaultClient, r).Reply, http.StatusRequestEntityTooLarge, "body_too_large")
	}
	expectExecutions(t, w.Tool, 2)
	large := sized(900 << 10)
	once(t, w, envoytest.Call{Path: "/tools/refund", Body: large}, envoytest.Call{Path: "/tools/refund", Body: " " + large})
	if got := w.Tool.Calls()[0].Body; string(got) != large {
		t.Errorf("the tool got %d bytes of %d", len(got), len(large))
	}
}

// Bodies that come in chunks, byte by byte, with trailers, or after an interim reply are bodies like others; one that
// does not come whole is no call.
func strangeBodies(t *testing.T, w *web) {
	const head = "POST /tools/refund HTTP/1.1\r\nhost: idem.example\r\ncontent-type: application/json\r\n"
	chunked := func(text string, size int) string {
		out := head + "transfer-encoding: chunked\r\n\r\n"
		for len(text) > 0 {
			n := min(size, len(text))
			out += fmt.Sprintf("%x\r\n%s\r\n", n, text[:n])
			text = text[n:]
		}
		return out + "0\r\n"
	}
	for name, c := range map[string]struct {
		writes  []string
		outcome string
	}{
		"in one piece":                  {[]string{chunked(refundA, 1000) + "\r\n"}, "executed"},
		"chunks of one byte":            {[]string{chunked(refundA, 1) + "\r\n"}, "executed"},
		"chunks in writes of one byte":  {strings.Split(chunked(refundA, 50)+"\r\n", ""), "executed"},
		"trailers":                      {[]string{chunked(refundA, 7) + "x-checksum: 1\r\n\r\n"}, "executed"},
		"a length, in writes of a byte": {strings.Split(head+fmt.Sprintf("content-length: %d\r\n\r\n%s", len(refundA), refundA), ""), "executed"},
		"no JSON, with trailers":        {[]string{chunked(refundA[:20], 7) + "x-checksum: 1\r\n\r\n"}, "refused"},
		"an empty body in chunks":       {[]string{head + "transfer-encoding: chunked\r\n\r\n0\r\n\r\n"}, "refused"},
	} {
		w.Fresh(t)
		conn := w.dial(t)
		for _, text := range c.writes {
			fmt.Fprint(conn, text)
		}
		r := received(t, conn)
		if r.Outcome() != c.outcome {
			t.Errorf("%s: got %v, want %s", name, r, c.outcome)
		}
		if c.outcome == "refused" {
			expectExecutions(t, w.Tool, 0)
			continue
		}
		expectExecutions(t, w.Tool, 1)
		if got := w.Tool.Calls()[0]; string(got.Body) != refundA || got.Header.Get("content-length") != fmt.Sprint(len(refundA)) {
			t.Errorf("%s: the tool got %v %s", name, got.Header, got.Body)
		}
		again := envoytest.Call{Path: "/tools/refund", Host: "idem.example", Body: refundB}
		expect(t, name+": the usual caller", w.Call(t, again), http.StatusOK, "replay")
	}

	w.Fresh(t)
	conn := w.dial(t)
	fmt.Fprintf(conn, "%sexpect: 100-continue\r\ncontent-length: %d\r\n\r\n", head, len(refundA))
	in := bufio.NewReader(conn)
	if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100") {
		t.Fatalf("the caller that expects 100 Continue got %q, %v", line, err)
	}
	in.ReadString('\n')
	fmt.Fprint(conn, refundA)
	expect(t, "the caller that expected 100 Continue", readReply(t, in), http.StatusOK, "executed")
	expectExecutions(t, w.Tool, 1)

	for name, text := range map[string]string{
		"within its length":     head + fmt.Sprintf("content-length: %d\r\n\r\n", len(refundA)+1) + refundA,
		"before its last chunk": strings.TrimSuffix(chunked(refundA, 30), "0\r\n"),
		"in its headers":        head,
	} {
		w.Fresh(t)
		conn := w.dial(t)
		before := w.Stat(t, "http.idem.downstream_rq_total")
		fmt.Fprint(conn, text)
		if name != "in its headers" {
			envoytest.Until(t, 0, "Envoy to have the request", func() bool { return w.Stat(t, "http.idem.downstream_rq_total") > before })
		}
		conn.Close()
		w.idle(t)
		if n := w.Tool.Count(); n != 0 {
			t.Errorf("a call that broke off %s reached the tool %d times", name, n)
		}
	}
}

// received is the reply on a connection.
func received(t *testing.T, conn interface{ Read([]byte) (int, error) }) envoytest.Reply {
	t.Helper()
	return readReply(t, bufio.NewReader(conn))
}

func readReply(t *testing.T, in *bufio.Reader) envoytest.Reply {
	t.Helper()
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatalf("no reply: %v", err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(response.Body)
	return envoytest.Reply{Status: response.StatusCode, Header: response.Header, Body: body.Bytes(), Err: err}
}

// A rule guards its methods: their calls have no body, or one, and run once; any other method is none of its business.
func methods(t *testing.T, w *web) {
	order := func(method, path, body string) envoytest.Call {
		c := envoytest.Call{Method: method, Path: path, Body: body}
		if body == "" {
			c.Type = "-"
		}
		return c
	}
	once(t, w, order("DELETE", "/tools/orders/7", ""), order("DELETE", "/tools/orders/7", ""))
	if got := w.Tool.Calls()[0]; got.Method != http.MethodDelete || len(got.Body) != 0 || got.Header.Get("content-type") != "" {
		t.Errorf("the tool got %s %v %q", got.Method, got.Header, got.Body)
	}
	once(t, w, order("POST", "/tools/close", ""), order("POST", "/tools/close", ""))
	apart(t, w, order("DELETE", "/tools/orders/7", ""), order("DELETE", "/tools/orders/8", ""), order("PUT", "/tools/orders/7", ""),
		order("DELETE", "/tools/orders/7?force=1", ""), order("DELETE", "/tools/orders/7", `{"reason":"a"}`))
	once(t, w, order("DELETE", "/tools/orders/7?b=2&a=1", ""), order("DELETE", "/tools/orders/7?a=1&b=2", ""))

	w.Fresh(t)
	for n, method := range []string{"GET", "HEAD", "OPTIONS", "GET", "HEAD", "OPTIONS"} {
		r := w.Call(t, envoytest.Call{Method: method, Path: "/tools/orders/7", Type: "-"})
		if r.Status != http.StatusOK || r.Outcome() != "" {
			t.Errorf("%s got %v", method, r)
		}
		expectExecutions(t, w.Tool, n+1)
	}
	// A body that is nothing's business passes whatever it is, as it comes.
	big := strings.Repeat("\xff", 6<<20)
	r := w.Call(t, envoytest.Call{Method: "PUT", Path: "/tools/refund", Type: "application/octet-stream", Body: big})
	if got := w.Tool.Calls()[6]; r.Outcome() != "" || string(got.Body) != big {
		t.Errorf("a PUT that no rule matches got %v; the tool got %d bytes", r, len(got.Body))
	}

	// A request to change protocols asks for another conversation: guarded, it is a call like any other.
	w.Fresh(t)
	conn := w.dial(t)
	fmt.Fprintf(conn, "POST /tools/refund HTTP/1.1\r\nhost: idem.example\r\nconnection: upgrade\r\nupgrade: websocket\r\n"+
		"content-type: application/json\r\ncontent-length: %d\r\n\r\n%s", len(refundA), refundA)
	if r := received(t, conn); r.Status == http.StatusSwitchingProtocols {
		t.Errorf("a guarded call changed protocols: %v", r)
	}
	for _, call := range w.Tool.Calls() {
		if call.Header.Get("upgrade") != "" {
			t.Errorf("the tool was asked to change protocols: %v", call.Header)
		}
	}
}
