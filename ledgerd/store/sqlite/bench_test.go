package sqlite

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"idem/ledgerd/store"
)

// The benchmarks write what the ledger writes: records of 600 bytes that are due in 15 s, then, with a result of 400
// bytes, in a day. Every write is durable when it is counted. An operation (ns/op) is one Swap; group/commit says how
// many of them shared a sync.
//
//	go test -bench . -run '^$' ./ledgerd/store/sqlite
//
// IDEM_BENCH_ROWS=5000000 fills the database with so many records first.

// BenchmarkCreate creates records.
func BenchmarkCreate(b *testing.B) {
	for _, clients := range []int{1, 16, 256} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) {
			s := benchStore(b)
			measure(b, s, clients, func(client) error { return reserve(s, newKey()) })
		})
	}
}

// BenchmarkLife takes records through a call: reserved, then committed with a result; each is one operation.
func BenchmarkLife(b *testing.B) {
	for _, clients := range []int{1, 16, 256} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) {
			s := benchStore(b)
			open := make([]string, clients)
			measure(b, s, clients, func(c client) error {
				if open[c] == "" {
					open[c] = newKey()
					return reserve(s, open[c])
				}
				key := open[c]
				open[c] = ""
				r, err := s.Load(context.Background(), key)
				if err != nil {
					return err
				}
				return commit(s, r)
			})
		})
	}
}

// BenchmarkLoad reads records: the ones written last from memory, older ones from the database.
func BenchmarkLoad(b *testing.B) {
	for _, from := range []struct {
		name   string
		recent int64
	}{{"memory", 32 << 20}, {"database", -1}} {
		b.Run("from="+from.name, func(b *testing.B) {
			s := openBench(b, Options{RecentBytes: from.recent})
			keys := make([]string, 10_000)
			for i := range keys {
				keys[i] = newKey()
			}
			each(len(keys), func(i int) { must(b, reserve(s, keys[i])) })
			var next atomic.Int64
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := s.Load(context.Background(), keys[int(next.Add(1))%len(keys)]); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkScan finds the 100 oldest entries that are due among many.
func BenchmarkScan(b *testing.B) {
	s := benchStore(b)
	each(10_000, func(int) { must(b, reserve(s, newKey())) })
	for b.Loop() {
		if list, err := s.Scan(context.Background(), store.Due, time.Now().Add(time.Hour), nil, 100); err != nil || len(list) != 100 {
			b.Fatal(len(list), err)
		}
	}
}

type client int

// measure lets so many clients write without a pause until b.N writes are done.
func measure(b *testing.B, s *Store, clients int, write func(client) error) {
	before := s.Stats()
	var left atomic.Int64
	left.Store(int64(b.N))
	took := make([][]time.Duration, clients)
	var all sync.WaitGroup
	b.ResetTimer()
	begin := time.Now()
	for c := range clients {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				t := time.Now()
				if err := write(client(c)); err != nil {
					b.Error(err)
					return
				}
				took[c] = append(took[c], time.Since(t))
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "swaps/s")
	sorted := slices.Concat(took...)
	slices.Sort(sorted)
	b.ReportMetric(float64(sorted[len(sorted)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(sorted[len(sorted)*99/100].Microseconds()), "p99-µs")
	after := s.Stats()
	b.ReportMetric(float64(after.Writes-before.Writes)/float64(after.Commits-before.Commits), "group/commit")
}

func benchStore(b *testing.B) *Store {
	s := openBench(b, Options{})
	if v := os.Getenv("IDEM_BENCH_ROWS"); v != "" {
		rows, err := strconv.Atoi(v)
		must(b, err)
		each(rows, func(int) { must(b, reserve(s, newKey())) })
	}
	return s
}

func openBench(b *testing.B, o Options) *Store {
	s, err := Open(b.Context(), b.TempDir(), o)
	must(b, err)
	b.Cleanup(func() { must(b, s.Close()) })
	return s
}

// each calls f with 0 to n-1, by 256 goroutines.
func each(n int, f func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range 256 {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	all.Wait()
}

var (
	content = make([]byte, 600)
	reply   = make([]byte, 400)
)

func reserve(s *Store, key string) error {
	now := time.Now()
	_, err := s.Swap(context.Background(), store.Write{
		Key: key, Data: content, Now: now, Entries: []store.Entry{{Index: store.Due, At: now.Add(15 * time.Second)}},
	})
	return err
}

func commit(s *Store, r store.Record) error {
	now := time.Now()
	_, err := s.Swap(context.Background(), store.Write{
		Key: r.Key, Expect: r.Version, Data: content, Now: now,
		Entries: []store.Entry{{Index: store.Due, At: now.Add(24 * time.Hour)}},
		Put:     []store.Result{{Attempt: r.Key[:32], Data: reply}},
	})
	return err
}

func newKey() string {
	raw := make([]byte, 32)
	if _, err := rand.Read(raw); err != nil {
		panic(err)
	}
	return hex.EncodeToString(raw)
}

func must(b *testing.B, errs ...error) {
	if err := errors.Join(errs...); err != nil {
		b.Error(err)
	}
}
