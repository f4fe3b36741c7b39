package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/api"
	"idem/ledgerd/wire"
)

func TestEveryLineGetsAnAnswerInItsPlace(t *testing.T) {
	f := start(t, nil)
	good := string(wire.AppendOp(nil, new(reserve("a1", "r", "1"))))
	body := good + "not json\n" + `{"op":"reserve","attempt":"a2"}` + "\n" + good
	r := send(t, "POST", f.data.URL+"/v1/ops", body, "content-type", asNDJSON)
	got := answers(t, r.body)
	want := []wire.AnswerKind{wire.AnswerExecute, wire.AnswerError, wire.AnswerError, wire.AnswerExecute}
	if len(got) != len(want) {
		t.Fatalf("%d answers to %d lines:\n%s", len(got), len(want), r.body)
	}
	for i := range want {
		if got[i].Kind != want[i] || got[i].Now == 0 {
			t.Errorf("answer %d is %+v, want %s and the ledger's now", i, got[i], want[i])
		}
	}
	if got[2].Code != wire.CodeInvalid || got[2].Field == "" {
		t.Errorf("a wrong operation is answered %+v, want its member named", got[2])
	}
	if got[3].Attempt != "a1" {
		t.Errorf("the last line's answer is %+v, not that of its own operation", got[3])
	}
}

func TestABatchWithoutAGoodLineStillTellsTheTime(t *testing.T) {
	f := start(t, nil)
	r := send(t, "POST", f.data.URL+"/v1/ops", "{}\n", "content-type", asNDJSON)
	if got := answers(t, r.body); len(got) != 1 || got[0].Kind != wire.AnswerError || got[0].Now != f.clock.read().UnixMilli() {
		t.Fatalf("answers %+v", got)
	}
}

func TestAnEmptyBatchHasNoAnswers(t *testing.T) {
	f := start(t, nil)
	if r := send(t, "POST", f.data.URL+"/v1/ops", "", "content-type", asNDJSON); r.status != 200 || len(r.body) != 0 {
		t.Fatalf("status %d, body %q", r.status, r.body)
	}
}

func TestReplayGivesTheCommittedResult(t *testing.T) {
	f := start(t, nil)
	got := f.ops(reserve("a1", "r", "1"), commit("a1", "1", `{"id":7}`), reserve("a2", "r", "1"))
	if got[1].Kind != wire.AnswerOK || got[2].Kind != wire.AnswerReplay {
		t.Fatalf("answers %+v", got)
	}
	if result := got[2].Result; result.Status != 201 || string(result.Body) != `{"id":7}` || result.Headers[0] != [2]string{"location", "/refunds/1"} {
		t.Fatalf("result %+v", result)
	}
}

// An await blocks its own answer and those after it, but what was asked before it is answered at once.
func TestAnswersBeforeAnAwaitAreSentWithoutIt(t *testing.T) {
	f := start(t, nil)
	f.ops(reserve("a1", "r", "1"))
	await := wire.Op{Kind: wire.OpAwait, Attempt: "a1", Intent: digest("1"), WaitMS: 60_000}
	body := string(wire.AppendOp(wire.AppendOp(nil, new(reserve("b1", "r", "2"))), &await))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.data.URL+"/v1/ops", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("content-type", asNDJSON)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	if !lines.Scan() {
		t.Fatal("no first answer while the await waits")
	}
	if got := answers(t, lines.Bytes())[0]; got.Kind != wire.AnswerExecute || got.Attempt != "b1" {
		t.Fatalf("first answer %+v", got)
	}
	f.ops(commit("a1", "1", "done"))
	if !lines.Scan() {
		t.Fatal("no answer to the await")
	}
	if got := answers(t, lines.Bytes())[0]; got.Kind != wire.AnswerResult || string(got.Result.Body) != "done" {
		t.Fatalf("the await's answer is %+v", got)
	}
}

// deaf is a connection whose other end has gone: nothing can be written.
type deaf struct{ http.ResponseWriter }

func (deaf) Write([]byte) (int, error) { return 0, http.ErrHandlerTimeout }

