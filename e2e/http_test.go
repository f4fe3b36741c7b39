package e2e_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// TestHTTP is everything that HTTP can do to a guarded call, on one Envoy: it takes seconds to start.
func TestHTTP(t *testing.T) {
	w := startWeb(t)
	for _, promise := range []struct {
		name string
		test func(*testing.T, *web)
	}{
		{"bodies", bodies},
		{"body sizes", bodySizes},
		{"bodies that arrive strangely", strangeBodies},
		{"methods", methods},
		{"replies", replies},
		{"result sizes", resultSizes},
		{"HTTP/2 and TLS", protocols},
		{"no spelling leads around a guard", spellings},
		{"inline", inline},
		{"nobody passes for Idem", nobodyPassesForIdem},
		{"no trailers pass for Idem's", noTrailersPassForIdem},
		{"stored headers", storedHeaders},
		{"scope by credentials", scopeByCredentials},
		{"scope by a verified claim", scopeByClaim},
		{"scope by the peer's certificate", scopeByCertificate},
		{"provider keys", providerKeys},
		{"no credentials are kept", noCredentialsKept}, // of all the calls before it
	} {
		t.Run(promise.name, func(t *testing.T) { promise.test(t, w) })
	}
	if reloads := w.Stat(t, "wasm.idem.vm_reload_success"); reloads != 0 {
		t.Errorf("the module trapped %d times", reloads)
	}
}

// web is a stack whose listener speaks HTTP/1.1, HTTP/2 and TLS, verifies tokens and certificates, and reaches the tool
// by HTTP/1.1 or, below /tools/h2/, by HTTP/2.
type web struct {
	*envoytest.Stack
	issuer    *tokenIssuer
	authority *authority
}

// webRules are the rules of a web: one for each idea, told apart by their paths.
var webRules = plugin(
	`{"name":"forms","match":{"path_prefix":"/tools/form/"},"protocol":"form","tool":{"pointer":"/action"}}`,
	`{"name":"records","match":{"path_prefix":"/records/","methods":["DELETE"]}}`,
	`{"name":"orders","match":{"path_prefix":"/tools/orders/","methods":["DELETE","PUT"]}}`,
	`{"name":"small","match":{"path_prefix":"/tools/small/"},"max_body_bytes":1000,"max_result_bytes":2000}`,
	`{"name":"inline","match":{"path_prefix":"/tools/inline/"},"execution":"inline","max_result_bytes":300000}`,
	`{"name":"inline over HTTP/2","match":{"path_prefix":"/tools/h2/inline/"},"execution":"inline"}`,
	`{"name":"invoke","match":{"path":"/api/invoke"}}`,
	`{"name":"kept","match":{"path_prefix":"/tools/kept/"},"keep_headers":["set-cookie"]}`,
	`{"name":"session","match":{"path_prefix":"/tools/session/"},"scope":[{"cookie":"session"}]}`,
	`{"name":"claim","match":{"path_prefix":"/tools/claim/"},"scope":[{"metadata":["envoy.filters.http.jwt_authn","claims","sub"]}]}`,
	`{"name":"peer","match":{"path_prefix":"/tools/peer/"},"scope":[{"certificate":"uri_san"}]}`,
	`{"name":"key","match":{"path_prefix":"/tools/key/"},"provider_key":{"header":"Idempotency-Key"}}`,
	`{"name":"key-again","match":{"path_prefix":"/tools/key-again/"},"execution_timeout":"1s",
		"provider_key":{"header":"PayPal-Request-Id","on_in_doubt":"retry"}}`,
	`{"name":"tools","match":{"path_prefix":"/tools/"}}`,
)

func startWeb(t *testing.T) *web {
	t.Helper()
	w := &web{issuer: newTokenIssuer(t), authority: newAuthority(t)}
	w.Stack = envoytest.StartStack(t, envoytest.Options{
		Plugin: webRules,
		Edit: func(b envoytest.Bootstrap) {
			overHTTP2(t, b)
			w.issuer.verifiedBy(t, b)
			w.authority.servedBy(t, b)
		},
	})
	return w
}

