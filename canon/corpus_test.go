package canon_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"idem/canon"
)

// story is one line of testdata/cases/corpus.jsonl; its README tells what the fields mean.
type story struct {
	ID, Why    string
	Protocol   canon.Protocol
	Tool       string
	Executions int
	Expect     []*struct{ Outcome, Code string }
	Steps      []struct {
		AtMS       int `json:"at_ms"`
		Run        *string
		Body       string
		BodyB64    []byte `json:"body_b64"`
		Type       string `json:"content_type"`
		Headers    map[string]string
		Behaviour  string `json:"tool_behaviour"`
		Fault      string
		Admin      string
		TargetStep int `json:"target_step"`
	}
}

func stories(t testing.TB) (all []story) {
	file, err := os.Open("testdata/cases/corpus.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s story
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if len(all) != 140 {
		t.Fatalf("%d stories, want all 140", len(all))
	}
	return all
}

// call gives the call that a step makes.
func (s story) call(n int) canon.Call {
	step := s.Steps[n]
	headers := map[string]string{"content-type": step.Type, "authorization": "Bearer the-one-caller"}
	for name := range step.Headers {
		switch strings.ToLower(name) {
		case "authorization", "x-api-key", "cookie":
			delete(headers, "authorization")
		}
	}
	for name, text := range step.Headers {
		headers[strings.ToLower(name)] = text
	}
	if step.Run != nil {
		headers["x-idem-run"] = *step.Run
	}
	body := step.BodyB64
	if body == nil {
		body = []byte(step.Body)
	}
	return canon.Call{Method: "POST", Host: "tools.example", Path: "/cases/" + s.Tool, Body: body, Header: header(headers)}
}

// header serves headers from a map; "" is a header that is not there.
func header(headers map[string]string) func(string) []string {
	return func(name string) []string {
		if text := headers[name]; text != "" {
			return []string{text}
		}
		return nil
	}
}

func TestEveryStoryOfTheCorpusEndsAsItSays(t *testing.T) {
	for _, s := range stories(t) {
		t.Run(s.ID, func(t *testing.T) {
			reader, err := canon.New(canon.Settings{Rule: "cases", Protocol: s.Protocol}, canon.Key{Secret: []byte("secret")})
			if err != nil {
				t.Fatal(err)
			}
			var l ledger
			rows := make([]*row, len(s.Steps))
			for n, step := range s.Steps {
				l.settle(step.AtMS)
				if step.Admin != "" {
					l.answer(rows[step.TargetStep], step.Admin)
					continue
				}
				var got string
				if step.Fault == "ledger_down" {
					got = "unavailable"
				} else if action, err := reader.Read(s.call(n)); err != nil {
					got = "refused"
				} else {
					got, rows[n] = l.arrive(action, step.AtMS, step.Behaviour)
				}
				want := s.Expect[n].Outcome
				if s.Expect[n].Code != "" {
					want = s.Expect[n].Code
				}
				if got != want {
					t.Errorf("step %d: %s, want %s\n%s\n%s", n, got, want, s.Why, step.Body)
				}
			}
			if l.reached != s.Executions {
				t.Errorf("the tool was reached %d times, want %d", l.reached, s.Executions)
			}
		})
	}
}
