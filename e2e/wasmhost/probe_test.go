package wasmhost_test

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"idem/e2e/wasmhost"
)

// probe is the compiled filter under testdata/probe, which does one thing per path and logs every callback.
var probe *wasmhost.Module

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "probe")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	wasm, err := wasmhost.Build(ctx, dir, "./testdata/probe")
	if err == nil {
		probe, err = wasmhost.Compile(ctx, wasm)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer probe.Close(ctx)
	return m.Run()
}

// start starts the probe; what it logged while it started is forgotten.
func start(t *testing.T, o wasmhost.Options) (*wasmhost.Host, *transcript) {
	t.Helper()
	h, err := probe.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	tr := &transcript{t: t, h: h}
	tr.next()
	return h, tr
}

// transcript is what the probe logs in the workers' VMs, piece by piece.
type transcript struct {
	t    *testing.T
	h    *wasmhost.Host
	seen int
}

// next gives what was logged since it was called last.
func (tr *transcript) next() []string {
	var lines []string
	logs := tr.h.Logs(wasmhost.Trace)
	for _, l := range logs[tr.seen:] {
		if l.VM < 0 {
			continue
		}
		lines = append(lines, l.Text)
	}
	tr.seen = len(logs)
	return lines
}

// expect wants the next lines to be these, and no more.
func (tr *transcript) expect(want ...string) {
	tr.t.Helper()
	if got := tr.next(); !reflect.DeepEqual(got, want) {
		tr.t.Errorf("the filter logged\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// header gives the headers that a request carries besides the pseudo-headers.
func header(pairs ...string) wasmhost.Headers {
	var h wasmhost.Headers
	for i := 0; i < len(pairs); i += 2 {
		h = append(h, [2]string{pairs[i], pairs[i+1]})
	}
	return h
}
