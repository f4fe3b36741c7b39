package mcp_test

import (
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// gets gives the requests for the rest of a stream that reached a server behind a rule.
func (s *stage) gets(rule, server string) []request {
	return s.front.requests(func(r request) bool {
		return r.method == "GET" && r.header.Get("last-event-id") != "" && r.path == "/mcp/"+rule+"/"+server
	})
}

// A server that ends the stream before the response and expects to be polled (2025-11-25): Idem polls it, for the call is
// detached, and clients of every SDK get what they would have got, also those that could not have polled themselves.
func TestServerThatWantsToBePolledIsPolled(t *testing.T) {
	s := set()
	for _, server := range []string{"go", "py-resumed", "ts-resumed"} {
		for _, k := range []kind{kinds[2], kinds[4], kinds[6], kinds[7]} { // those that speak 2025-11-25
			for _, when := range []string{"before it is asked", "while it is asked"} {
				t.Run(server+" "+k.name+" "+when, func(t *testing.T) {
					who := customer(t)
					c := k.connect(t, s.through("once", server))
					before := len(s.gets("once", server))
					release := s.bank.holdBack(t, who)
					running := c.begin(call("poll", who))
					s.bank.await(t, who, 1)
					if when == "while it is asked" {
						envoytest.Until(t, 0, "the server to be asked for the rest", func() bool {
							asked := s.gets("once", server)
							// The Python SDK's server loses what comes before it has begun to answer.
							return len(asked) > before && (server != "py-resumed" || asked[before].answering)
						})
					}
					release()
					first := running.wait(t)
					if first.Error != "" || !strings.HasPrefix(first.text(), "rf-") {
						t.Fatalf("the caller got %s %s", first.Error, first.Result)
					}
					envoytest.Until(t, 0, "the progress that came before", func() bool { return len(running.progress) > 0 })
					if again := c.begin(call("poll", who)).wait(t); again.text() != first.text() {
						t.Errorf("the retry got %s %s, want the stored result", again.Error, again.Result)
					}
					calls, asked := s.front.calls(who), s.gets("once", server)[before:]
					if n := s.bank.executions(who); n != 1 || len(calls) != 1 || len(asked) == 0 {
						t.Fatalf("%d executions, %d calls, %d times asked for the rest; want 1, 1 and at least 1", n, len(calls), len(asked))
					}
					for _, name := range []string{"mcp-session-id", "mcp-protocol-version"} {
						if got, want := asked[0].header.Get(name), calls[0].header.Get(name); got != want || want == "" {
							t.Errorf("the rest was asked for with %s %q, the call was made with %q", name, got, want)
						}
					}
				})
			}
		}
	}
}

// What a server may do with a stream, and what it should not.
func TestBrokenStreamIsResumedOrInDoubt(t *testing.T) {
	s := set()
	for _, tc := range []struct {
		tool     string
		outcome  string
		gets     int
		progress int
	}{
		{"ends", "executed", 1, 1},
		{"breaks", "executed", 1, 1}, // the connection, in the middle of an event
		{"often", "executed", 4, 4},
		{"busy", "executed", 3, 1},
		{"open", "executed", 0, 0},
		{"deaf", "in_doubt", 1, 0},
		{"nameless", "in_doubt", 0, 0},
	} {
		t.Run(tc.tool, func(t *testing.T) {
			who := customer(t)
			before := len(s.gets("once", "odd"))
			body := `{"jsonrpc":"2.0","id":"me","method":"tools/call","params":{"name":"` + tc.tool + `","arguments":{"customer":"` + who + `"}}}`
			r := raw(t, s, "once", "odd", body, map[string]string{"authorization": "Bearer " + who, "mcp-session-id": "s-1"})
			if r.Outcome() != tc.outcome {
				t.Fatalf("the caller got %s", r)
			}
			if tc.outcome == "executed" && (!strings.Contains(string(r.Body), `"id":"me"`) || !strings.Contains(string(r.Body), "rf-")) {
				t.Errorf("the caller got %s", r)
			}
			if n := strings.Count(string(r.Body), "notifications/progress"); n != tc.progress {
				t.Errorf("the reply tells of progress %d times, want %d: %s", n, tc.progress, r)
			}
			asked := s.gets("once", "odd")[before:]
			if len(asked) != tc.gets {
				t.Errorf("the rest was asked for %d times, want %d", len(asked), tc.gets)
			}
			for _, a := range asked {
				if a.header.Get("authorization") != "Bearer "+who || a.header.Get("mcp-session-id") != "s-1" || a.header.Get("x-idem-watch") != "" || len(a.body) != 0 {
					t.Errorf("the rest was asked for with %v %s", a.header, a.body)
				}
			}
			calls := s.front.calls(who)
			if len(calls) != 1 || s.bank.executions(who) != 1 {
				t.Errorf("%d calls, %d executions, want 1", len(calls), s.bank.executions(who))
			} else if calls[0].header.Get("x-idem-watch") != "" {
				t.Error("the tool sees a header that is for the proxy")
			}
		})
	}
}

// Revision 2025-03-26 lets a server answer with an array, or send one as an event's data.
func TestResponseIsFoundInAnArray(t *testing.T) {
	s := set()
	for tool, outcome := range map[string]string{"array": "executed", "array_event": "executed", "two_in_array": "in_doubt", "half_array": "in_doubt"} {
		t.Run(tool, func(t *testing.T) {
			who := customer(t)
			body := `{"jsonrpc":"2.0","id":"me","method":"tools/call","params":{"name":"` + tool + `","arguments":{"customer":"` + who + `"}}}`
			r := raw(t, s, "once", "odd", body, nil)
			text := string(r.Body)
			if r.Outcome() != outcome || !strings.Contains(text, `"id":"me"`) || (outcome == "executed") != strings.Contains(text, "rf-") {
				t.Errorf("the caller got %s", r)
			}
			if tool == "array_event" && (!strings.HasPrefix(text, `data: [{"jsonrpc":"2.0","method":"notifications/progress"`) || !strings.Contains(text, `,{"jsonrpc":"2.0","id":"another","result":{}},`)) {
				t.Errorf("what else was in the array is not where it was: %s", r)
			}
			if again := raw(t, s, "once", "odd", strings.Replace(body, "me", "again", 1), nil); outcome == "executed" && (again.Outcome() != "replay" || !strings.HasPrefix(string(again.Body), `{"jsonrpc":"2.0","id":"again","result":{`)) {
				t.Errorf("the retry got %s", again)
			}
			if n := s.bank.executions(who); n != 1 {
				t.Errorf("%d executions, want 1", n)
			}
		})
	}
}

// What servers write that is not as JSON-RPC has it, or that is a gateway's word and not the tool's, is never taken for a
// failure after which the tool may be called again.
func TestResponseThatIsOddIsNoReasonToExecuteAgain(t *testing.T) {
	s := set()
	for tool, outcome := range map[string]string{"error_null": "executed", "half_a_pair": "executed", "both_ends": "in_doubt", "gateway": "in_doubt"} {
		t.Run(tool, func(t *testing.T) {
			who := customer(t)
			body := `{"jsonrpc":"2.0","id":"me","method":"tools/call","params":{"name":"` + tool + `","arguments":{"customer":"` + who + `"}}}`
			r := raw(t, s, "once", "odd", body, nil)
			if r.Outcome() != outcome || !strings.Contains(string(r.Body), `"id":"me"`) || (outcome == "executed") != strings.Contains(string(r.Body), "rf-") {
				t.Errorf("the caller got %s", r)
			}
			want := outcome
			if outcome == "executed" {
				want = "replay"
			}
			again := raw(t, s, "once", "odd", strings.Replace(body, "me", "again", 1), nil)
			if again.Outcome() != want || (want == "replay") != strings.Contains(string(again.Body), "rf-") {
				t.Errorf("the retry got %s", again)
			}
			if n := s.bank.executions(who); n != 1 {
				t.Errorf("%d executions, want 1", n)
			}
		})
	}
}
