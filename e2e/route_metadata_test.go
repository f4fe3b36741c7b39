package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// Routes choose rule and mode by their metadata, in every form that Envoy hands over, and one that says what cannot be
// kept lets nothing through.
func TestRouteMetadata(t *testing.T) {
	const toTool = `"route":{"cluster":"tool"}`
	var routes []string
	for path, metadata := range map[string]string{
		"/v1/": `{"rule":"payments"}`, "/v2/": `{"rule":"payments","mode":"enforce"}`, "/watched/": `{"rule":"payments","mode":"shadow"}`,
		"/tools/open/": `{"mode":"off"}`, "/empty/": `{}`,
		"/wrong/name": `{"rule":"payment"}`, "/wrong/number": `{"rule":7}`, "/wrong/null": `{"rule":null}`, "/wrong/list": `{"rule":["payments"]}`,
		"/wrong/object": `{"rule":{"name":"payments"}}`, "/wrong/mode": `{"rule":"payments","mode":"on"}`, "/wrong/flag": `{"mode":true}`,
		"/wrong/key": `{"rule":"payments","wait":"1s"}`,
	} {
		routes = append(routes, fmt.Sprintf(`{"match":{"prefix":%q},%s,"metadata":{"filter_metadata":{"idem":%s}}}`, path, toTool, metadata))
	}
	s := envoytest.StartStack(t, envoytest.Options{
		Plugin: plugin(`{"name":"payments","match":{"route":true}}`, `{"name":"tools","match":{"path_prefix":"/tools/"}}`),
		Edit: func(b envoytest.Bootstrap) {
			b.AddRoutes("idem", "[%s]", strings.Join(routes, ","))
			b.AddRoutes("idem-execute", `[{"match":{"prefix":"/"},%s}]`, toTool)
		},
	})
	call := func(path, want string) envoytest.Reply {
		t.Helper()
		r := s.Call(t, envoytest.Call{Path: path, Body: refundA})
		if r.Outcome() != want {
			t.Errorf("%s: %v; want outcome %q", path, r, want)
		}
		return r
	}
	call("/v1/pay", "executed")
	call("/v1/pay", "replay")
	call("/v2/pay", "executed")
	call("/v2/pay", "replay")
	expectExecutions(t, s.Tool, 2)
	for _, path := range []string{"/watched/pay", "/tools/open/x", "/empty/x"} {
		call(path, "")
		call(path, "")
	}
	expectExecutions(t, s.Tool, 8)
	call("/tools/open/..;/refund", "executed")
	call("/tools/open/..;/refund", "replay")
	expectExecutions(t, s.Tool, 9)
	envoytest.Until(t, 0, "the watched calls to be counted", func() bool {
		return s.Stat(t, "wasmcustom.idem.shadow.executed")+s.Stat(t, "wasmcustom.idem.shadow.replay")+s.Stat(t, "wasmcustom.idem.shadow.coalesced") == 2
	})
	for wrong, says := range map[string]string{
		"name": `/rule: "payment" is no rule's name`, "number": "/rule: 7 is no rule's name", "null": "has a value that cannot be read",
		"list": "/rule: a value that is no text is no rule's name", "object": "/rule: a value that is no text is no rule's name", "mode": `/mode: "on" is no mode`, "flag": "/mode: true is no mode",
		"key": "/wait: is not a setting of a route",
	} {
		p := expectProblem(t, wrong, call("/wrong/"+wrong, "refused"), http.StatusInternalServerError, "misconfigured")
		if !strings.Contains(p.Detail, says) || !strings.Contains(s.Log(), says) {
			t.Errorf("%s: the caller is told %q, and the log does not say %q either", wrong, p.Detail, says)
		}
	}
	expectExecutions(t, s.Tool, 9)
}
