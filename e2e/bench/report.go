package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
)

// reportRows prints the table. The first row is bare Envoy, the second ext_authz, at each number of connections.
func reportRows(w io.Writer, s settings, rows []*row) {
	fmt.Fprintf(w, "\n%d-byte bodies, one Envoy worker, %d cores shared by Envoy, ledgerd, tool and callers; medians of %d rounds of %gs; %s/%s.\n\n",
		bodySize, runtime.NumCPU(), s.rounds, s.seconds, runtime.GOOS, runtime.GOARCH)
	fmt.Fprintln(w, "| | connections | calls/s | × bare | × ext_authz | p50 ms | p99 ms | added p50 ms | Envoy CPU µs | ledgerd CPU µs | Envoy MiB |")
	fmt.Fprintln(w, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, r := range rows {
		bare, authz := peer(rows, r.connections, 0), peer(rows, r.connections, 1)
		fmt.Fprintf(w, "| %s | %d | %.0f | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f | %.0f | %.0f |\n",
			r.name, r.connections, median(r.rounds, perSecond), ratio(r, bare), ratio(r, authz),
			median(r.rounds, p50), median(r.rounds, p99), median(r.rounds, p50)-median(bare.rounds, p50),
			median(r.rounds, envoyCPU), median(r.rounds, ledgerdCPU), r.memory)
	}
}

// reportHerd prints what many callers of one call saw, and ends the report.
func reportHerd(w io.Writer, h herd, took time.Duration) {
	fmt.Fprintf(w, "\n%d callers of one running call: %d execution; after its end the median caller has the result within %.1f ms, the last within %.1f ms. The whole run took %s.\n",
		h.callers, h.executions, ms(h.medianAfter), ms(h.answeredIn), took.Round(time.Second))
}

func perSecond(f figures) float64 { return f.perSecond }
func p50(f figures) float64       { return ms(f.p50) }
func p99(f figures) float64       { return ms(f.p99) }

func envoyCPU(f figures) float64   { return f.envoyCPU }
func ledgerdCPU(f figures) float64 { return f.ledgerdCPU }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// peer is the n-th row with that many connections.
func peer(rows []*row, connections, n int) *row {
	for _, r := range rows {
		if r.connections == connections {
			if n == 0 {
				return r
			}
			n--
		}
	}
	return nil
}

// ratio is the median over the rounds of a row's speed as a multiple of another's.
func ratio(r, of *row) float64 {
	ratios := make([]float64, len(r.rounds))
	for i := range r.rounds {
		ratios[i] = r.rounds[i].perSecond / of.rounds[i].perSecond
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

func median(rounds []figures, of func(figures) float64) float64 {
	values := make([]float64, len(rounds))
	for i, f := range rounds {
		values[i] = of(f)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
