package wasmhost_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"idem/e2e/wasmhost"
)

func TestTheFilterStartsInACanaryOnTheMainThreadAndInEveryWorker(t *testing.T) {
	h, err := probe.Start(t.Context(), wasmhost.Options{
		Config: `{"a": 1}`, VMConfig: "vm", Env: map[string]string{"PROBE": "from outside"}, VMs: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var got []string
	for _, l := range h.Logs(wasmhost.Info) {
		got = append(got, string(rune('0'+l.VM+2))+" "+l.Text)
	}
	var want []string
	for _, vm := range []string{"0 ", "1 ", "2 ", "3 "} {
		want = append(want, vm+"vm_start 2 vm", vm+`configure 8 {"a": 1} env from outside`)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAFilterThatRefusesItsConfigurationDoesNotStart(t *testing.T) {
	for config, reason := range map[string]string{"refuse": "the filter refused its configuration", "panic": "the filter refused its configuration"} {
		_, err := probe.Start(t.Context(), wasmhost.Options{Config: config})
		var refused *wasmhost.StartError
		if !errors.As(err, &refused) || refused.Reason != reason {
			t.Fatalf("%s: got %v", config, err)
		}
		if config == "refuse" && !strings.Contains(err.Error(), "critical: the configuration is refused") {
			t.Errorf("the error does not tell what the filter logged: %v", err)
		}
		if config == "panic" && !strings.Contains(err.Error(), "error: on purpose") {
			t.Errorf("the error does not tell the panic: %v", err)
		}
	}
}

func TestACallThatTheCanaryMakesReachesNobody(t *testing.T) {
	h, _ := start(t, wasmhost.Options{Config: "dispatch", Clusters: []string{"upstream"}})
	calls := h.Calls()
	if len(calls) != 2 || calls[0].VM != h.Main() || calls[1].VM != h.VM(0) {
		t.Errorf("%d calls wait, want those of the main thread and of the worker", len(calls))
	}
}

func TestWhatIsNoFilterIsNotCompiled(t *testing.T) {
	if _, err := wasmhost.Compile(t.Context(), []byte("nothing")); err == nil {
		t.Error("it is")
	}
	_, err := wasmhost.Compile(t.Context(), []byte{0, 'a', 's', 'm', 1, 0, 0, 0})
	if err == nil || !strings.Contains(err.Error(), "does not export _initialize") {
		t.Errorf("an empty module: %v", err)
	}
}

func TestAPackageThatDoesNotBuildSaysWhy(t *testing.T) {
	_, err := wasmhost.Build(t.Context(), t.TempDir(), "./testdata/none")
	if err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v", err)
	}
}

func TestShutdownWaitsForTheLastStreamAndForTheFilter(t *testing.T) {
	h, tr := start(t, wasmhost.Options{Config: "later dispatch", Clusters: []string{"upstream"}})
	vm := h.VM(0)
	s := vm.Open(wasmhost.Headers{{":path", "/park-tick"}}, true)
	call := h.Calls()[1]
	vm.Shutdown()
	tr.expect("request_headers 1 true")
	s.Disconnect()
	tr.expect("done /park-tick  (error status returned by host: not found)", "plugin_done")
	if call.Cancelled() {
		t.Error("the call is cancelled before the filter agreed to its end")
	}
	call.Reset()
	tr.expect("call_response 0 0 0 0  0 (error status returned by host: not found) (error status returned by host: not found)")
}

func TestShutdownCancelsCallsWithoutACallback(t *testing.T) {
	h, tr := start(t, wasmhost.Options{Config: "dispatch", Clusters: []string{"upstream"}})
	call := h.Calls()[1]
	h.VM(0).Shutdown()
	tr.expect("plugin_done")
	if !call.Cancelled() || len(h.Calls()) != 1 {
		t.Error("the call still waits")
	}
	call.Respond(200, nil, nil) // an upstream that answers nobody
	tr.expect()
}

func TestTheMainThreadsRootTicksToo(t *testing.T) {
	h, _ := start(t, wasmhost.Options{Config: "tick"})
	h.Advance(100 * time.Millisecond)
	var ticks []int
	for _, l := range h.Logs(wasmhost.Info) {
		if strings.HasPrefix(l.Text, "tick") {
			ticks = append(ticks, l.VM)
		}
	}
	if !slices.Equal(ticks, []int{-1, 0}) {
		t.Errorf("the VMs %v ticked, want -1 and 0", ticks)
	}
}
