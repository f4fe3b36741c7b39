package mcp

import "testing"

// A person who resolves a tools/call as done writes its result as they saw it: the caller gets a response all the same.
func TestWhatAPersonGaveIsAResponse(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"a text", `refunded, see "T-1"`, `{"result":{"content":[{"type":"text","text":"refunded, see \"T-1\""}]}}`},
		{"nothing", ``, `{"result":{"content":[{"type":"text","text":""}]}}`},
		{"an object", `{"refund_id":"rf-1"}`, `{"result":{"content":[{"type":"text","text":"{\"refund_id\":\"rf-1\"}"}],"structuredContent":{"refund_id":"rf-1"}}}`},
		{"an object with a result", `{"result":"done"}`, `{"result":{"content":[{"type":"text","text":"{\"result\":\"done\"}"}],"structuredContent":{"result":"done"}}}`},
		{"a list", `[1]`, `{"result":{"content":[{"type":"text","text":"[1]"}]}}`},
		{"a tool result", `{"content":[{"type":"text","text":"ok"}]}`, `{"result":{"content":[{"type":"text","text":"ok"}]}}`},
		{"a response", `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`, `{"result":{"content":[]}}`},
		{"a message that is none", `{"jsonrpc":"2.0"}`, `{"result":{"content":[{"type":"text","text":"{\"jsonrpc\":\"2.0\"}"}],"structuredContent":{"jsonrpc":"2.0"}}}`},
		{"cut", `{"content":[`, `{"result":{"content":[{"type":"text","text":"{\"content\":["}]}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(Given([]byte(tc.body)).Stored()); got != tc.want {
				t.Errorf("got %s\nwant %s", got, tc.want)
			}
		})
	}
}
