package mcp

import (
	"strings"
	"testing"
)

func read(t *testing.T, body, accept, revision string) *Request {
	t.Helper()
	request, err := Read([]byte(body), []string{accept}, []string{revision})
	if err != nil || request == nil {
		t.Fatalf("%s is not read as a tools/call: %v", body, err)
	}
	return request
}

func TestStoredResultIsTypedForWhoWantsToReadIt(t *testing.T) {
	for _, tc := range []struct{ revision, stored, want string }{
		{"2025-11-25", `{"result":{"content":[]}}`, `"result":{"content":[]}}`},
		{"", `{"result":{"content":[]}}`, `"result":{"content":[]}}`},
		{"DRAFT-2026", `{"result":{"content":[]}}`, `"result":{"content":[]}}`},
		{"2026-07-28", `{"result":{"content":[]}}`, `"result":{"resultType":"complete","content":[]}}`},
		{"2027-01-01", `{"result": { }}`, `"result":{"resultType":"complete"}}`},
		{"2026-07-28", `{"result":{"resultType":"task"}}`, `"result":{"resultType":"task"}}`},
		{"2026-07-28", `{"error":{"code":1}}`, `"error":{"code":1}}`},
	} {
		request := read(t, `{"id":1,"method":"tools/call"}`, "", tc.revision)
		if _, body := request.Respond([]byte(tc.stored)); string(body) != `{"jsonrpc":"2.0","id":1,`+tc.want {
			t.Errorf("%s of %s is given as %s", tc.stored, tc.revision, body)
		}
	}
}

func TestReplyComesBackUnderTheCallersID(t *testing.T) {
	request := read(t, `{"method":"tools/call", "id" : "me" ,"params":{"id":"me"}}`, "", "")
	own := request.OwnID("r-1")
	if asked := request.Under(own, []byte(`{"method":"tools/call", "id" : "me" ,"params":{"id":"me"}}`)); string(asked) != `{"method":"tools/call", "id" : "r-1" ,"params":{"id":"me"}}` {
		t.Errorf("the tool is asked %s", asked)
	}
	for _, tc := range []struct{ name, contentType, reply, want string }{
		{"JSON", ContentJSON, `{"result":{"id":"r-1"}, "id": "r-1"}`, `{"result":{"id":"r-1"}, "id": "me"}`},
		{"no response", ContentJSON, `{"id":"r-1","method":"ping"}`, `{"id":"r-1","method":"ping"}`},
		{"another's", ContentJSON, `{"id":"x","result":{}}`, `{"id":"x","result":{}}`},
		{"no JSON", "text/plain", "not found", "not found"},
		{"events", ContentEvents + "; charset=utf-8",
			": hello\r\nid: 1\r\ndata:\r\n\r\nevent: message\r\nid: 2\r\ndata: {\"method\":\"notifications/progress\"}\r\n\r\nevent: message\r\nid: 3\r\ndata: {\"id\":\"r-1\",\"result\":{}}\r\n\r\n",
			": hello\r\nid: 1\r\ndata:\r\n\r\nevent: message\r\nid: 2\r\ndata: {\"method\":\"notifications/progress\"}\r\n\r\nevent: message\r\nid: 3\r\ndata: {\"id\":\"me\",\"result\":{}}\n\n"},
		{"an event on two lines", ContentEvents, "data: {\"id\":\ndata: \"r-1\",\"result\":{}}\n\ndata: cut", "data: {\"id\":\ndata: \"me\",\"result\":{}}\n\ndata: cut"},
	} {
		if got := request.Returned(own, tc.contentType, []byte(tc.reply)); string(got) != tc.want {
			t.Errorf("%s: %q comes back as %q", tc.name, tc.reply, got)
		}
	}
}