func TestACommitIsKeptThoughItsSenderHasGone(t *testing.T) {
	f := start(t, nil)
	f.ops(reserve("a1", "r", "1"))
	ctx, gone := context.WithCancel(t.Context())
	body := wire.AppendOp(nil, new(commit("a1", "1", "done")))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "/v1/ops", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("content-type", asNDJSON)
	gone()
	f.api.Data().ServeHTTP(deaf{discard{}}, request)
	if got := f.ops(reserve("a2", "r", "1"))[0]; got.Kind != wire.AnswerReplay {
		t.Fatalf("answer %+v, want the committed result", got)
	}
}

// A stored header is sent to callers again: what could end a header or a message is taken from nobody.
func TestAHeaderThatCouldSplitAReplyIsRefusedAndSpoilsNothing(t *testing.T) {
	f := start(t, nil)
	f.ops(reserve("a1", "r", "1"))
	commit := func(header string) string {
		return `{"op":"commit","attempt":"a1","intent":"` + digest("1") + `","status":200,"headers":[` + header + `]}` + "\n"
	}
	body := commit(`["a\r\nset-cookie","b"]`) + commit(`["transfer-encoding","chunked"]`) + commit(`["a","b\r\nset-cookie: c"]`) + commit(`["x-note","fine"]`)
	got := answers(t, send(t, "POST", f.data.URL+"/v1/ops", body, "content-type", asNDJSON).body)
	for i, field := range []string{"headers[0][0]", "headers[0][0]", "headers[0][1]"} {
		if got[i].Kind != wire.AnswerError || got[i].Code != wire.CodeInvalid || got[i].Field != field {
			t.Errorf("line %d: %+v", i, got[i])
		}
	}
	if got[3].Kind != wire.AnswerOK {
		t.Errorf("the good commit: %+v", got[3])
	}
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

func TestTheDataAPIRefusesFromTheHeaders(t *testing.T) {
	f := start(t, func(c *api.Config) { c.Data = tokens(t, "ada s3cret-t0ken-0001\nn3w-t0ken-0000001", "filter") })
	url := f.data.URL + "/v1/ops"
	for name, c := range map[string]struct {
		headers []string
		method  string
		status  int
		code    string
	}{
		"no token":           {[]string{"content-type", asNDJSON}, "POST", 401, "unauthorized"},
		"wrong token":        {[]string{"content-type", asNDJSON, "authorization", "Bearer s3cret-t0ken-000"}, "POST", 401, "unauthorized"},
		"another scheme":     {[]string{"content-type", asNDJSON, "authorization", "Basic s3cret-t0ken-0001"}, "POST", 401, "unauthorized"},
		"another media type": {[]string{"content-type", asJSON, "authorization", "Bearer s3cret-t0ken-0001"}, "POST", 415, "unsupported_media_type"},
		"a coded body":       {[]string{"content-type", asNDJSON, "content-encoding", "gzip", "authorization", "Bearer s3cret-t0ken-0001"}, "POST", 415, "unsupported_media_type"},
		"a browser":          {[]string{"content-type", asNDJSON, "authorization", "Bearer s3cret-t0ken-0001", "origin", "http://localhost"}, "POST", 403, "cross_origin"},
		"another method":     {[]string{"authorization", "Bearer s3cret-t0ken-0001"}, "PUT", 405, "method_not_allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := send(t, c.method, url, "{}\n", c.headers...)
			if r.status != c.status || r.code(t) != c.code {
				t.Fatalf("%d %s, want %d %s", r.status, r.body, c.status, c.code)
			}
			if c.status == 401 && r.header.Get("WWW-Authenticate") == "" {
				t.Error("401 without WWW-Authenticate")
			}
		})
	}
	for _, token := range []string{"s3cret-t0ken-0001", "n3w-t0ken-0000001"} {
		if r := send(t, "POST", url, "", "content-type", asNDJSON, "authorization", "bearer "+token); r.status != 200 {
			t.Errorf("token %s: %d %s", token, r.status, r.body)
		}
	}
}

