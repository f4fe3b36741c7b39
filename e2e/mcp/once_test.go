package mcp_test

import (
	"strings"
	"testing"
)

func TestTwoSessionsThatAskForOneRefundGetOne(t *testing.T) {
	eachKind(t, func(t *testing.T, s *stage, k kind) {
		who := customer(t)
		url := s.through("once", k.server)
		a, b := k.connect(t, url), k.connect(t, url)
		release := s.bank.holdBack(t, who)
		arrived := s.afterArrivals(t, 2)
		first := a.begin(refund(who))
		s.bank.await(t, who, 1)
		second := b.begin(refundAgain(who))
		arrived()
		release()
		id := first.wait(t).refundID(t)
		if got := second.wait(t).refundID(t); got != id {
			t.Errorf("one session got %s, the other %s", id, got)
		}
		if got := b.begin(refund(who)).wait(t).refundID(t); got != id {
			t.Errorf("the retry got %s, want the stored %s", got, id)
		}
		if n := s.bank.executions(who); n != 1 {
			t.Errorf("%d refunds were made, want 1", n)
		}
	})
}

func TestResultIsForEveryRevision(t *testing.T) {
	s := set()
	older, newer := driven(node, "v2", "legacy"), driven(node, "v2", "2026-07-28")
	for _, tc := range []struct {
		name         string
		first, later connects
	}{
		{"later", older, newer}, {"earlier", newer, older}, {"Python later", goClient("2025-06-18"), driven(python, "", "2026-07-28")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			who := customer(t)
			url := s.through("once", "go-plain")
			id := tc.first(t, url).begin(refund(who)).wait(t).refundID(t)
			if got := tc.later(t, url).begin(refund(who)).wait(t).refundID(t); got != id {
				t.Errorf("the first got %s, the other %s", id, got)
			}
			if n := s.bank.executions(who); n != 1 {
				t.Errorf("%d refunds were made, want 1", n)
			}
		})
	}
}

// A client that gives up tells the server so, by notifications/cancelled or by closing the stream. Its retry, and
// whoever waits, still get the one result.
func TestClientThatGivesUpGetsTheResultByItsRetry(t *testing.T) {
	eachKind(t, func(t *testing.T, s *stage, k kind) {
		who := customer(t)
		c := k.connect(t, s.through("once", k.server))
		release := s.bank.holdBack(t, who)
		impatient := refund(who)
		// On a busy machine a client may give up before its call has come to the tool.
		for impatient.Timeout = 1500; s.bank.executions(who) == 0 && impatient.Timeout < 50_000; impatient.Timeout *= 2 {
			if a := c.begin(impatient).wait(t); a.Error == "" {
				t.Fatalf("the client did not give up: %s", a.Result)
			}
		}
		s.bank.await(t, who, 1)
		arrived := s.afterArrivals(t, 1)
		retry := c.begin(refund(who))
		arrived()
		release()
		retry.wait(t).refundID(t)
		if n := s.bank.executions(who); n != 1 {
			t.Errorf("%d refunds were made, want 1", n)
		}
	})
}

func TestFailureIsToldToEveryCallerAndTheNextCallExecutes(t *testing.T) {
	eachKind(t, func(t *testing.T, s *stage, k kind) {
		who := customer(t)
		c := k.connect(t, s.through("once", k.server))
		first, second := c.begin(call("fail", who)).wait(t), c.begin(call("fail", who)).wait(t)
		for _, a := range []answer{first, second} {
			if !a.IsError || !strings.Contains(a.text(), "failed") || a.Meta.Problem.Code != "" {
				t.Errorf("the caller got %s %s, want the tool's own error", a.Error, a.Result)
			}
		}
		if first.text() == second.text() || s.bank.executions(who) != 2 {
			t.Errorf("a failure was kept: %q, then %q", first.text(), second.text())
		}
	})
}

func TestErrorOfTheProtocolIsAFailureToo(t *testing.T) {
	s := set()
	for _, k := range []kind{kinds[2], kinds[6], {"Python", "go-plain", driven(python, "", "legacy")}} {
		server := strings.Replace(k.server, "py", "go", 1)
		t.Run(k.name, func(t *testing.T) {
			who := customer(t)
			c := k.connect(t, s.through("once", server))
			for range 2 {
				if a := c.begin(call("break", who)).wait(t); !strings.Contains(a.Error, "broke") {
					t.Errorf("the caller got %s %s, want the server's error", a.Error, a.Result)
				}
			}
			if n := s.bank.executions(who); n != 2 {
				t.Errorf("%d executions, want 2", n)
			}
		})
	}
}

