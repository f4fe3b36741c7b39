package wasmhost_test

import (
	"strings"
	"testing"
	"time"

	"idem/e2e/wasmhost"
)

func TestATrapFailsItsStreamAndTheVMUntilItIsLoadedAnew(t *testing.T) {
	h, tr := start(t, wasmhost.Options{Clusters: []string{"upstream"}, VMs: 2})
	vm := h.VM(0)
	waiting := vm.Request(wasmhost.Request{Path: "/park-call"})
	call := h.Calls()[0]
	s := vm.Request(wasmhost.Request{Path: "/panic"})
	got := strings.Join(tr.next(), "\n")
	if !strings.Contains(got, "on purpose") || !strings.Contains(got, "Function: proxy_on_request_headers failed") {
		t.Errorf("the log says\n%s", got)
	}
	if r := s.LocalReply(); r == nil || r.Status != 503 || r.Details != "wasm_fail_stream" {
		t.Errorf("the caller got %+v", r)
	}
	if !vm.Failed() || h.VM(1).Failed() {
		t.Error("not just the VM that trapped has failed")
	}
	if !call.Cancelled() {
		t.Error("somebody waits for the call of the VM that trapped")
	}
	call.Respond(200, nil, nil)
	if waiting.Reply() != nil {
		t.Error("the parked caller was answered by a VM that trapped")
	}
	if r := vm.Request(wasmhost.Request{Path: "/pass"}).LocalReply(); r == nil || r.Status != 503 {
		t.Errorf("before it is loaded anew the next caller got %+v", r)
	}
	h.Advance(time.Second)
	if s := vm.Request(wasmhost.Request{Path: "/pass"}); s.Upstream() == nil {
		t.Errorf("after it is loaded anew the caller got %+v", s.Reply())
	}
	if vm.Failed() || vm.Reloads() != 1 {
		t.Errorf("failed %v, reloads %d", vm.Failed(), vm.Reloads())
	}
	waiting.Disconnect()
}

func TestATrapWithoutReloadStaysClosed(t *testing.T) {
	h, _ := start(t, wasmhost.Options{FailClosed: true})
	h.VM(0).Request(wasmhost.Request{Path: "/panic"})
	h.Advance(time.Hour)
	if r := h.VM(0).Request(wasmhost.Request{Path: "/pass"}).LocalReply(); r == nil || r.Status != 503 {
		t.Errorf("the caller got %+v", r)
	}
}

func TestATrapAfterAReplyIsA503AllTheSame(t *testing.T) {
	h, _ := start(t, wasmhost.Options{})
	s := h.VM(0).Request(wasmhost.Request{Path: "/reply-panic"})
	if r := s.LocalReply(); r == nil || r.Status != 503 || s.Extra() != 1 {
		t.Errorf("the caller got %+v, extra %d", r, s.Extra())
	}
}
