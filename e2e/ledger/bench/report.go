package main

import (
	"fmt"
	"io"
	"runtime"
	"time"
)

// reportSpeed prints the first table.
func reportSpeed(w io.Writer, s settings, rows []speed) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\nOne ledgerd, HTTP batches over %d links, %d cores shared by ledgerd, its store and the callers, %gs each; %s/%s. A new call is two durable operations, a replay is one.\n\n",
		s.links, runtime.NumCPU(), s.seconds, runtime.GOOS, runtime.GOARCH)
	fmt.Fprintln(w, "| store | callers | new calls/s | durable operations/s | p50 ms | p99 ms | writes per sync | replays/s | p50 ms | p99 ms |")
	fmt.Fprintln(w, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, r := range rows {
		shared := "–"
		if r.perGroup > 0 {
			shared = fmt.Sprintf("%.1f", r.perGroup)
		}
		fmt.Fprintf(w, "| %s | %d | %.0f | %.0f | %.2f | %.2f | %s | %.0f | %.2f | %.2f |\n",
			r.kind, r.callers, r.unique.callsPerSecond(), r.unique.opsPerSecond(), ms(r.unique.p50), ms(r.unique.p99), shared,
			r.replays.opsPerSecond(), ms(r.replays.p50), ms(r.replays.p99))
	}
}

// reportGrowth prints the second table.
func reportGrowth(w io.Writer, s settings, rows []growth) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\nHow cost grows with the calls that are kept, %d callers; replays of calls drawn from all of them.\n\n", growthCallers)
	fmt.Fprintln(w, "| store | kept calls | new: operations/s | µs per operation | p99 ms | replays/s | µs per replay | p99 ms | on disk MiB | bytes per call | ledgerd MiB |")
	fmt.Fprintln(w, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %d | %.0f | %.0f | %.2f | %.0f | %.0f | %.2f | %.0f | %.0f | %.0f |\n",
			r.kind, r.rows, r.unique.opsPerSecond(), 1e6/r.unique.opsPerSecond(), ms(r.unique.p99),
			r.replays.opsPerSecond(), 1e6/r.replays.opsPerSecond(), ms(r.replays.p99),
			float64(r.disk)/(1<<20), float64(r.disk)/float64(r.rows), float64(r.memory)/(1<<20))
	}
}

// reportSweeps prints the third table.
func reportSweeps(w io.Writer, s settings, rows []sweep) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\nNew calls of %d callers before, while and after %d calls are swept whose retention is over. ×: meanwhile, of what it is after.\n\n", sweepCallers, s.expired)
	fmt.Fprintln(w, "| store | swept/s | operations/s: before | meanwhile | after | p50 ms: before | meanwhile | after | × | p99 ms: before | meanwhile | after | × |")
	fmt.Fprintln(w, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f | %.0f | %.2f | %.2f | %.2f | %.1f | %.2f | %.2f | %.2f | %.1f |\n", r.kind, r.perSecond,
			r.before.opsPerSecond(), r.meanwhile.opsPerSecond(), r.after.opsPerSecond(),
			ms(r.before.p50), ms(r.meanwhile.p50), ms(r.after.p50), ms(r.meanwhile.p50)/ms(r.after.p50),
			ms(r.before.p99), ms(r.meanwhile.p99), ms(r.after.p99), ms(r.meanwhile.p99)/ms(r.after.p99))
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
