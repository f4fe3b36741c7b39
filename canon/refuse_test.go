package canon_test

import (
	"errors"
	"strings"
	"testing"

	"idem/canon"
)

// refusal is what reading a call must be refused with.
func refusal(t *testing.T, c *canon.Canonicalizer, call canon.Call) *canon.Error {
	t.Helper()
	a, err := c.Read(call)
	var e *canon.Error
	if !errors.As(err, &e) {
		t.Errorf("%.200q is not refused: %v, %v", call.Body, a.Fingerprint, err)
		return &canon.Error{}
	}
	if a.Fingerprint != "" || a.Intent != "" || a.Args != nil {
		t.Errorf("%.200q is refused and has a fingerprint", call.Body)
	}
	if _, err := c.Explain(call); err == nil || err.Error() != e.Error() {
		t.Errorf("%.200q: Explain says %v, Read %v", call.Body, err, e)
	}
	return e
}

func TestWhatIsNoStrictJSONIsRefusedWithItsPlace(t *testing.T) {
	c := reader(t, canon.Settings{})
	for _, bad := range []struct {
		body    string
		offset  int64
		pointer string
		detail  string
	}{
		{"", 0, "", "empty"},
		{" \r\n\t ", 0, "", "empty"},
		{`{"a":1`, 6, "", "cut short"},
		{`{"a":"x`, 7, "/a", "cut short"},
		{`{"a":tru`, 8, "/a", "cut short"},
		{`{"a":1}}`, 7, "", "after the JSON value"},
		{`{"a":1} {"a":1}`, 8, "", "after the JSON value"},
		{`{"a":1}x`, 7, "", "after the JSON value"},
		{`{"a":1,"a":2}`, 7, "/a", "twice"},
		{`{"a":1,"\u0061":2}`, 7, "/a", "twice"},
		{`{"x":{"q/":1,"q/":1}}`, 13, "/x/q~1", "twice"},
		{`{"request_id":1,"request_id":1,"x":1}`, 16, "/request_id", "twice"},
		{"\xef\xbb\xbf{}", 0, "", "invalid character"},
		{"{\"a\":\"x\xff\"}", 7, "/a", "UTF-8"},
		{"{\"a\":\"\xc0\xaf\"}", 6, "/a", "UTF-8"},
		{"{\"a\":\"\xed\xa0\x80\"}", 6, "/a", "UTF-8"},
		{"{\"a\":\"\xe2\x82\"}", 6, "/a", "UTF-8"},
		{`{"a":"\ud800"}`, 6, "/a", `surrogate`},
		{`{"a":"\udc00\ud800"}`, 6, "/a", `surrogate`},
		{`{"\ud83dx":1}`, 2, "", `surrogate`},
		{"{\"a\":\"x\ny\"}", 7, "/a", "invalid character"},
		{`{"a":"\x41"}`, 6, "/a", "escape"},
		{`{"a":01}`, 6, "", "invalid character"},
		{`{"a":+1}`, 5, "/a", "invalid character"},
		{`{"a":.5}`, 5, "/a", "invalid character"},
		{`{"a":1.}`, 7, "/a", "invalid character"},
		{`{"a":1e}`, 7, "/a", "invalid character"},
		{`{"a":-}`, 6, "/a", "invalid character"},
		{`{"a":0x1F}`, 6, "", "invalid character"},
		{`{"a":1_000}`, 6, "", "invalid character"},
		{`{"a":NaN}`, 5, "/a", "invalid character"},
		{`{"a":Infinity}`, 5, "/a", "invalid character"},
		{`{"a":-Infinity}`, 6, "/a", "invalid character"},
		{`{"a":[1 2]}`, 8, "/a", "invalid character"},
		{`{"a":[1,2,]}`, 9, "/a", "invalid character"},
		{`{"a":1,}`, 6, "", "invalid character"},
		{`{"a":1 /* one */}`, 7, "", "invalid character"},
		{`{'a':1}`, 1, "", "invalid character"},
		{`{a:1}`, 1, "", "invalid character"},
		{`{1:1}`, 1, "", ""},
		{`[}`, 1, "/0", ""},
		{`]`, 0, "", ""},
		{`{"a":1e401}`, 5, "/a", "exponent"},
		{`{"a":[0,-1.5E-401]}`, 8, "/a/1", "exponent"},
		{`{"a":1e99999999999999999999}`, 5, "/a", "exponent"},
		{`{"a":` + strings.Repeat("9", 4097) + `}`, 5, "/a", "4096"},
		{strings.Repeat(`[`, 129) + strings.Repeat(`]`, 129), 128, strings.Repeat("/0", 128), "128 deep"},
		{strings.Repeat(`{"a":`, 10_000), 128 * 5, "", "128 deep"},
		{"[" + strings.Repeat("0,", 1<<18) + "0]", 1<<19 - 1, "", "262144 values"},
		{`{"tool":7,"args":{}}`, 8, "/tool", "the tool's name is the number 7; use a text"},
		{`{"tool":null,"args":{}}`, 8, "/tool", "is null; use a text"},
		{`{"tool":true,"args":{}}`, 8, "/tool", "is true; use a text"},
		{`{"tool":{"name":"refund"},"args":{}}`, 8, "/tool", "is an object; use a text"},
		{`{"tool":["refund"],"args":{}}`, 8, "/tool", "is an array; use a text"},
		{`{"tool":"re\nfund","args":{}}`, 8, "/tool", `"re\nfund" has a control character`},
		{`{"tool":"refund\u0000","args":{}}`, 8, "/tool", "control character"},
		{`{"tool":"\u009brefund","args":{}}`, 8, "/tool", "control character"},
		{`{"args":{},"run_id":"a\r\nb"}`, 20, "/run_id", "control character"},
		{`{"tool":"","args":{}}`, 8, "/tool", "empty"},
		{`{"tool":"` + strings.Repeat("x", 1025) + `","args":{}}`, 8, "/tool", "1024"},
		{`{"args":{},"run_id":{}}`, 20, "/run_id", "run"},
	} {
		e := refusal(t, c, post("", "/x", bad.body))
		pointer := e.Pointer
		if bad.pointer == "" && strings.Contains(bad.detail, "deep") {
			pointer = "" // it is checked in the case before
		}
		if e.Code != "malformed_body" || e.Offset != bad.offset || pointer != bad.pointer || !strings.Contains(e.Detail, bad.detail) {
			t.Errorf("%.60q: %s %q at %q, byte %d; want %q at %q, byte %d", bad.body, e.Code, e.Detail, e.Pointer, e.Offset, bad.detail, bad.pointer, bad.offset)
		}
	}
	for _, good := range []string{
		strings.Repeat(`[`, 128) + strings.Repeat(`]`, 128), `1e400`, `-1E-400`, `"x"`, `null`, strings.Repeat("9", 4096),
		"[" + strings.Repeat("0,", 1<<17) + "0]", `{"":1}`, `{"a":{"a":1}}`, `{"a":"\u0000"}`, `{"a":"\ufffd"}`,
	} {
		if _, err := c.Read(post("", "/x", good)); err != nil {
			t.Errorf("%.60q: %v", good, err)
		}
	}
}

