// Command bench measures what Idem costs: calls through a bare Envoy, through Envoy with ext_authz (the native filter
// that also asks another server once per call, body included), and through Idem, for calls that are new and for calls
// that are replayed. It prints one Markdown table.
//
// All rows are measured in one run on one machine, in turns: each round measures every row once, the table has each
// row's median, and ratios are between rows of the same round. Every Envoy has one worker. The tool answers at once
// from this process, ledgerd stores in SQLite and answers only when that is durable. A reply that is not what the row
// says (another status or outcome) ends the run: a wrong answer has no speed.
//
// The table also says what a call costs Envoy and ledgerd in CPU time. On a machine that others use too, the ratios of
// that are worth more than those of throughput.
//
// The run is bounded: rounds × rows × seconds, and at most -calls calls a row and round.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"idem/e2e/envoytest"
)

// settings are the flags.
type settings struct {
	rounds      int
	seconds     float64
	calls       int
	connections int
	callers     int
	dir         string
}

func main() {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 3, "how often each row is measured; the table has the medians")
	flag.Float64Var(&s.seconds, "seconds", 3, "how long each measurement takes")
	flag.IntVar(&s.calls, "calls", 200_000, "at most this many calls a measurement")
	flag.IntVar(&s.connections, "connections", 32, "connections that call at once")
	flag.IntVar(&s.callers, "callers", 1000, "callers that coalesce on one call")
	flag.StringVar(&s.dir, "dir", os.TempDir(), "where ledgerd keeps its data: a folder on a real disk, for a figure that means something")
	flag.Usage = usage
	flag.Parse()
	if s.rounds < 1 || s.seconds <= 0 || s.calls < 1 || s.connections < 1 || s.callers < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "bench: want positive numbers and no further arguments")
		flag.Usage()
		os.Exit(2)
	}
	r := envoytest.NewProgram("bench", s.dir)
	defer r.End()
	publish(os.Stdout, s, func() []*row { return measure(r, s) }, func() herd { return coalesce(r, s.callers) })
}

func usage() {
	fmt.Fprint(flag.CommandLine.Output(), `Measures what Idem costs and prints one table. From the repository's root, through make:

  make bench BENCH_ARGS='-rounds 1 -seconds 1'

`)
	flag.PrintDefaults()
}

// publish prints each part once it is measured: what fails later takes nothing back, for it ends the program.
func publish(w io.Writer, s settings, measure func() []*row, coalesce func() herd) {
	began := time.Now()
	reportRows(w, s, measure())
	reportHerd(w, coalesce(), time.Since(began))
}