func TestABatchOverALimitIsRefusedWhole(t *testing.T) {
	f := start(t, func(c *api.Config) { c.Limits = api.Limits{BatchBytes: 600, BatchOps: 2} })
	first := wire.AppendOp(nil, new(reserve("a1", "r", "1")))
	for name, body := range map[string]string{
		"operations": string(first) + "{}\n{}\n",
		"bytes":      string(first) + strings.Repeat(" ", 600),
	} {
		if r := send(t, "POST", f.data.URL+"/v1/ops", body, "content-type", asNDJSON); r.status != 413 || r.code(t) != "body_too_large" {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	var state struct{ Rows []any }
	f.get("/api/state").into(t, &state)
	if len(state.Rows) != 0 {
		t.Errorf("part of a refused batch was done: %v", state.Rows)
	}
}

func TestBatchesTogetherHaveBoundedRoom(t *testing.T) {
	f := start(t, func(c *api.Config) { c.Limits = api.Limits{BatchBytes: 10_000, UnderWayBytes: 10_000} })
	first := wire.AppendOp(nil, new(reserve("a1", "r", "1")))
	// One of unknown length, whose sender takes its time, has all the room that there is.
	slow, write := io.Pipe()
	done := make(chan int, 1)
	go func() {
		defer close(done)
		response, err := http.Post(f.data.URL+"/v1/ops", asNDJSON, slow)
		if err != nil {
			t.Errorf("the slow batch: %v", err)
			return
		}
		response.Body.Close()
		done <- response.StatusCode
	}()
	if _, err := write.Write(first); err != nil {
		t.Fatal(err)
	}
	second := string(wire.AppendOp(nil, new(reserve("a2", "r", "2"))))
	refused := send(t, "POST", f.data.URL+"/v1/ops", second, "content-type", asNDJSON)
	if refused.status != 429 || refused.code(t) != "overloaded" || refused.header.Get("Retry-After") == "" {
		t.Errorf("without room: %d %s, retry-after %q", refused.status, refused.body, refused.header.Get("Retry-After"))
	}
	write.Close()
	if status := <-done; status != http.StatusOK {
		t.Errorf("the slow batch got %d", status)
	}
	if r := send(t, "POST", f.data.URL+"/v1/ops", second, "content-type", asNDJSON); r.status != 200 || answers(t, r.body)[0].Kind != wire.AnswerExecute {
		t.Errorf("with room again: %d %s", r.status, r.body)
	}
}

func TestAReplyStaysBelowWhatEnvoyTakes(t *testing.T) {
	f := start(t, nil)
	const rows, size = 200, 60_000
	var reserves, commits, replays []wire.Op
	for i := range rows {
		first, result, again := reserve(fmt.Sprint("a", i), "r", "1"), commit(fmt.Sprint("a", i), "1", strings.Repeat("x", size)), reserve(fmt.Sprint("b", i), "r", "1")
		for _, op := range []*wire.Op{&first, &result, &again} {
			op.Intent = fmt.Sprintf("%064x", i)
		}
		first.Fingerprint, again.Fingerprint = first.Intent, first.Intent
		reserves, commits, replays = append(reserves, first), append(commits, result), append(replays, again)
	}
	f.ops(reserves...)
	f.ops(commits...)
	whole := 0
	for i, a := range f.ops(replays...) {
		switch {
		case a.Kind == wire.AnswerReplay && a.Result != nil && len(a.Result.Body) == size:
			whole++
		case a.Kind != wire.AnswerReplay || !a.Fetch || a.Result != nil:
			t.Fatalf("answer %d: %s, fetch %t, %s", i, a.Kind, a.Fetch, a.Detail)
		}
	}
	if whole*size > 8<<20 || whole*size < 7<<20 {
		t.Errorf("%d of %d results were in the reply", whole, rows)
	}
	got := f.ops(wire.Op{Kind: wire.OpFetch, Attempt: "a199", Intent: replays[199].Intent})
	if got[0].Kind != wire.AnswerResult || len(got[0].Result.Body) != size {
		t.Errorf("the fetch: %s", got[0].Kind)
	}
}

func TestTheDataListenerHasNothingOfTheAdminAPI(t *testing.T) {
	f := start(t, nil)
	for _, path := range []string{"/", "/api/state", "/metrics", "/console/main.js"} {
		if r := send(t, "GET", f.data.URL+path, ""); r.status != 404 || r.code(t) != "not_found" {
			t.Errorf("%s: %d", path, r.status)
		}
	}
}