func TestWhatIsNoFormIsRefusedWithItsPlace(t *testing.T) {
	c := reader(t, canon.Settings{Protocol: canon.Form})
	for _, bad := range []struct {
		body    string
		offset  int64
		pointer string
	}{
		{"", 0, ""}, {"  \n", 0, ""}, {"&&", 0, ""}, {"\xef\xbb\xbfa=1", 0, ""}, {"a=1&n/m=%zz", 8, "/n~1m"}, {"a=100%", 5, "/a"},
		{"a=%4", 2, "/a"}, {"a=1&b=%FF", 6, "/b"}, {"a=%C0%AF", 2, "/a"}, {"%=1", 0, ""}, {"a=\xff", 2, "/a"},
	} {
		if e := refusal(t, c, post(canon.Form, "/x", bad.body)); e.Code != "malformed_body" || e.Offset != bad.offset || e.Pointer != bad.pointer {
			t.Errorf("%q: %+v", bad.body, e)
		}
	}
}

func TestANameFromThePathHasTheLimitOfAnyName(t *testing.T) {
	c := reader(t, canon.Settings{})
	if _, err := c.Read(post("", "/orders/"+strings.Repeat("x", canon.MaxName), "{}")); err != nil {
		t.Errorf("a path that ends in %d bytes: %v", canon.MaxName, err)
	}
	const want = "the last segment of the path, the tool's name, has 1025 bytes; use at most 1024"
	if e := refusal(t, c, post("", "/orders/"+strings.Repeat("x", canon.MaxName+1), "{}")); e.Code != "malformed_body" || e.Detail != want {
		t.Errorf("%s %q, want %q", e.Code, e.Detail, want)
	}
}