// The tools of server-everything have output schemas, against which clients hold results.
func TestServerEverythingExecutesOnce(t *testing.T) {
	s := set()
	for _, k := range []kind{kinds[1], kinds[4], kinds[6], kinds[7]} {
		t.Run(k.name, func(t *testing.T) {
			who := customer(t) // the echoed text is what differs between tests
			for range 2 {
				c := k.connect(t, s.through("once", "everything"))
				c.begin(command{Op: "tools"}).wait(t)
				echo := command{Op: "call", Name: "echo", Args: map[string]any{"message": who}}
				if a := c.begin(echo).wait(t); a.text() != "Echo: "+who {
					t.Errorf("the caller got %s %s", a.Error, a.Result)
				}
				weather := command{Op: "call", Name: "get-structured-content", Args: map[string]any{"location": "Chicago"}}
				if a := c.begin(weather).wait(t); a.Error != "" || a.IsError || !strings.Contains(string(a.Result), "temperature") {
					t.Errorf("the caller got %s %s", a.Error, a.Result)
				}
			}
			if n := len(s.front.calls(who)); n != 1 {
				t.Errorf("%d calls reached the server, want 1", n)
			}
		})
	}
	weather := s.front.requests(func(r request) bool { return r.rpc.Params.Name == "get-structured-content" })
	if len(weather) != 1 {
		t.Errorf("%d calls for one weather reached the server, want 1", len(weather))
	}
}

func TestConnectionThatBreaksIsIssuedAgain(t *testing.T) {
	eachKind(t, func(t *testing.T, s *stage, k kind) {
		who := customer(t)
		r := startRelay(t, s.Address)
		url := strings.Replace(s.through("once", k.server), s.Address, r.address, 1)
		c := k.connect(t, url)
		release := s.bank.holdBack(t, who)
		lost := c.begin(refund(who))
		s.bank.await(t, who, 1)
		r.breakAll()
		release()
		// Some SDKs only notice by their own time limit; an agent starts anew.
		id := k.connect(t, url).begin(refund(who)).wait(t).refundID(t)
		select {
		case a := <-lost.done:
			if a.Error == "" && a.StructuredContent.RefundID != id {
				t.Errorf("the call whose connection broke got %s %s, its retry %s", a.Error, a.Result, id)
			}
		default:
		}
		if n := s.bank.executions(who); n != 1 {
			t.Errorf("%d refunds were made, want 1", n)
		}
	})
}

func TestHeldCallTellsTheModelAndItsReleaseExecutes(t *testing.T) {
	s := set()
	for _, k := range kinds {
		if strings.Contains(k.name, "2026") || strings.Contains(k.server, "plain") {
			continue // without sessions there is no run here
		}
		t.Run(k.name, func(t *testing.T) {
			who := customer(t)
			url := s.through("runs", k.server)
			first := k.connect(t, url).begin(refund(who)).wait(t).refundID(t)
			c := k.connect(t, url)
			c.begin(command{Op: "tools"}).wait(t) // from now on the client knows the output schema
			held := c.begin(refund(who)).wait(t)
			if held.Error != "" || !held.IsError || held.Meta.Problem.Code != "held" {
				t.Fatalf("another session's refund got %s %s, want a tool result that is held", held.Error, held.Result)
			}
			hold := held.Meta.Problem.Hold.ID
			if !strings.Contains(held.text(), "Do not retry") || !strings.Contains(held.text(), hold) {
				t.Errorf("the model is told %q", held.text())
			}
			if status, reply := s.ledgerd.Post(t, "/api/holds/"+hold+"/release", struct{}{}); status != 200 {
				t.Fatalf("the release got %d %s", status, reply)
			}
			second := c.begin(refund(who)).wait(t).refundID(t)
			if second == first || s.bank.executions(who) != 2 {
				t.Errorf("after the release: %s, then %s, %d executions", first, second, s.bank.executions(who))
			}
			session := s.front.calls(who)[0].header.Get("mcp-session-id")
			if session == "" {
				t.Error("the session, which is the run here, did not reach the server")
			}
		})
	}
}
