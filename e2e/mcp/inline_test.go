package mcp_test

import (
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

func TestProgressReachesTheClientWhileAnInlineToolRuns(t *testing.T) {
	eachKind(t, func(t *testing.T, s *stage, k kind) {
		if strings.Contains(k.server, "json") {
			k.server = strings.TrimSuffix(k.server, "-json") // a reply in JSON has no room for progress
		}
		who := customer(t)
		c := k.connect(t, s.through("inline", k.server))
		release := s.bank.holdBack(t, who)
		running := c.begin(call("steps", who))
		s.bank.await(t, who, 1)
		select {
		case done := <-running.progress:
			if done != 1 {
				t.Errorf("the progress is %v, want 1", done)
			}
		case a := <-running.done:
			t.Fatalf("the call ended before the tool did: %s %s", a.Error, a.Result)
		}
		release()
		first := running.wait(t)
		again := c.begin(call("steps", who)).wait(t)
		if first.Error != "" || !strings.HasPrefix(first.text(), "rf-") || again.text() != first.text() {
			t.Errorf("the caller got %s %s, then %s %s", first.Error, first.Result, again.Error, again.Result)
		}
		if n := s.bank.executions(who); n != 1 {
			t.Errorf("%d executions, want 1", n)
		}
	})
}

func TestServerEverythingTellsItsProgressInline(t *testing.T) {
	s := set()
	for _, k := range []kind{kinds[1], kinds[4], kinds[6]} {
		t.Run(k.name, func(t *testing.T) {
			c := k.connect(t, s.through("inline", "everything"))
			long := command{Op: "call", Name: "trigger-long-running-operation", Args: map[string]any{"duration": 1, "steps": 2, "for": customer(t)}}
			running := c.begin(long)
			if a := running.wait(t); a.Error != "" || a.IsError {
				t.Errorf("the caller got %s %s", a.Error, a.Result)
			}
			envoytest.Until(t, 0, "progress", func() bool { return len(running.progress) > 0 })
			if a := c.begin(long).wait(t); a.Error != "" || a.IsError {
				t.Errorf("the retry got %s %s", a.Error, a.Result)
			}
			if n := len(s.front.calls(customer(t))); n != 1 {
				t.Errorf("%d calls reached the server, want 1", n)
			}
		})
	}
}

// A tool that asks back while it runs (revisions before 2026-07-28) needs its stream.
func TestInlineToolAsksItsCallerWhileItRuns(t *testing.T) {
	s := set()
	for _, tc := range []struct {
		kind
		server, tool, part string
	}{
		{kinds[2], "go", "ask", "for Ada"}, {kinds[4], "go", "ask", "for Ada"}, {kinds[6], "go", "ask", "for Ada"}, {kinds[7], "go", "ask", "for Ada"},
		{kinds[6], "everything", "trigger-elicitation-request", "Ada"},
		{kinds[6], "everything", "trigger-sampling-request", "sampled"},
		{kinds[4], "everything", "trigger-sampling-request", "sampled"},
	} {
		t.Run(tc.name+" "+tc.tool, func(t *testing.T) {
			who := customer(t)
			c := tc.connect(t, s.through("inline", tc.server))
			c.begin(command{Op: "tools"}).wait(t)
			ask := call(tc.tool, who)
			if tc.server == "everything" {
				ask.Args["prompt"] = who
			}
			first := c.begin(ask).wait(t)
			if first.Error != "" || first.IsError || !strings.Contains(first.text(), tc.part) {
				t.Fatalf("the caller got %s %s", first.Error, first.Result)
			}
			if again := c.begin(ask).wait(t); again.text() != first.text() {
				t.Errorf("the retry got %s %s, want the stored result", again.Error, again.Result)
			}
			if n := len(s.front.calls(who)); n != 1 {
				t.Errorf("%d calls reached the server, want 1", n)
			}
		})
	}
}

// Since revision 2026-07-28 a tool asks by its result, and the continuation is a call of its own.
func TestResultThatAsksForInputIsPassedOnAndItsContinuationExecutesOnce(t *testing.T) {
	s := set()
	for _, k := range []kind{{"Go", "go-plain", goClient("2026-07-28")}, {"Python", "go-plain", driven(python, "", "2026-07-28")}, kinds[8]} {
		for _, rule := range []string{"once", "inline"} {
			t.Run(k.name+" "+rule, func(t *testing.T) {
				who := customer(t)
				c := k.connect(t, s.through(rule, k.server))
				first := c.begin(call("ask", who)).wait(t)
				if first.Error != "" || !strings.HasSuffix(first.text(), "for Ada") {
					t.Fatalf("the caller got %s %s", first.Error, first.Result)
				}
				if again := c.begin(call("ask", who)).wait(t); again.text() != first.text() {
					t.Errorf("asked and answered again, the caller got %s %s, want the stored result", again.Error, again.Result)
				}
				if n := s.bank.executions(who); n != 1 {
					t.Errorf("%d executions, want 1", n)
				}
				if n := len(s.front.calls(who)); n != 3 {
					t.Errorf("%d calls reached the server, want 3: it asked twice and executed once", n)
				}
			})
		}
	}
}

// A stream that breaks while an inline tool runs: the client takes it up again where it was (Last-Event-ID), and gets
// its result. The execution is in doubt all the same, and is not repeated.
func TestBrokenInlineStreamIsTakenUpAgain(t *testing.T) {
	s := set()
	for _, k := range []kind{kinds[2], kinds[6]} { // the Go and TypeScript clients, on a server that keeps its events
		t.Run(k.name, func(t *testing.T) {
			who := customer(t)
			r := startRelay(t, s.Address)
			url := strings.Replace(s.through("inline", "go"), s.Address, r.address, 1)
			c := k.connect(t, url)
			release := s.bank.holdBack(t, who)
			running := c.begin(call("steps", who))
			s.bank.await(t, who, 1)
			<-running.progress // an event with an id has reached the client
			r.breakAll()
			envoytest.Until(t, 0, "the client to take its stream up again", func() bool {
				return len(s.front.requests(func(r request) bool {
					return r.method == "GET" && r.header.Get("last-event-id") != "" && strings.Contains(r.path, "/inline/go")
				})) > 0
			})
			release()
			if a := running.wait(t); a.Error != "" || !strings.HasPrefix(a.text(), "rf-") {
				t.Errorf("the caller got %s %s", a.Error, a.Result)
			}
			again := k.connect(t, url).begin(call("steps", who)).wait(t)
			if !again.IsError || again.Meta.Problem.Code != "in_doubt" {
				t.Errorf("the retry got %s %s, want in_doubt", again.Error, again.Result)
			}
			if n := s.bank.executions(who); n != 1 {
				t.Errorf("%d executions, want 1", n)
			}
		})
	}
}
