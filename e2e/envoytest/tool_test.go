package envoytest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// call asks the tool directly, as Envoy would.
func call(t *testing.T, tool *Tool, behaviour Behaviour) (status int, body string, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+tool.Address+"/tools/refund", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(BehaviourHeader, string(behaviour))
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func TestToolGivesEachSuccessANumberOfItsOwn(t *testing.T) {
	tool := StartTool(t)
	_, first, _ := call(t, tool, OK)
	_, second, _ := call(t, tool, "201")
	if first != `{"refund_id":"rf-1"}` || second != `{"refund_id":"rf-2"}` {
		t.Fatalf("got %s and %s", first, second)
	}
}

func TestToolBehavesAsItIsTold(t *testing.T) {
	tool := StartTool(t)
	for behaviour, want := range map[Behaviour]int{OK: 200, "201": 201, "404": 404, "500": 500, "503": 503} {
		if status, _, err := call(t, tool, behaviour); status != want {
			t.Errorf("%s: got status %d, %v; want %d", behaviour, status, err, want)
		}
	}
	for _, behaviour := range []Behaviour{Reset, Cut} {
		if _, _, err := call(t, tool, behaviour); err == nil {
			t.Errorf("%s: the reply was whole, want a broken connection", behaviour)
		}
	}
	if n := tool.Count(); n != 7 {
		t.Errorf("the tool counted %d calls, want 7", n)
	}
	tool.Refuse()
	if _, _, err := call(t, tool, OK); err == nil {
		t.Error("a tool that refuses took a call")
	}
	tool.Accept(t)
	if status, _, err := call(t, tool, OK); status != 200 {
		t.Errorf("a tool that accepts again: status %d, %v", status, err)
	}
	if n := tool.Count(); n != 8 {
		t.Errorf("the tool counted %d calls, want 8: a refused connection is no call", n)
	}
}

func TestHeldCallsAnswerOnRelease(t *testing.T) {
	tool := StartTool(t)
	release := tool.Hold()
	done := make(chan int)
	go func() {
		status, _, _ := call(t, tool, OK)
		done <- status
	}()
	tool.AwaitCount(t, 1)
	select {
	case status := <-done:
		t.Fatalf("the tool answered %d while it was held", status)
	default:
	}
	release()
	if status := <-done; status != 200 {
		t.Errorf("got status %d", status)
	}
}
