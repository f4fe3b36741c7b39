package ordeal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// callers is how many call at once: enough that every write of the store is shared by several.
const callers = 48

// patience ends a test that hangs.
const patience = 5 * time.Minute

// Processes are killed (SIGKILL) after a random number of answers, again and again over the same data: ledgerd, one of two
// or both, and the server of its store. Whatever was answered holds afterwards, and nothing executes twice.
// IDEM_CRASH_CYCLES sets the number of cycles, IDEM_CRASH_SEED repeats a run as far as the machine does.
func TestNothingAnsweredIsLostWhenProcessesAreKilled(t *testing.T) {
	for _, at := range everywhere {
		t.Run(at.name, func(t *testing.T) {
			cycles, seed := int(envoytest.Setting(t, "IDEM_CRASH_CYCLES", at.cycles)), uint64(envoytest.Setting(t, "IDEM_CRASH_SEED", time.Now().UnixNano()))
			t.Logf("%d cycles, IDEM_CRASH_SEED=%d", cycles, seed)
			ctx, cancel := context.WithTimeout(t.Context(), patience+time.Duration(cycles)*10*time.Second)
			defer cancel()
			crash(ctx, t, at.start(t), cycles, seed)
		})
	}
}

func crash(ctx context.Context, t *testing.T, l ledgers, cycles int, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	s := l.server()
	var all []*callBook
	var down time.Duration
	killed := map[string]int{}
	for cycle := range cycles {
		work := startLoad(ctx, s, fmt.Sprintf("%x-%d", seed&0xffff, cycle), callers, seed+uint64(cycle))
		kill := s.answered.Load() + 1 + random.Int64N(4000)
		envoytest.Until(t, time.Minute, "answers", func() bool { return s.answered.Load() >= kill })
		at := time.Now()
		switch n := random.IntN(4); {
		case l.store == nil || n == 0:
			killed["a ledgerd"]++
			d := l.ledgerds[random.IntN(len(l.ledgerds))]
			d.Kill9(t)
			d.Start(t)
		case n == 1:
			killed["every ledgerd"]++
			for _, d := range l.ledgerds {
				d.Kill9(t)
			}
			for _, d := range l.ledgerds {
				d.Start(t)
			}
		default:
			killed["the store's server"]++
			l.store.kill()
			l.store.restart()
			l.ready(t)
		}
		down += time.Since(at)
		work.finish()
		again(ctx, t, s, work.books, 0)
		if t.Failed() {
			t.Fatalf("cycle %d", cycle)
		}
		all = append(all, work.books...)
	}
	again(ctx, t, s, all, 1)
	executed, failed, committed, held := count(all)
	t.Logf("killed: %v; %d answers about %d calls: %d executions, %d of them failed, %d committed, %d callers held; ready again after %v on average",
		killed, s.answered.Load(), len(all), executed, failed, committed, held, (down / time.Duration(cycles)).Round(time.Millisecond))
	if committed < cycles*20 {
		t.Errorf("only %d commits in %d cycles: the test shows too little", committed, cycles)
	}
}
