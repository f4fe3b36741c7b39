package ledger

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/memory"
	"idem/ledgerd/wire"
)

func BenchmarkUnique(b *testing.B) {
	b.Run("memory", func(b *testing.B) { unique(b, memory.New(memory.Options{})) })
}

// unique makes batches of 64 unique calls, each of a reserve and a commit, from 8 goroutines a processor.
func unique(b *testing.B, kept store.Store) {
	l, err := New(Options{Store: kept, SoleOwner: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer kept.Close()
	defer l.Close(b.Context())
	const batch = 64
	var n atomic.Int64
	b.SetParallelism(8)
	b.ReportAllocs()
	before := cpuTime(b)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		reserves, commits := make([]wire.Op, batch), make([]wire.Op, batch)
		for pb.Next() {
			first := n.Add(batch)
			for i := range batch {
				id := fmt.Sprint("call-", first+int64(i))
				reserves[i], commits[i] = reserve(id, id, id, "r"), commit(id, id, `{"refund_id":7,"status":"done"}`)
			}
			for _, a := range l.Do(b.Context(), reserves) {
				if a.Kind != wire.AnswerExecute {
					b.Error(show(a))
				}
			}
			for _, a := range l.Do(b.Context(), commits) {
				if a.Kind != wire.AnswerOK {
					b.Error(show(a))
				}
			}
		}
	})
	used := cpuTime(b) - before
	b.ReportMetric(float64(2*batch*b.N)/b.Elapsed().Seconds(), "ops/s")
	b.ReportMetric(float64(used.Microseconds())/float64(2*batch*b.N), "cpu-µs/op")
}

// cpuTime is what this process has used of the processors: it says more than the clock does on a machine that others use.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func BenchmarkReplay(b *testing.B) {
	l, err := New(Options{Store: memory.New(memory.Options{}), SoleOwner: true})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close(b.Context())
	l.Do(b.Context(), []wire.Op{reserve("a", "i", "f", "r")})
	l.Do(b.Context(), []wire.Op{commit("a", "i", `{"refund_id":7}`)})
	op := []wire.Op{reserve("b", "i", "f", "r")}
	b.ReportAllocs()
	for b.Loop() {
		if a := l.Do(b.Context(), op)[0]; a.Kind != wire.AnswerReplay {
			b.Fatal(show(a))
		}
	}
}
