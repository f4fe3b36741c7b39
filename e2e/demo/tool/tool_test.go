package tool_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"idem/e2e/demo/tool"
)

// ask sends a request and reads the reply's JSON.
func ask(t *testing.T, s *tool.Tool, method, path, body string) (int, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	if text := w.Body.String(); !strings.HasSuffix(text, "}\n") || strings.Count(text, "\n") != 1 {
		t.Errorf("%s %s: %q is not one line with its end", method, path, text)
	}
	var reply map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, w.Body)
	}
	return w.Code, reply
}

func TestEachRefundIsCountedAndHasAnIDOfItsOwn(t *testing.T) {
	s := tool.New(tool.Refund(0))
	body := `{"tool":"refund","runId":"a","args":{"customer":"ada@example.com","amount":12.50}}`
	_, one := ask(t, s, "POST", "/api/invoke", body)
	_, two := ask(t, s, "POST", "/tools/refund", `{"customer":"ada@example.com","amount":12.50}`)
	if one["refund_id"] == "" || one["refund_id"] == two["refund_id"] {
		t.Errorf("refunds %v and %v", one["refund_id"], two["refund_id"])
	}
	sum, done := s.Executions()
	if sum.Total != 2 || sum.ByTool["refund"] != 2 || len(done) != 2 || done[0].Run != "a" || done[1].Customer != "ada@example.com" {
		t.Errorf("%+v, %+v", sum, done)
	}
	if _, reply := ask(t, s, "GET", "/executions", ""); reply["total"] != 2.0 {
		t.Errorf("executions %v", reply)
	}
	ask(t, s, "POST", "/executions/reset", "")
	if sum, _ := s.Executions(); sum.Total != 0 || len(sum.ByTool) != 0 {
		t.Errorf("after reset: %+v", sum)
	}
}

func TestARefundTakesItsTime(t *testing.T) {
	start := time.Now()
	ask(t, tool.New(tool.Refund(20*time.Millisecond)), "POST", "/tools/refund", "{}")
	if took := time.Since(start); took < 20*time.Millisecond {
		t.Errorf("it took %v", took)
	}
}

func TestToolsAnswerAsTheyAreSaidTo(t *testing.T) {
	s := tool.New(tool.Refund(0))
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/tools/fail", `{}`, 500}, {"/tools/echo", `{"x":1}`, 200}, {"/tools/echo", ``, 200}, {"/tools/slow", `{"seconds":0}`, 200},
		{"/tools/none", `{}`, 404}, {"/api/invoke", `{}`, 400}, {"/api/invoke", `[`, 400}, {"/tools/echo", `[1]`, 400},
	} {
		if status, reply := ask(t, s, "POST", c.path, c.body); status != c.status {
			t.Errorf("%s %s: %d %v, want %d", c.path, c.body, status, reply, c.status)
		}
	}
	if sum, _ := s.Executions(); sum.Total != 4 {
		t.Errorf("%d executions, want 4: a call that no tool took is none", sum.Total)
	}
}

func TestScenariosAreWhatTheConsolePlays(t *testing.T) {
	_, reply := ask(t, tool.New(), "GET", "/api/invoke", "")
	text, err := json.Marshal(reply["scenarios"])
	if err != nil {
		t.Fatal(err)
	}
	var scenarios []struct {
		Title, About, Expect string
		Phases               []struct {
			Say      string
			Release  bool
			Requests []struct{ As, Body string }
		}
	}
	if err := json.Unmarshal(text, &scenarios); err != nil || len(scenarios) != 5 {
		t.Fatalf("%d scenarios, %v", len(scenarios), err)
	}
	for _, s := range scenarios {
		if s.Title == "" || s.About == "" || s.Expect == "" || len(s.Phases) == 0 {
			t.Errorf("scenario %+v is not whole", s)
		}
		for _, p := range s.Phases {
			for _, r := range p.Requests {
				if !json.Valid([]byte(r.Body)) || !strings.Contains(r.Body, "{fresh}") || r.As == "" {
					t.Errorf("%s: request %+v", s.Title, r)
				}
			}
		}
	}
}