func TestWhatIsNoToolCallIsRefused(t *testing.T) {
	c := reader(t, canon.Settings{Protocol: canon.MCP})
	for _, bad := range []struct{ body, pointer string }{
		{`[` + mcp("1", `{"name":"f"}`) + `]`, ""}, {`1`, ""}, {`{"method":"tools/list","params":{"name":"f"}}`, "/method"}, {`{"params":{"name":"f"}}`, ""},
		{`{"method":"tools/call"}`, ""}, {mcp("1", `[]`), "/params"}, {mcp("1", `{}`), "/params"}, {mcp("1", `{"name":1}`), "/params/name"},
		{`{"Method":"tools/call","params":{"name":"f"}}`, "/Method"}, {`{"method":"tools/call","METHOD":"ping","params":{"name":"f"}}`, "/METHOD"},
		{`{"method":"tools/call","Params":{"name":"g"},"params":{"name":"f"}}`, "/Params"}, {`{"method":"tools/call","param\u017f":{"name":"f"}}`, "/paramſ"},
		{`{"id":1,"ID":2,"method":"tools/call","params":{"name":"f"}}`, "/ID"}, {`{"JsonRpc":"2.0","method":"tools/call","params":{"name":"f"}}`, "/JsonRpc"},
		{mcp("1", `{"name":"f","Name":"g"}`), "/params/Name"}, {mcp("1", `{"name":"f","Arguments":{}}`), "/params/Arguments"},
		{mcp("1", `{"name":""}`), "/params/name"}, {mcp("1", `{"name":"f","arguments":{"a":1,"a":1}}`), "/params/arguments/a"},
	} {
		if e := refusal(t, c, post("", "/mcp", bad.body)); e.Code != "malformed_body" || e.Pointer != bad.pointer {
			t.Errorf("%s: %+v", bad.body, e)
		}
	}
	if e := refusal(t, c, canon.Call{Method: "POST", Path: "/mcp"}); e.Code != "unsupported_media_type" {
		t.Errorf("%+v", e)
	}
}

