package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// What becomes of an execution whose worker is lost: nobody knows how it ended, so that it is in doubt when its lease
// ends, and is never repeated. Who waited at another Envoy is told, and who asks there or later too; a person decides.
func TestAWorkerThatIsLostDuringAnExecution(t *testing.T) {
	tool := envoytest.StartTool(t)
	ledgerd := envoytest.StartLedgerd(t, "")
	start := func(more envoytest.Options) *failureStack {
		more.Tool, more.Ledger, more.Plugin = tool.Address, ledgerd.Address, failureRules(`"timeout":"4s"`, "usual", "short")
		edit := more.Edit
		more.Edit = func(b envoytest.Bootstrap) {
			b.AllToTool()
			if edit != nil {
				edit(b)
			}
		}
		envoy := envoytest.Start(t, more)
		return &failureStack{Stack: &envoytest.Stack{Envoy: envoy, Tool: tool, Ledgerd: ledgerd}, rows: &rowFinder{ledgerd: ledgerd}}
	}
	elsewhere := start(envoytest.Options{})

	t.Run("its module traps", func(t *testing.T) {
		here := start(envoytest.Options{Wasm: envoytest.BuildTrapdoor(t), Edit: func(b envoytest.Bootstrap) {
			b.Manager("idem")["stream_idle_timeout"] = "12s"
		}})
		for i, where := range []string{"here", "tick"} {
			t.Run(where, func(t *testing.T) { moduleTraps(t, here, elsewhere, where, int64(i+1)) })
		}
	})
	file := filepath.Join(t.TempDir(), "listeners.json")
	here := start(envoytest.Options{Edit: func(b envoytest.Bootstrap) { listenFrom(t, b, file) }})
	t.Run("its configuration is replaced", func(t *testing.T) { configurationIsReplaced(t, here, elsewhere, file) })
	t.Run("its Envoy is killed", func(t *testing.T) {
		lost := loseWorker(t, here, elsewhere, "killed", func() { here.Kill9(t) })
		for _, r := range lost {
			if r.Err == nil {
				t.Errorf("a caller of the Envoy that was killed got %v", r)
			}
		}
	})
}

// executionsOf are the calls that are under way when their worker is lost: by two protocols, detached and inline.
func executionsOf(name string) []*way {
	return []*way{
		{cell: cell{failure{rules: "short"}, plain, "detached", 0, false}, order: name + "-1"},
		{cell: cell{failure{rules: "short"}, mcp, "detached", 0, false}, order: name + "-2"},
		{cell: cell{failure{rules: "short"}, plain, "inline", 0, false}, order: name + "-3"},
		{cell: cell{failure{rules: "short"}, mcpEvents, "inline", 0, false}, order: name + "-4"},
	}
}

// loseWorker loses a worker while it executes, and checks what everyone elsewhere is told. It gives what the callers
// there got.
func loseWorker(t *testing.T, here, elsewhere *failureStack, name string, lose func()) (lost []envoytest.Reply) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), answerBound)
	defer cancel()
	release := here.Tool.Hold()
	defer release()
	ways := executionsOf(name)
	begin(ctx, t, here, elsewhere, ways)

	lose()
	for _, w := range ways {
		if saw := w.by.hears(t, w.order+": who waited elsewhere", <-w.waiters[1], 3); saw != doubtful {
			t.Errorf("%s: who waited elsewhere was told %+v, want %+v", w.order, saw, doubtful)
		}
		lost = append(lost, <-w.executor, <-w.waiters[0])
	}
	release() // now the tool succeeds, and there is nobody to tell
	for _, w := range ways {
		if saw := w.by.hears(t, w.order+": the retry elsewhere", elsewhere.Try(ctx, w.call(w.by, w.order, 1)), 1); saw != stillDoubt {
			t.Errorf("%s: the retry elsewhere was told %+v, want %+v", w.order, saw, stillDoubt)
		}
		if n := here.Tool.CountBy(cellOf)[w.order]; n != 1 {
			t.Errorf("%s: the tool was reached %d times, want once", w.order, n)
		}
	}
	return lost
}

// begin brings calls to the tool, and for each one waiter here and one elsewhere.
func begin(ctx context.Context, t *testing.T, here, elsewhere *failureStack, ways []*way) {
	t.Helper()
	for _, w := range ways {
		w.executor = here.ask(ctx, w.call(w.by, w.order, 1))
		envoytest.Until(t, 0, "the call to reach the tool", func() bool { return here.Tool.CountBy(cellOf)[w.order] == 1 })
		w.attempt = here.rows.attempt(t, w.order)
		w.waiters = [2]chan envoytest.Reply{here.ask(ctx, w.call(w.by, w.order, 2)), elsewhere.ask(ctx, w.call(w.by, w.order, 3))}
	}
	for _, w := range ways {
		envoytest.Until(t, 0, "two to wait", func() bool { return len(here.Ledgerd.Row(t, w.attempt).Runs) == 3 })
	}
}

