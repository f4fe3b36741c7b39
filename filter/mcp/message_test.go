package mcp

import "testing"

func TestOnlyAToolsCallIsGuarded(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		call       bool
		id         string
		refused    bool
	}{
		{"tools/call", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, true, "1", false},
		{"a text id", `{"id":"a","method":"tools/call"}`, true, `"a"`, false},
		{"an escaped method", `{"id":1,"method":"tools\/call"}`, true, "1", false},
		{"an escaped member", `{"id":1,"\u006dethod":"tools/call"}`, true, "1", false},
		{"another method", `{"id":1,"method":"tools/list"}`, false, "", false},
		{"a notification", `{"method":"notifications/initialized"}`, false, "", false},
		{"a response", `{"id":1,"result":{}}`, false, "", false},
		{"a method in the params", `{"id":1,"method":"ping","params":{"method":"tools/call"}}`, false, "", false},
		{"a batch without", `[{"id":1,"method":"ping"}]`, false, "", false},
		{"a batch with", `[{"id":1,"method":"ping"},{"id":2,"method":"tools/call"}]`, false, "", true},
		{"without an id", `{"method":"tools/call"}`, false, "", true},
		{"a null id", `{"id":null,"method":"tools/call"}`, false, "", true},
		{"two methods", `{"id":1,"method":"ping","method":"tools/call"}`, false, "", true},
		{"two methods, one escaped", `{"id":1,"method":"ping","\u006dethod":"tools/call"}`, false, "", true},
		{"a duplicate deep inside", `{"id":1,"method":"ping","params":{"a":1,"a":2}}`, false, "", true},
		{"cut", `{"id":1,"method":"tools/call","params":{"na`, false, "", true},
		{"more after it", `{"id":1,"method":"ping"}{"id":2,"method":"tools/call"}`, false, "", true},
		{"a text", `"tools/call"`, false, "", true},
		{"empty", ``, false, "", true},
		{"blank", " \n", false, "", true},
		{"a call in an array in a batch", `[[{"id":1,"method":"tools/call"}]]`, false, "", true},
		{"a call after arrays in a batch", `[[[],[{"id":1,"method":"ping"}]],1,{"id":1,"method":"tools/call"}]`, false, "", true},
		{"arrays in a batch without", `[[{"id":1,"method":"ping"}],[]]`, false, "", false},
		{"Method", `{"id":1,"Method":"tools/call"}`, true, "1", false},
		{"METHOD escaped", `{"id":1,"\u004dETHOD":"tools/call"}`, true, "1", false},
		{"method and Method", `{"id":1,"method":"ping","Method":"tools/call"}`, true, "1", false},
		{"Method and method", `{"id":1,"Method":"tools/call","method":"ping"}`, true, "1", false},
		{"Method in a batch", `[{"id":1,"Method":"tools/call"}]`, false, "", true},
		{"Method of another", `{"id":1,"Method":"ping","Params":{"Name":"x"}}`, false, "", false},
		{"half a surrogate pair", `{"id":1,"result":{"content":{"type":"text","text":"cut \ud83d"}}}`, false, "", false},
		{"half a surrogate pair in a method", `{"id":1,"method":"tools/call\ud83d"}`, false, "", false},
		{"no UTF-8", "{\"id\":1,\"method\":\"ping\",\"x\":\"\xff\"}", false, "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			request, refused := Read([]byte(tc.body), nil, nil)
			if (refused != nil) != tc.refused || (request != nil) != tc.call {
				t.Fatalf("read as %v, refused with %v", request, refused)
			}
			if tc.call && string(request.ID) != tc.id {
				t.Errorf("the id is %s, want %s", request.ID, tc.id)
			}
			if tc.refused && (refused.Code != "malformed_body" || refused.Detail == "" || refused.Offset < 0) {
				t.Errorf("refused with %+v", refused)
			}
		})
	}
}

func TestFormFollowsWhatTheCallerAccepts(t *testing.T) {
	for accept, event := range map[string]bool{
		"": false, "application/json, text/event-stream": false, "text/event-stream": true, "*/*": false,
		"application/json;q=0, text/event-stream": true, "TEXT/EVENT-STREAM": true,
	} {
		request, err := Read([]byte(`{"id":1,"method":"tools/call"}`), []string{accept}, nil)
		if err != nil || request.Event != event {
			t.Errorf("accept %q: event %v (%v), want %v", accept, request.Event, err, event)
		}
	}
}
