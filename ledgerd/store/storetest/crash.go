package storetest

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"idem/ledgerd/store"
)

// Crash is a driver that is killed under load, and looked at again.
type Crash struct {
	Cycles int // kills, where IDEM_CRASH_CYCLES does not say
	Writes int // a kill comes after so many acknowledged writes at most

	// Kill takes records of that name through their life ([LiveUntil], [LiveInChild]), kills what keeps them (SIGKILL) once
	// so many writes were acknowledged, and brings it back.
	Kill func(t *testing.T, name string, writes int) []*Life
	// Open gives the stores that must have what was acknowledged, each under what it is.
	Open func(t *testing.T) map[string]store.Store
	// Close ends a cycle; it may look at the stores in ways of its own.
	Close func(t *testing.T, stores map[string]store.Store) error
	// Patience is how often a store may be unavailable to who loads from it: once for each connection from before.
	Patience int
}

// RunCrash kills a driver again and again, after random numbers of acknowledged writes, and looks at every record that
// was acknowledged each time. Cycles share one place. IDEM_CRASH_CYCLES sets their number, IDEM_CRASH_SEED repeats a run.
func RunCrash(t *testing.T, c Crash) {
	cycles, seed := number(t, "IDEM_CRASH_CYCLES", int64(c.Cycles)), number(t, "IDEM_CRASH_SEED", time.Now().UnixNano())
	t.Logf("%d cycles, IDEM_CRASH_SEED=%d", cycles, seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	newest := uint64(0) // the greatest version that was given before the last kill
	for cycle := range cycles {
		all := c.Kill(t, fmt.Sprint(cycle), 1+random.IntN(c.Writes))
		stores := c.Open(t)
		greatest, acknowledged := newest, 0
		for _, l := range all {
			if l.least != 0 && l.least <= newest {
				t.Errorf("cycle %d: version %d was given after %d, over a crash", cycle, l.least, newest)
			}
			greatest = max(greatest, l.greatest)
			acknowledged += l.acknowledgements
			for name, s := range stores {
				if err := l.holds(s, c.Patience); err != nil {
					t.Errorf("cycle %d, as %s has it: %v", cycle, name, err)
				}
			}
		}
		newest = greatest
		for name, s := range stores {
			if err := indexesAgree(s); err != nil {
				t.Errorf("cycle %d, as %s has it: %v", cycle, name, err)
			}
		}
		if err := c.Close(t, stores); err != nil {
			t.Errorf("cycle %d: after the kill: %v", cycle, err)
		}
		t.Logf("cycle %d: %d writes were acknowledged, to %d records", cycle, acknowledged, len(all))
		if t.Failed() {
			return
		}
	}
}

func number(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q, want a whole number", name, v)
	}
	return n
}

// What tells a test binary that it is the child of a crash test.
const (
	childPlace = "IDEM_CRASH_CHILD"
	childName  = "IDEM_CRASH_NAME"
)

// LiveInChild runs the test binary again as a child that takes records through their life in a place, kills it once it
// has acknowledged so many writes, and gives what is known of each record. The binary's TestMain calls [CrashChild].
func LiveInChild(t *testing.T, place, name string, writes int) (all []*Life) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childPlace+"="+place, childName+"="+name)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatalf("starting the child: %v", err)
	}
	known := map[string]*Life{}
	acknowledged, killed := 0, false
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var key string
		var stage, next int
		var version uint64
		if _, err := fmt.Sscanf(lines.Text(), "%64s %d %d %d.", &key, &stage, &version, &next); err != nil {
			continue // the line that the kill cut off; a full line ends with a point
		}
		l := known[key]
		if l == nil {
			l = &Life{key: key}
			known[key] = l
			all = append(all, l)
		}
		l.acknowledge(stage, version, next) // a key's lines come in the order of its stages: one goroutine writes them
		if acknowledged++; acknowledged >= writes && !killed {
			killed = true
			if err := child.Process.Kill(); err != nil {
				t.Fatalf("killing the child: %v", err)
			}
		}
	}
	if err := child.Wait(); !killed || err == nil || child.ProcessState.Exited() {
		t.Fatalf("the child ended by itself after %d writes: %v", acknowledged, err)
	}
	return all
}

// CrashChild is for TestMain. In the child of a crash test it opens the store in the child's place and takes records
// through their life until it is killed; elsewhere it does nothing, and says so.
func CrashChild(open func(ctx context.Context, place string) (store.Store, error)) (isChild bool) {
	place := os.Getenv(childPlace)
	if place == "" {
		return false
	}
	err := tellUntilKilled(place, open)
	fmt.Fprintln(os.Stderr, "crash child:", err)
	os.Exit(1)
	return true
}

// tellUntilKilled prints each acknowledged write on the standard output.
func tellUntilKilled(place string, open func(ctx context.Context, place string) (store.Store, error)) error {
	s, err := open(context.Background(), place)
	if err != nil {
		return err
	}
	name := os.Getenv(childName)
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for g := range lives {
		all.Go(func() {
			for n := 0; failed.Load() == nil; n++ {
				key := Key(fmt.Sprint(name, "/", g, "/", n))
				err := live(s, key, n%3 == 0, func(stage int, version uint64, next int) error {
					// One write of one line: a pipe takes it whole or not at all.
					_, err := fmt.Fprintf(os.Stdout, "%s %d %d %d.\n", key, stage, version, next)
					return err
				})
				if err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	all.Wait()
	return *failed.Load()
}
