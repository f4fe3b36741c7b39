package e2e_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"idem/e2e/envoytest"
	"idem/e2e/wasmhost"
	"idem/ledgerd/wire"
)

// A call that cannot be read is refused with the place where reading ended; neither ledger nor tool hears of it.
func TestWasmUnreadableCallsAreRefusedWithTheirPlace(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		for name, c := range map[string]struct {
			body    string
			offset  int64
			pointer string
		}{
			"duplicate key":         {`{"tool":"refund","args":{"amount":1,"amount":2}}`, 36, "/args/amount"},
			"duplicate key, escape": {`{"tool":"refund","args":{"a":1,"\u0061":2}}`, 31, "/args/a"},
			"bad UTF-8":             {"{\"tool\":\"refund\",\"args\":{\"a\":\"\xff\"}}", 30, "/args/a"},
			"a lone surrogate":      {`{"tool":"refund","args":{"a":"\ud800"}}`, -1, "/args/a"},
			"a byte order mark":     {"\xef\xbb\xbf{}", 0, ""},
			"trailing bytes":        {`{"tool":"refund"} x`, 18, ""},
			"depth 10,000":          {strings.Repeat(`[`, 10000) + strings.Repeat(`]`, 10000), -1, "*"},
			"empty":                 {"", 0, ""},
			"cut short":             {`{"tool":"refund"`, 16, ""},
		} {
			r := w.call(envoytest.Call{Body: c.body})
			p := expectProblem(t, name, r, http.StatusBadRequest, "malformed_body")
			if p.Outcome != "refused" || p.Retryable || p.Offset == nil {
				t.Errorf("%s: %s", name, r.Body)
				continue
			}
			if c.offset >= 0 && *p.Offset != c.offset {
				t.Errorf("%s: offset %d, want %d: %s", name, *p.Offset, c.offset, p.Detail)
			}
			if c.pointer != "*" && p.Pointer != c.pointer {
				t.Errorf("%s: pointer %q, want %q: %s", name, p.Pointer, c.pointer, p.Detail)
			}
		}
		for name, call := range map[string]envoytest.Call{
			"text/plain": {Type: "text/plain", Body: refundA},
			"no type":    {Type: "-", Body: refundA},
			"gzip":       {Body: refundA, Header: map[string]string{"content-encoding": "gzip"}},
			"form":       {Type: "application/x-www-form-urlencoded", Body: "tool=refund"},
		} {
			expectProblem(t, name, w.call(call), http.StatusUnsupportedMediaType, "unsupported_media_type")
		}
		signed := envoytest.Call{Body: refundA, Header: map[string]string{"authorization": "AWS4-HMAC-SHA256 Credential=a"}}
		expectProblem(t, "a signature", w.call(signed), http.StatusBadRequest, "unstable_scope")
		w.count(0)
		if n := w.ledger.Counters()["arrivals"]; n != 0 {
			t.Errorf("the ledger heard of %d calls that cannot be read", n)
		}
		if n := w.Counter("idem.calls.refused"); n != 14 {
			t.Errorf("idem.calls.refused is %d, want 14: an operator must see what is refused", n)
		}
	})
}

// Many servers read names without heed of letter case and take arrays in arrays apart: they would execute these.
func TestWasmAToolsCallThatOnlyLenientServersSeeDoesNotPass(t *testing.T) {
	rules := plugin(`{"match":{"path":"/mcp","tools":["refund*"]},"protocol":"mcp"}`)
	inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
		for _, body := range []string{
			`{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"refund","arguments":{}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call","params":{"name":"refund","arguments":{}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","Params":{"name":"refund"},"params":{"name":"list"}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","Name":"refund"}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund","ARGUMENTS":{"amount":1}}}`,
			`[[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund","arguments":{}}}]]`,
			`[{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"refund","arguments":{}}}]`,
		} {
			r := w.call(envoytest.Call{Path: "/mcp", Body: body})
			if r.Status != http.StatusBadRequest || !strings.Contains(string(r.Body), `"jsonrpc":"2.0","id":null,"error"`) {
				t.Errorf("%s: %d %s", body, r.Status, r.Body)
			}
		}
		w.count(0)
	})
}

// The refusal of a body that is too large is Idem's as soon as it is known, however the body comes.
func TestWasmBodyOverTheLimitIsRefusedByIdem(t *testing.T) {
	rules := plugin(`{"match":{"path":"/api/invoke"},"max_body_bytes":1000}`)
	inWorld(t, setup{plugin: rules}, func(t *testing.T, w *world) {
		fits, large := noteOf(1000), noteOf(1001)
		expect(t, "a body of max_body_bytes", w.call(envoytest.Call{Body: fits}), http.StatusOK, "executed")
		w.tool.calls = nil

		expectProblem(t, "one byte more", w.call(envoytest.Call{Body: large}), http.StatusRequestEntityTooLarge, "body_too_large")

		r := request(envoytest.Call{Body: large})
		r.Trailers = wasmhost.Headers{{"x-checksum", "1"}}
		expectProblem(t, "with trailers", w.await(w.sendBy(0, r)), http.StatusRequestEntityTooLarge, "body_too_large")

		s := w.VM(0).Open(opening(request(envoytest.Call{Body: large})), false)
		s.Send([]byte(large[:600]), false)
		if !s.Parked() {
			t.Fatal("the body was refused before it was too large")
		}
		s.Send([]byte(large[600:]), false)
		expectProblem(t, "before its end", got(t, s), http.StatusRequestEntityTooLarge, "body_too_large")
		s.Send([]byte("and more"), true)
		w.settle()
		w.count(0)
	})
}

