package postgres

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
	"idem/ledgerd/store/postgres/pgtest"
)

// The benchmarks write what the ledger writes: records of 600 bytes that are due in 15 s, then, with a result of 400
// bytes, in a day. Every write is durable when it is counted. An operation (ns/op) is one Swap; group/commit says how
// many of them shared a transaction. The server runs on the same machine and shares its processors.
//
//	go test -bench . -run '^$' ./ledgerd/store/postgres
//
// IDEM_BENCH_ROWS=5000000 fills the tables with so many records first. IDEM_BENCH_URL measures another server, in a
// schema of its own that it leaves there.

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
			measure(b, s, clients, func(c client) error {
				if open[c].Key == "" {
					key := newKey()
					version, err := create1(s, key)
					open[c] = store.Record{Key: key, Version: version}
					return err
				}
				r := open[c]
				open[c] = store.Record{}
				return commit(s, r)
			})
		})
	}
}

// BenchmarkWriters shows what more connections that write give, and what it is to share transactions: with groups of
// one each write has a transaction to itself.
func BenchmarkWriters(b *testing.B) {
	for _, group := range []int{1, 256} {
		for _, writers := range []int{1, 2, 4, 8, 16} {
			for _, clients := range []int{16, 256} {
				b.Run(fmt.Sprintf("group=%d/writers=%d/clients=%d", group, writers, clients), func(b *testing.B) {
					s := openBench(b, Options{Writers: writers, GroupWrites: group})
					measure(b, s, clients, func(client) error { return reserve(s, newKey()) })
				})
			}
		}
	}
}

// BenchmarkLoad reads records.
func BenchmarkLoad(b *testing.B) {
	for _, readers := range []int{1, 2, 4} {
		for _, clients := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("readers=%d/clients=%d", readers, clients), func(b *testing.B) {
				s := openBench(b, Options{Readers: readers})
				keys := make([]string, 10_000)
				for i := range keys {
					keys[i] = newKey()
				}
				each(len(keys), func(i int) { must(b, reserve(s, keys[i])) })
				var next atomic.Int64
				measure(b, s, clients, func(client) error {
					_, err := s.Load(context.Background(), keys[int(next.Add(1))%len(keys)])
					return err
				})
			})
		}
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

// measure lets so many clients go on without a pause until b.N operations are done.
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
	after := s.Stats()
	if after.Commits > before.Commits {
		b.ReportMetric(float64(after.Writes-before.Writes)/float64(after.Commits-before.Commits), "group/commit")
	}
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
	url := os.Getenv("IDEM_BENCH_URL")
	if url == "" {
		url = pgtest.Shared(b).URL(pgtest.NewSchema())
	}
	s, err := Open(b.Context(), url, o)
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
	_, err := create1(s, key)
	return err
}

func create1(s *Store, key string) (uint64, error) {
	now := time.Now()
	return s.Swap(context.Background(), store.Write{
		Key: key, Data: content, Now: now, Entries: []store.Entry{{Index: store.Due, At: now.Add(15 * time.Second)}},
	})
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