func TestOnlyTheRulesMediaTypeIsRead(t *testing.T) {
	for _, m := range []struct {
		protocol            canon.Protocol
		contentType, coding string
		body                string
		refused             bool
		detail              string
	}{
		{contentType: "application/json", body: "{}"},
		{contentType: "Application/JSON ; Charset=\"UTF-8\"; x=y", body: "{}"},
		{contentType: "application/vnd.api+json", body: "{}"},
		{contentType: "application/json", coding: "identity", body: "{}"},
		{contentType: "application/json", coding: "gzip", body: "{}", refused: true, detail: "content-encoding"},
		{contentType: "application/json", coding: "identity, br", body: "{}", refused: true, detail: "content-encoding"},
		{contentType: "application/json; charset=latin1", body: "{}", refused: true, detail: "charset"},
		{contentType: "text/plain", body: "{}", refused: true, detail: `"text/plain"`},
		{contentType: "application/jsonx", body: "{}", refused: true},
		{contentType: "+json", body: "{}", refused: true},
		{contentType: "application/x-www-form-urlencoded", body: "a=1", refused: true},
		{contentType: "", body: "{}", refused: true, detail: "missing"},
		{contentType: "application/json, text/plain", body: "{}", refused: true},
		{protocol: canon.Form, contentType: "application/x-www-form-urlencoded;charset=utf-8", body: "a=1"},
		{protocol: canon.Form, contentType: "application/json", body: "{}", refused: true},
		{protocol: canon.MCP, contentType: "application/json", body: mcp("1", `{"name":"f"}`)},
		{protocol: canon.MCP, contentType: "application/x+json", body: mcp("1", `{"name":"f"}`), refused: true},
	} {
		c := reader(t, canon.Settings{Protocol: m.protocol})
		call := post(m.protocol, "/x", m.body)
		call.Header = header(map[string]string{"content-type": m.contentType, "content-encoding": m.coding})
		if !m.refused {
			read(t, c, call)
		} else if e := refusal(t, c, call); e.Code != "unsupported_media_type" || e.Offset != -1 || !strings.Contains(e.Detail, m.detail) {
			t.Errorf("%+v", e)
		}
	}
}

func TestACallWithoutBodyAndMediaTypeHasNoArgs(t *testing.T) {
	c := reader(t, canon.Settings{})
	call := canon.Call{Method: "DELETE", Host: "h", Path: "/orders/7?b=2&a=1"}
	a := read(t, c, call)
	if a.Args != nil || a.Tool != "7" || a.Intent != a.Fingerprint {
		t.Errorf("%+v", a)
	}
	call.Path = "/orders/8?b=2&a=1"
	if read(t, c, call).Fingerprint == a.Fingerprint {
		t.Error("two orders are one")
	}
	if read(t, c, post("", "/orders/7?b=2&a=1", "{}")).Fingerprint == a.Fingerprint {
		t.Error("no body is an empty object")
	}
	call = post("", "/x", "")
	if e := refusal(t, c, call); e.Code != "malformed_body" {
		t.Errorf("%+v", e)
	}
}

func TestAPointerThatFindsNothingIsRefused(t *testing.T) {
	for _, s := range []canon.Settings{
		{Tool: &canon.Source{Pointer: "/op"}}, {Args: &canon.Source{Pointer: "/in"}}, {Identity: []string{"/a", "/b/c"}},
		{Tool: &canon.Source{Header: "x-tool"}}, {Tool: &canon.Source{Cookie: "tool"}}, {Tool: &canon.Source{Metadata: []string{"a", "b"}}},
		{Tool: &canon.Source{Certificate: "subject"}},
	} {
		if e := refusal(t, reader(t, s), post("", "/x", `{"x":1,"b":[]}`)); e.Code != "malformed_body" {
			t.Errorf("%+v: %+v", s, e)
		}
	}
	if e := refusal(t, reader(t, canon.Settings{Tool: &canon.Source{Pointer: "/op"}}), post("", "/x", `{"op":["f"]}`)); e.Pointer != "/op" || e.Offset != 6 {
		t.Errorf("%+v", e)
	}
}

func TestLongNamesDoNotMakeLongErrors(t *testing.T) {
	name := strings.Repeat("n", 100_000)
	e := refusal(t, reader(t, canon.Settings{}), post("", "/x", `{"a":{"`+name+`":{"b":tru}}}`))
	if e.Pointer != "/a" || len(e.Detail) > 200 {
		t.Errorf("pointer of %d bytes, detail of %d", len(e.Pointer), len(e.Detail))
	}
}
