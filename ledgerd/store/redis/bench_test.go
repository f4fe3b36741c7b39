package redis

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
	"idem/ledgerd/store/redis/redistest"
)

// The benchmarks write what the ledger writes: records of 600 bytes that are due in 15 s, then, with a result of 400
// bytes, in a day. The server has appendfsync always, so every write is synced when it is counted. An operation (ns/op)
// is one Swap; writes/call says how many of them shared a script call.
//
//	go test -bench . -run '^$' ./ledgerd/store/redis
//
// IDEM_BENCH_ROWS=1000000 fills the store with so many records first.

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
			open := make([]store.Record, clients)
			measure(b, s, clients, func(c client) (err error) {
				if open[c].Key == "" {
					open[c] = store.Record{Key: newKey()}
					open[c].Version, err = create(s, open[c].Key)
					return err
				}
				r := open[c]
				open[c] = store.Record{}
				return commit(s, r)
			})
		})
	}
}

// BenchmarkLoad reads records, by 256 clients.
func BenchmarkLoad(b *testing.B) {
	s := benchStore(b)
	keys := fill(b, s, 10_000)
	var next atomic.Int64
	measure(b, s, 256, func(client) error {
		_, err := s.Load(context.Background(), keys[int(next.Add(1))%len(keys)])
		return err
	})
}

// BenchmarkResult reads results, by 256 clients.
func BenchmarkResult(b *testing.B) {
	s := benchStore(b)
	keys := fill(b, s, 10_000)
	each(len(keys), func(i int) {
		r, err := s.Load(context.Background(), keys[i])
		must(b, err, commit(s, r))
	})
	var next atomic.Int64
	measure(b, s, 256, func(client) error {
		_, err := s.Result(context.Background(), attempt(keys[int(next.Add(1))%len(keys)]))
		return err
	})
}

// BenchmarkScan finds the 100 oldest entries that are due among many.
func BenchmarkScan(b *testing.B) {
	s := benchStore(b)
	fill(b, s, 10_000)
	for b.Loop() {
		if list, err := s.Scan(context.Background(), store.Due, time.Now().Add(time.Hour), nil, 100); err != nil || len(list) != 100 {
			b.Fatal(len(list), err)
		}
	}
}

type client int

// measure lets so many clients work without a pause until b.N operations are done.
func measure(b *testing.B, s *Store, clients int, do func(client) error) {
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
				if err := do(client(c)); err != nil {
					b.Error(err)
					return
				}
				took[c] = append(took[c], time.Since(t))
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "ops/s")
	sorted := slices.Concat(took...)
	slices.Sort(sorted)
	b.ReportMetric(float64(sorted[len(sorted)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(sorted[len(sorted)*99/100].Microseconds()), "p99-µs")
	if after := s.Stats(); after.Groups > before.Groups {
		b.ReportMetric(float64(after.Writes-before.Writes)/float64(after.Groups-before.Groups), "writes/call")
	}
}

func benchStore(b *testing.B) *Store {
	server := redistest.Start(b)
	s := mustOpen(b, server.URL(), Options{})
	b.Cleanup(func() { must(b, s.Close()) })
	if v := os.Getenv("IDEM_BENCH_ROWS"); v != "" {
		rows, err := strconv.Atoi(v)
		must(b, err)
		fill(b, s, rows)
	}
	return s
}

// fill creates records and gives their keys.
func fill(b *testing.B, s *Store, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = newKey()
	}
	each(n, func(i int) { must(b, reserve(s, keys[i])) })
	return keys
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
	record = make([]byte, 600)
	reply  = make([]byte, 400)
)

func reserve(s *Store, key string) error {
	_, err := create(s, key)
	return err
}

func create(s *Store, key string) (uint64, error) {
	now := time.Now()
	return s.Swap(context.Background(), store.Write{
		Key: key, Data: record, Now: now, Entries: []store.Entry{{Index: store.Due, At: now.Add(15 * time.Second)}},
	})
}

func commit(s *Store, r store.Record) error {
	now := time.Now()
	_, err := s.Swap(context.Background(), store.Write{
		Key: r.Key, Expect: r.Version, Data: record, Now: now,
		Entries: []store.Entry{{Index: store.Due, At: now.Add(24 * time.Hour)}},
		Put:     []store.Result{{Attempt: attempt(r.Key), Data: reply}},
	})
	return err
}

// attempt is the attempt whose result belongs to a record here.
func attempt(key string) string { return key[:32] }

func newKey() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

func must(b testing.TB, errs ...error) {
	b.Helper()
	if err := errors.Join(errs...); err != nil {
		b.Error(err)
	}
}
