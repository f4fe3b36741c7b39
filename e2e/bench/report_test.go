package main

import (
	"bytes"
	"flag"
	"strings"
	"testing"
	"time"
)

// Coalescing is measured last, and its failure ends the program: minutes of measuring must not go with it.
func TestWhatWasMeasuredIsPrintedBeforeCoalescingCanFail(t *testing.T) {
	var out bytes.Buffer
	rows := []*row{
		{name: "bare Envoy", connections: 1, rounds: []figures{{perSecond: 2000, p50: time.Millisecond}}},
		{name: "ext_authz", connections: 1, rounds: []figures{{perSecond: 1000, p50: time.Millisecond}}},
	}
	var before string
	publish(&out, settings{rounds: 1, seconds: 1}, func() []*row { return rows }, func() herd {
		before = out.String()
		return herd{callers: 7, executions: 1}
	})
	if !strings.Contains(before, "| bare Envoy | 1 | 2000 | 1.00 | 2.00 |") || !strings.Contains(before, "| ext_authz | 1 | 1000 | 0.50 |") {
		t.Errorf("when coalescing began this was printed: %q", before)
	}
	if !strings.Contains(out.String(), "7 callers of one running call: 1 execution") {
		t.Errorf("at the end: %s", out.String())
	}
}

func TestTheHelpSaysHowMakePassesArguments(t *testing.T) {
	var out bytes.Buffer
	flag.CommandLine.SetOutput(&out)
	defer flag.CommandLine.SetOutput(nil)
	usage()
	if !strings.Contains(out.String(), "make bench BENCH_ARGS=") {
		t.Errorf("help: %s", out.String())
	}
}

func TestCPUTimeIsReadWhateverAProcessIsCalled(t *testing.T) {
	got, err := computed("42 (wrk: a) b) S 1 1 1 0 -1 4194560 900 0 2 0 150 25 7 3 20 0 4 0 81 4096 1 18446744073709551615")
	if want := 1750 * time.Millisecond; err != nil || got != want {
		t.Errorf("got %v, %v; want %v: 150 ticks of its own and 25 in the kernel", got, err, want)
	}
}