// noteOf is a call whose body has so many bytes.
func noteOf(size int) string {
	head, tail := `{"tool":"note","args":{"text":"`, `"}}`
	return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
}

// opening is the head of a request, as [wasmhost.VM.Open] takes it.
func opening(r wasmhost.Request) wasmhost.Headers {
	h := wasmhost.Headers{{":method", "POST"}, {":path", r.Path}, {":authority", r.Authority}, {":scheme", "http"}}
	return append(h, r.Headers...)
}

// However a request is cut into pieces, and whether it ends with its body, after it, or with trailers, it is one call.
func TestWasmARequestInPiecesIsOneCall(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		whole := w.call(envoytest.Call{Body: refundA})
		expect(t, "in one piece", whole, http.StatusOK, "executed")

		s := w.VM(0).Open(opening(request(envoytest.Call{Body: refundA})), false)
		for i := range len(refundA) {
			s.Send([]byte{refundA[i]}, i == len(refundA)-1)
		}
		w.settle()
		expect(t, "byte by byte", w.await(s), http.StatusOK, "replay")

		r := request(envoytest.Call{Body: refundA})
		r.Trailers = wasmhost.Headers{{"x-checksum", "1"}}
		expect(t, "with trailers", w.await(w.sendBy(0, r)), http.StatusOK, "replay")

		s = w.VM(0).Open(opening(request(envoytest.Call{Body: refundA})), false)
		for i := range len(refundA) {
			s.Send([]byte{refundA[i]}, false)
		}
		s.SendTrailers(wasmhost.Headers{{"x-checksum", "1"}})
		w.settle()
		expect(t, "byte by byte with trailers", w.await(s), http.StatusOK, "replay")
		w.count(1)
	})
}

// A call without a body and a media type has no arguments, and is a call all the same.
func TestWasmARequestWithoutABody(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		call := envoytest.Call{Path: "/tools/reindex", Type: "-"}
		expect(t, "the first", w.call(call), http.StatusOK, "executed")
		expect(t, "the second", w.call(call), http.StatusOK, "replay")
		if got := w.tool.calls[0]; got.Method != http.MethodPost || got.Path != "/tools/reindex" || len(got.Body) != 0 {
			t.Errorf("the tool got %+v", got)
		}
		bare := request(call)
		bare.Trailers = wasmhost.Headers{{"x-checksum", "1"}}
		expect(t, "with trailers alone", w.await(w.sendBy(0, bare)), http.StatusOK, "replay")
		expect(t, "another path", w.call(envoytest.Call{Path: "/tools/vacuum", Type: "-"}), http.StatusOK, "executed")
		w.count(2)
	})
}

// A caller that leaves in the middle of its body has not called.
func TestWasmACallerThatLeavesInItsBodyHasNotCalled(t *testing.T) {
	inWorld(t, setup{}, func(t *testing.T, w *world) {
		s := w.VM(0).Open(opening(request(envoytest.Call{Body: refundA})), false)
		s.Send([]byte(refundA[:20]), false)
		s.Disconnect()
		w.settle()
		if n := len(w.heard.of(wire.OpReserve)); n != 0 {
			t.Errorf("%d calls were reserved", n)
		}
		expect(t, "its retry", w.call(envoytest.Call{Body: refundA}), http.StatusOK, "executed")
	})
}

// A configuration that does not say what it means is refused, and the log says where and what would be right.
func TestWasmBadConfigurationIsRefusedWithThePointer(t *testing.T) {
	module := compiledFilter(t)
	for name, c := range map[string]struct {
		plugin string
		log    []string
	}{
		"nothing":                        {``, []string{"configuration"}},
		"no JSON":                        {`calls: none`, []string{"JSON"}},
		"no calls":                       {`{"ledger":{"cluster":"ledgerd"},"execute":{"cluster":"idem-execute"}}`, []string{"/calls"}},
		"no rule":                        {plugin(), []string{"/calls", "guards nothing"}},
		"a rule that matches everything": {plugin(`{"match":{}}`), []string{"/calls/0/match"}},
		"an unknown setting":             {plugin(`{"match":{"path":"/a"},"retries":3}`), []string{"/calls/0/retries"}},
		"a setting given twice":          {plugin(`{"match":{"path":"/a"},"wait":"1s","wait":"2s"}`), []string{"/calls/0/wait"}},
		"a lease that the ledger's timeout outlasts": {plugin(`{"match":{"path":"/a"},"lease":"4s"}`), []string{"/calls/0/lease", "4s"}},
		"a variable that is not set": {
			`{"ledger":{"cluster":"ledgerd","token_env":"IDEM_TOKEN"},"execute":{"cluster":"x"},"calls":[{"match":{"path":"/a"}}]}`,
			[]string{"/ledger/token_env", "IDEM_TOKEN", "host_env_keys"},
		},
		"several mistakes": {
			plugin(`{"match":{"path":"/a"},"wait":"soon"}`, `{"match":{"path":"/b"},"mode":"on","retention_time":"24h"}`),
			[]string{"/calls/0/wait", "soon", "30s", "/calls/1/mode", "/calls/1/retention_time"},
		},
	} {
		_, err := module.Start(t.Context(), wasmhost.Options{Config: c.plugin, Clusters: []string{"ledgerd"}})
		var refused *wasmhost.StartError
		if !errors.As(err, &refused) {
			t.Errorf("%s: it starts (%v)", name, err)
			continue
		}
		for _, want := range c.log {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the log does not say %s:\n%v", name, want, err)
			}
		}
	}
}