// A server that reads numbers as floating point may write our id in its own way.
func TestANumberIsTheSameIDHoweverItIsWritten(t *testing.T) {
	request := read(t, `{"method":"tools/call","id":7}`, "", "")
	own := []byte("4503599627370497")
	for reply, want := range map[string]string{
		`{"id":4.503599627370497E15,"result":{}}`:  `{"id":7,"result":{}}`,
		`{"result":{}, "id" : 4503599627370497.0}`: `{"result":{}, "id" : 7}`,
		`{"id":4503599627370496,"result":{}}`:      `{"id":4503599627370496,"result":{}}`,
		`{"id":"4503599627370497","result":{}}`:    `{"id":"4503599627370497","result":{}}`,
		`{"id":null,"result":{}}`:                  `{"id":null,"result":{}}`,
	} {
		if got := request.Returned(own, ContentJSON, []byte(reply)); string(got) != want {
			t.Errorf("%s comes back as %s", reply, got)
		}
	}
}

func TestOwnIDIsOfTheCallersKindAndExact(t *testing.T) {
	request := read(t, `{"method":"tools/call","id":1}`, "", "")
	seen := map[string]bool{}
	for _, random := range []string{"a", "b", strings.Repeat("0", 32), strings.Repeat("f", 32)} {
		id := string(request.OwnID(random))
		if len(id) != 16 || strings.ContainsAny(id, "eE.\"") || id > "9007199254740991" || seen[id] {
			t.Errorf("the id of %s is %s", random, id)
		}
		seen[id] = true
	}
}

func TestOnlyAResultThatSaysSoAsksForInput(t *testing.T) {
	for result, asks := range map[string]bool{
		`{"resultType":"input_required","requestState":"s"}`: true,
		`{"inputRequests":{"a":{}}}`:                         true,
		`{"resultType":"complete","inputRequests":{}}`:       false,
		`{"resultType":"task","taskId":"t"}`:                 false,
		`{"content":[]}`:                                     false,
	} {
		if f := ReadFinal(ContentJSON, []byte(`{"id":1,"result":`+result+`}`), []byte("1")); !f.Present || f.Asks != asks || f.Failed {
			t.Errorf("%s is read as %+v", result, f)
		}
	}
}

func TestOnlyTheResponseOfAnEventStreamIsKept(t *testing.T) {
	progress := "id: 1\r\ndata: {\"method\":\"notifications/progress\"}\r\n\r\n"
	response := "data: {\"id\":1,\"result\":{}}\n\n"
	for _, tc := range []struct{ name, body, want string }{
		{"progress", progress + progress, ""},
		{"a response between", progress + response + progress, response},
		{"the beginning of an event", progress + "data: {\"id\":1,\n", "data: {\"id\":1,\n"},
		{"a line that goes on", progress + "data: {\"id\"", "data: {\"id\""},
		{"an event that names nothing", "retry: 10\n\n", ""},
	} {
		if got := WithoutEvents([]byte(tc.body)); string(got) != tc.want {
			t.Errorf("%s: kept %q, want %q", tc.name, got, tc.want)
		}
	}
	body := []byte(progress + progress + response)
	var kept []byte
	for i := range body { // whatever the pieces
		kept = WithoutEvents(append(kept, body[i]))
	}
	if string(kept) != response {
		t.Errorf("byte by byte: kept %q, want %q", kept, response)
	}
}

func TestWhoWroteTwoEndsMeantTheOneThatIsNotNull(t *testing.T) {
	for _, tc := range []struct {
		members string
		want    Final // but for its value
		value   string
	}{
		{`"result":{"content":[]},"error":null`, Final{Member: "result", Present: true}, `{"content":[]}`},
		{`"error":null,"result":{"content":[],"isError":true}`, Final{Member: "result", Present: true, Failed: true}, `{"content":[],"isError":true}`},
		{`"result":null,"error":{"code":1}`, Final{Member: "error", Present: true, Failed: true}, `{"code":1}`},
		{`"error":{"code":1},"result":null`, Final{Member: "error", Present: true, Failed: true}, `{"code":1}`},
		{`"result":null`, Final{Member: "result", Present: true}, `null`},
		{`"error":null`, Final{}, ""},
		{`"result":{"content":[]},"error":{"code":1}`, Final{Twofold: true}, ""},
		{`"result":{"content":[]},"result":{"isError":true}`, Final{Twofold: true}, ""},
		{`"error":{"code":1},"error":{"code":1}`, Final{Twofold: true}, ""},
	} {
		message := `{"id":1,` + tc.members + `}`
		for form, body := range map[string]string{ContentJSON: message, ContentEvents: "data: " + message + "\n\n", "": "[" + message + "]"} {
			f := ReadFinal(form, []byte(body), []byte("1"))
			value := string(f.Value)
			if f.Value = nil; f.Member != tc.want.Member || f.Present != tc.want.Present || f.Twofold != tc.want.Twofold || f.Failed != tc.want.Failed || value != tc.value {
				t.Errorf("%s %s is read as %+v with %s", form, body, f, value)
			}
		}
	}
}

