package sqlite

import (
	"bufio"
	"context"
	"errors"
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

// The life of a record in this test: it is created, gets a result, and is removed with it. Its content says how far
// it is.
const (
	created = 1 + iota
	committed
	removed
)

// acknowledged is what a child process was told: the record's stage is durable, at that version.
type acknowledged struct {
	key     string
	stage   int
	version uint64
}

// TestNothingAcknowledgedIsLostInAKill lets a child process write under load and report each acknowledged write on its
// standard output, kills it (SIGKILL) after a random number of them, opens the database and looks at every record that
// it was told of. Cycles share one database. IDEM_CRASH_CYCLES sets their number, IDEM_CRASH_SEED repeats a run.
func TestNothingAcknowledgedIsLostInAKill(t *testing.T) {
	cycles, seed := number(t, "IDEM_CRASH_CYCLES", 8), number(t, "IDEM_CRASH_SEED", time.Now().UnixNano())
	t.Logf("%d cycles, IDEM_CRASH_SEED=%d", cycles, seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	dir := t.TempDir()
	var newest uint64 // the greatest version that any child was given
	for cycle := range cycles {
		acks := killAfter(t, dir, 1+random.IntN(4000), fmt.Sprint(cycle))
		s, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatalf("cycle %d: opening after the kill: %v", cycle, err)
		}
		last := map[string]acknowledged{}
		for _, a := range acks {
			if a.version != 0 && a.version <= newest {
				t.Errorf("cycle %d: version %d was given after %d, over a restart", cycle, a.version, newest)
			}
			last[a.key] = a // a key's lines come in the order of its stages: one goroutine writes them
		}
		for _, a := range acks {
			newest = max(newest, a.version)
		}
		for _, a := range last {
			if err := a.holds(s); err != nil {
				t.Errorf("cycle %d: %v", cycle, err)
			}
		}
		if err := errors.Join(s.Check(t.Context()), indexesAgree(s), s.Close()); err != nil {
			t.Fatalf("cycle %d: after the kill: %v", cycle, err)
		}
		t.Logf("cycle %d: %d writes were acknowledged, to %d records", cycle, len(acks), len(last))
		if t.Failed() {
			return
		}
	}
}

// holds looks whether what was acknowledged is there. The next stage may be there too: its answer was lost.
func (a acknowledged) holds(s *Store) error {
	ctx := context.Background()
	stage := removed
	rec, err := s.Load(ctx, a.key)
	switch {
	case err == nil:
		if stage, err = strconv.Atoi(string(rec.Data)); err != nil {
			return fmt.Errorf("record %.8s has the content %q, which was never written", a.key, rec.Data)
		}
	case !errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("record %.8s: %w", a.key, err)
	}
	switch {
	case stage < a.stage || stage > a.stage+1:
		return fmt.Errorf("record %.8s is at stage %d, acknowledged was %d", a.key, stage, a.stage)
	case stage == a.stage && rec.Version != a.version:
		return fmt.Errorf("record %.8s has version %d, acknowledged was %d", a.key, rec.Version, a.version)
	case stage != a.stage && stage != removed && rec.Version <= a.version:
		return fmt.Errorf("record %.8s went on from version %d to %d", a.key, a.version, rec.Version)
	}
	data, err := s.Result(ctx, a.key[:32])
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("result of %.8s: %w", a.key, err)
	}
	if want := map[int]string{committed: "result of " + a.key}[stage]; string(data) != want {
		return fmt.Errorf("record %.8s is at stage %d and its result is %q, want %q", a.key, stage, data, want)
	}
	return nil
}

// indexesAgree looks whether exactly the records that should be due are due, and every hold leads to its record.
func indexesAgree(s *Store) error {
	ctx := context.Background()
	records, err := s.Newest(ctx, 1<<20)
	if err != nil {
		return err
	}
	due, err := s.Scan(ctx, store.Due, time.UnixMicro(1<<60), nil, 1<<20)
	if err != nil {
		return err
	}
	holds, err := s.Scan(ctx, store.Holds, time.UnixMicro(1<<60), nil, 1<<20)
	if err != nil {
		return err
	}
	stages := map[string]string{}
	open := 0
	for _, r := range records {
		stages[r.Key] = string(r.Data)
		if string(r.Data) == strconv.Itoa(created) {
			open++
		}
	}
	if len(due) != len(records) || len(holds) != open {
		return fmt.Errorf("there are %d records, %d of them due, and %d open ones with %d holds", len(records), len(due), open, len(holds))
	}
	for _, h := range holds {
		if stages[h.Key] != strconv.Itoa(created) {
			return fmt.Errorf("hold %.8s leads to a record at stage %q", h.ID, stages[h.Key])
		}
	}
	return nil
}

// killAfter runs a child on dir until it has acknowledged n writes, kills it, and gives all that it acknowledged.
func killAfter(t *testing.T, dir string, n int, name string) []acknowledged {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "IDEM_CRASH_CHILD="+dir, "IDEM_CRASH_NAME="+name)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatalf("starting the child: %v", err)
	}
	var acks []acknowledged
	killed := false
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var a acknowledged
		if _, err := fmt.Sscanf(lines.Text(), "%64s %d %d.", &a.key, &a.stage, &a.version); err != nil {
			continue // the line that the kill cut off; a full line ends with a point
		}
		acks = append(acks, a)
		if len(acks) >= n && !killed {
			killed = true
			if err := child.Process.Kill(); err != nil {
				t.Fatalf("killing the child: %v", err)
			}
		}
	}
	if err := child.Wait(); !killed || err == nil || child.ProcessState.Exited() {
		t.Fatalf("the child ended by itself after %d writes: %v", len(acks), err)
	}
	return acks
}

func TestMain(m *testing.M) {
	if dir := os.Getenv("IDEM_CRASH_CHILD"); dir != "" {
		if err := writeUntilKilled(dir, os.Getenv("IDEM_CRASH_NAME")); err != nil {
			fmt.Fprintln(os.Stderr, "crash child:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// writeUntilKilled is the child: 32 goroutines take records through their life and print each acknowledged write.
func writeUntilKilled(dir, name string) error {
	s, err := Open(context.Background(), dir, Options{LogPages: 200}) // a small log: kills meet checkpoints too
	if err != nil {
		return err
	}
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for g := range 32 {
		all.Go(func() {
			for n := 0; failed.Load() == nil; n++ {
				if err := live(s, hexKey(fmt.Sprint(name, "/", g, "/", n)), n%3 == 0); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	all.Wait()
	return *failed.Load()
}

// live takes one record through its life, and to its removal if remove.
func live(s *Store, key string, remove bool) error {
	var version uint64
	for stage := created; stage <= committed || (remove && stage == removed); stage++ {
		w := store.Write{Key: key, Expect: version, Now: time.Now()}
		if stage != removed {
			w.Data = []byte(strconv.Itoa(stage))
			w.Entries = []store.Entry{{Index: store.Due, At: time.UnixMicro(int64(1e15 + 1e6*stage))}}
		}
		switch stage {
		case created:
			w.Entries = append(w.Entries, store.Entry{Index: store.Holds, ID: key, At: time.UnixMicro(1e15)})
		case committed:
			w.Put = []store.Result{{Attempt: key[:32], Data: []byte("result of " + key)}}
		case removed:
			w.Drop = []string{key[:32]}
		}
		var err error
		if version, err = s.Swap(context.Background(), w); err != nil {
			return err
		}
		// One write of one line: a pipe takes it whole or not at all.
		if _, err := fmt.Fprintf(os.Stdout, "%s %d %d.\n", key, stage, version); err != nil {
			return err
		}
	}
	return nil
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