// once sends what several callers send of one call and fails the test unless the first executes it, the others get its
// result, and the tool was reached once.
func once(t *testing.T, w *web, calls ...envoytest.Call) {
	t.Helper()
	w.Fresh(t)
	var first envoytest.Reply
	for i, call := range calls {
		r := w.Call(t, call)
		if i == 0 {
			first = r
			expect(t, "the first caller", r, http.StatusOK, "executed")
			continue
		}
		expect(t, fmt.Sprintf("caller %d", i+1), r, http.StatusOK, "replay")
		if !bytes.Equal(r.Body, first.Body) {
			t.Errorf("caller %d got %s, the first %s", i+1, r.Body, first.Body)
		}
	}
	expectExecutions(t, w.Tool, 1)
}

// apart sends calls that are none of each other's repetitions: each executes.
func apart(t *testing.T, w *web, calls ...envoytest.Call) {
	t.Helper()
	w.Fresh(t)
	for i, call := range calls {
		expect(t, fmt.Sprintf("caller %d", i+1), w.Call(t, call), http.StatusOK, "executed")
	}
	expectExecutions(t, w.Tool, len(calls))
}

// overHTTP2 adds a cluster that reaches the tool by HTTP/2, and leads every path to the tool, by one way or the other.
func overHTTP2(t *testing.T, b envoytest.Bootstrap) {
	text, err := json.Marshal(b.Cluster("tool"))
	if err != nil {
		t.Fatal(err)
	}
	b.AddCluster("%s", strings.NewReplacer(`"name":"tool"`, `"name":"tool-h2"`, `"cluster_name":"tool"`, `"cluster_name":"tool-h2"`,
		`"http_protocol_options":{}`, `"http2_protocol_options":{}`).Replace(string(text)))
	for _, listener := range []string{"idem", "idem-execute"} {
		b.AddRoutes(listener, `[{"match": {"prefix": "/tools/h2/"}, "route": {"cluster": "tool-h2", "timeout": "60s"}},
			{"match": {"prefix": "/"}, "route": {"cluster": "tool", "timeout": "60s"}}]`)
	}
}

// clients of other protocols than the usual caller's. Each call has a connection of its own.
func http2Client() *http.Client {
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true, Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: transport, CheckRedirect: stay}
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func tlsClient(config *tls.Config) *http.Client {
	return &http.Client{CheckRedirect: stay, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: config, ForceAttemptHTTP2: true}}
}

// webReply is a reply with what only some tests look at.
type webReply struct {
	envoytest.Reply
	Protocol string
	Trailer  http.Header
	Early    []int // the 1xx before it
}

// send sends a request of the test's own making.
func send(t *testing.T, client *http.Client, r *http.Request) webReply {
	t.Helper()
	reply := webReply{}
	r = r.WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
			reply.Early = append(reply.Early, code)
			return nil
		},
	}))
	began := time.Now()
	response, err := client.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	reply.Reply = envoytest.Reply{Status: response.StatusCode, Header: response.Header, Body: body, Took: time.Since(began), Err: err}
	reply.Protocol, reply.Trailer = response.Proto, response.Trailer
	return reply
}

// post is a request with a JSON body, of a caller of its own choice.
func (w *web) post(t *testing.T, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, w.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("content-type", "application/json")
	return r
}

// dial opens a connection to write HTTP/1.1 on by hand.
func (w *web) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", w.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return conn.(*net.TCPConn)
}

// idle waits until no request is under way.
func (w *web) idle(t *testing.T) {
	t.Helper()
	envoytest.Until(t, 0, "no request to be under way", func() bool {
		return w.Stat(t, "http.idem.downstream_rq_active") == 0 && w.Stat(t, "cluster.idem-execute.upstream_rq_active") == 0
	})
}