func TestReplyIsReadAsClientsReadIt(t *testing.T) {
	request := read(t, `{"method":"tools/call","id":7}`, "", "")
	for name, body := range map[string]string{
		"half a surrogate pair": `{"id":1,"result":{"content":[{"type":"text","text":"cut \ud83d"}]}}`,
		"no UTF-8":              "{\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\xe9\"}]}}",
		"a byte order mark":     "\xef\xbb\xbf" + `{"id":1,"result":{"content":[{"type":"text","text":"x"}]}}`,
	} {
		f := ReadFinal(ContentJSON, []byte(body), []byte("1"))
		if !f.Present || f.Failed {
			t.Errorf("%s: read as %+v", name, f)
			continue
		}
		want := `{"id":7,"result":` + string(f.Value) + "}"
		if got := request.Returned([]byte("1"), ContentJSON, []byte(body)); string(got) != want {
			t.Errorf("%s: comes back as %q, want %q", name, got, want)
		}
	}
}

func TestAnErrorWithoutAnIDIsTheResponseWhereItIsAllThereIs(t *testing.T) {
	const message = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`
	if f := ReadFinal(ContentJSON, []byte(message), []byte("1")); !f.Present || !f.Failed {
		t.Errorf("alone it is read as %+v", f)
	}
	body := "data: " + message + "\n\ndata: {\"id\":1,\"result\":{}}\n\n"
	if f := ReadFinal(ContentEvents, []byte(body), []byte("1")); f.Member != "result" {
		t.Errorf("before the response it is read as %+v", f)
	}
	s := Stream{ID: []byte("1")}
	if s.Write([]byte("data: " + message + "\n\n")); s.Final.Present {
		t.Errorf("in an event stream it is read as %+v", s.Final)
	}
}

func TestGatewaysWordAboutACallThatItLostIsNoFailure(t *testing.T) {
	for failure, lost := range map[string]bool{
		`{"code":-32001,"message":"MCP error -32001: Request timed out","data":{"timeout":1000}}`: true, // TypeScript, version 1
		`{"code":-32603,"message":"Request timed out"}`:                                           true, // version 2
		`{"code":-32001,"message":"MCP error -32001: Maximum total timeout exceeded"}`:            true,
		`{"code":-32000,"message":"MCP error -32000: Connection closed"}`:                         true,
		`{"code":-32000,"message":"Connection closed"}`:                                           true, // Python, version 2
		`{"code":-32001,"message":"Request 'tools/call' timed out"}`:                              true,
		`{"code":408,"message":"Timed out while waiting for response to ClientRequest."}`:         true, // version 1
		`{"message":"Request timed out","code":0,"message":"Request timed out"}`:                  true,
		`{"code":-32001,"message":"Session not found"}`:                                           false,
		`{"code":-32000,"message":"the account is closed"}`:                                       false,
		`{"code":-32602,"message":"MCP error -32602: no such tool"}`:                              false,
		`{"code":-32603,"message":"the request timed out field is missing"}`:                      false,
		`{"code":"408","message":["Request timed out"]}`:                                          false,
		`"Request timed out"`: false,
	} {
		f := ReadFinal(ContentJSON, []byte(`{"id":1,"error":`+failure+`}`), []byte("1"))
		if !f.Present || !f.Failed || f.Lost != lost {
			t.Errorf("%s is read as %+v", failure, f)
		}
	}
}
