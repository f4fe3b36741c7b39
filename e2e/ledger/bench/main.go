// Command bench measures the ledger by itself, without Envoy: real ledgerd processes, asked over their data API as
// filters ask them, over each kind of store.
//
// The first table has durable operations and replays per second at several numbers of callers. A call that is new is two
// operations, reserve and commit, each durable before it is answered; a replay is one. Callers wait for their answers.
// As in the filter, the callers of one worker share a link, on which one batch is under way at a time and what arrives
// meanwhile goes with the next: so the batches, and the groups of writes that share one sync, grow with the load.
//
// The second table shows how cost grows with what is kept: time per operation, size on disk and memory of ledgerd at
// growing numbers of committed calls. Replays are of calls drawn from all that are kept.
//
// The third table shows what a sweep costs the calls: new calls before, and while, a great number of kept ones goes whose
// retention is over.
//
// An answer that is not what the row says ends the run: a wrong answer has no speed. Callers, ledgerd and the store's
// server share the machine.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"idem/e2e/envoytest"
)

// settings are the flags.
type settings struct {
	stores  []string
	callers []int
	links   int
	seconds float64
	rows    []int
	grow    []string
	sweep   []string
	expired int
	dir     string
}

func main() {
	s := settings{}
	stores := flag.String("stores", "sqlite,postgres,redis", "the stores to measure, of "+strings.Join(kinds, ", "))
	callers := flag.String("callers", "1,16,256", "numbers of callers at once")
	flag.IntVar(&s.links, "links", 2, "links that the callers share: a filter has one for each worker of its Envoy")
	flag.Float64Var(&s.seconds, "seconds", 3, "how long each measurement takes")
	grow := flag.String("grow", "sqlite", "the stores that are filled; empty: none")
	rows := flag.String("rows", "10000,100000,500000", "numbers of kept calls at which a store that is filled is measured")
	sweep := flag.String("sweep", "sqlite,postgres,redis", "the stores that are measured during a sweep; empty: none")
	flag.IntVar(&s.expired, "expired", 200_000, "how many calls are swept")
	flag.StringVar(&s.dir, "dir", os.TempDir(), "where stores keep their data: a folder on a real disk, for figures that mean something")
	flag.Parse()
	var err error
	if s.stores, err = known(*stores); err == nil {
		s.grow, err = known(*grow)
	}
	if err == nil {
		s.sweep, err = known(*sweep)
	}
	if err == nil {
		s.callers, err = numbers("callers", *callers)
	}
	if err == nil {
		s.rows, err = numbers("rows", *rows)
	}
	if err == nil && (s.links < 1 || s.seconds <= 0 || s.expired < 1 || flag.NArg() > 0 || !slices.IsSorted(s.rows)) {
		err = fmt.Errorf("want positive numbers, growing rows and no further arguments")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		flag.Usage()
		os.Exit(2)
	}
	began := time.Now()
	r := envoytest.NewProgram("bench", s.dir)
	defer r.End()
	speed := measureSpeed(r, s)
	reportSpeed(os.Stdout, s, speed)
	reportGrowth(os.Stdout, s, measureGrowth(r, s))
	reportSweeps(os.Stdout, s, measureSweeps(r, s))
	fmt.Printf("\nThe whole run took %v.\n", time.Since(began).Round(time.Second))
}

// known reads a list of stores.
func known(text string) ([]string, error) {
	var list []string
	for word := range strings.SplitSeq(text, ",") {
		if word == "" {
			continue
		}
		if !slices.Contains(kinds, word) {
			return nil, fmt.Errorf("there is no store %q; there are %s", word, strings.Join(kinds, ", "))
		}
		list = append(list, word)
	}
	return list, nil
}

// numbers reads a list of positive numbers.
func numbers(name, text string) ([]int, error) {
	var list []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-%s: %q is no positive number", name, word)
		}
		list = append(list, n)
	}
	return list, nil
}
