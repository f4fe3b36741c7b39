package ordeal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// number reads a setting of the test from the environment.
func number(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q, want a whole number", name, text)
	}
	return n
}

// callers is how many call at once: enough that every write of the store is shared by several.
const callers = 48

// patience ends a test that hangs.
const patience = 5 * time.Minute

// ledgerd is killed (SIGKILL) after a random number of answers, again and again on the same data. Whatever was answered
// holds after the restart, and nothing executes twice. IDEM_CRASH_CYCLES sets the number of cycles, IDEM_CRASH_SEED
// repeats a run as far as the machine does.
func TestNothingAnsweredIsLostWhenLedgerdIsKilled(t *testing.T) {
	cycles, seed := number(t, "IDEM_CRASH_CYCLES", 10), uint64(number(t, "IDEM_CRASH_SEED", time.Now().UnixNano()))
	t.Logf("%d cycles, IDEM_CRASH_SEED=%d", cycles, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	l := envoytest.StartLedgerd(t, "")
	s := newServer(l.Address)
	ctx, cancel := context.WithTimeout(t.Context(), patience+time.Duration(cycles)*10*time.Second)
	defer cancel()

	var all []*callBook
	var down time.Duration
	for cycle := range int(cycles) {
		before := s.answered.Load()
		work := startLoad(ctx, s, fmt.Sprintf("%x-%d", seed&0xffff, cycle), callers, seed+uint64(cycle))
		kill := before + 1 + random.Int64N(4000)
		envoytest.Until(t, time.Minute, "answers", func() bool { return s.answered.Load() >= kill })
		l.Kill9(t)
		at := time.Now()
		l.Start(t)
		down += time.Since(at)
		s.restarted()
		work.finish()
		again(ctx, t, s, work.books, 0)
		if t.Failed() {
			t.Fatalf("cycle %d", cycle)
		}
		all = append(all, work.books...)
	}
	again(ctx, t, s, all, 1)
	executed, failed, committed, held := count(all)
	t.Logf("%d answers about %d calls: %d executions, %d of them failed, %d committed, %d callers held; ready again after %v on average",
		s.answered.Load(), len(all), executed, failed, committed, held, (down / time.Duration(cycles)).Round(time.Millisecond))
	if committed < int(cycles)*50 {
		t.Errorf("only %d commits in %d cycles: the test shows too little", committed, cycles)
	}
}