// A module that traps takes all that its worker had under way with it. The worker loads it anew; who was parked is
// answered by Envoy when the stream's idle timeout is over.
func moduleTraps(t *testing.T, here, elsewhere *failureStack, where string, times int64) {
	ctx, cancel := context.WithTimeout(t.Context(), answerBound)
	defer cancel()
	lost := loseWorker(t, here, elsewhere, "trap-"+where, func() {
		call := cell{by: plain, execution: "detached"}.call(plain, "trap "+where, 1)
		call.Header["trap"] = where
		r := here.Try(ctx, call)
		if where == "here" && r.Status != http.StatusServiceUnavailable {
			t.Errorf("the call that it trapped in got %v", r)
		}
	})
	for _, r := range lost {
		if r.Err == nil && r.Status < http.StatusInternalServerError && r.Status != http.StatusRequestTimeout {
			t.Errorf("a caller of the worker that trapped got %v", r)
		}
	}
	envoytest.Until(t, 0, "the worker to work again", func() bool {
		r := here.Try(ctx, cell{by: plain, execution: "detached"}.call(plain, "again "+where, 1))
		return r.Err == nil && (r.Outcome() == "executed" || r.Outcome() == "replay")
	})
	again := executionsOf("trap-" + where)[0]
	if saw := plain.hears(t, "the retry here", here.Try(ctx, again.call(plain, again.order, 1)), 1); saw != stillDoubt {
		t.Errorf("the retry here was told %+v, want %+v", saw, stillDoubt)
	}
	if n := here.Stat(t, "wasm.idem.vm_reload_success"); n != times {
		t.Errorf("the module was loaded anew %d times, want %d", n, times)
	}
}

// listenFrom makes Envoy read listener idem from a file, and heed its changes.
func listenFrom(t *testing.T, b envoytest.Bootstrap, file string) {
	t.Helper()
	listener := b.Listener("idem")
	static := b["static_resources"].(map[string]any)
	static["listeners"] = slices.DeleteFunc(static["listeners"].([]any), func(l any) bool { return l.(map[string]any)["name"] == "idem" })
	listener["@type"] = "type.googleapis.com/envoy.config.listener.v3.Listener"
	host, port, _ := strings.Cut(envoytest.FreeAddress(t), ":")
	listener["address"] = map[string]any{"socket_address": map[string]any{"address": host, "port_value": json.RawMessage(port)}}
	text, err := json.Marshal(map[string]any{"resources": []any{listener}})
	if err != nil {
		t.Fatal(err)
	}
	replaceFile(t, file, text)
	b["node"] = map[string]any{"id": "idem", "cluster": "idem"}
	b["dynamic_resources"] = map[string]any{"lds_config": map[string]any{
		"resource_api_version": "V3", "path_config_source": map[string]any{"path": file},
	}}
}

// A configuration that is replaced while calls are under way repeats none of them. What the worker executes goes on
// under the old one and is committed, although Envoy closes the connections of those who asked for it when the old
// listener has drained; what a caller's own stream executes ends with that stream, in doubt.
func configurationIsReplaced(t *testing.T, here, elsewhere *failureStack, file string) {
	ctx, cancel := context.WithTimeout(t.Context(), answerBound)
	defer cancel()
	release := here.Tool.Hold()
	defer release()
	ways := executionsOf("replaced")
	begin(ctx, t, here, elsewhere, ways)

	editListener(t, file, `\"timeout\":\"4s\"`, `\"timeout\":\"4100ms\"`)
	for _, w := range ways {
		for _, r := range []envoytest.Reply{<-w.executor, <-w.waiters[0]} {
			if r.Err == nil || ctx.Err() != nil {
				t.Errorf("%s: a caller under the old configuration got %v (%v)", w.order, r, ctx.Err())
			}
		}
	}
	release()
	for _, w := range ways {
		waiter, next, row := coalesced, replayed, "committed"
		if w.execution == "inline" {
			waiter, next, row = doubtful, stillDoubt, "in_doubt"
		}
		if saw := w.by.hears(t, w.order+": who waited elsewhere", <-w.waiters[1], 3); saw != waiter {
			t.Errorf("%s: who waited elsewhere was told %+v, want %+v", w.order, saw, waiter)
		}
		if saw := w.by.hears(t, w.order+": the retry under the new one", here.Try(ctx, w.call(w.by, w.order, 1)), 1); saw != next {
			t.Errorf("%s: the retry under the new configuration was told %+v, want %+v", w.order, saw, next)
		}
		if state := here.Ledgerd.Row(t, w.attempt).State; state != row {
			t.Errorf("%s: the row is %s, want %s", w.order, state, row)
		}
		if n := here.Tool.CountBy(cellOf)[w.order]; n != 1 {
			t.Errorf("%s: the tool was reached %d times, want once", w.order, n)
		}
	}
}

// editListener changes a text in the file that Envoy reads its listener from.
func editListener(t *testing.T, file, from, to string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), from) {
		t.Fatalf("%v: no %s in %s", err, from, text)
	}
	replaceFile(t, file, []byte(strings.Replace(string(text), from, to, 1)))
}

// replaceFile puts a file in its place at once, as Envoy wants it.
func replaceFile(t *testing.T, file string, text []byte) {
	t.Helper()
	err := os.WriteFile(file+".new", text, 0o600)
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		t.Fatal(err)
	}
}
