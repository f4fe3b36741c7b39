package storetest

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

// Bench is a driver that is measured. Its benchmarks write what the ledger writes: records of 600 bytes that are due in
// 15 s, then, with a result of 400 bytes, in a day. Every write is durable when it is counted. An operation (ns/op) is
// one call of the store.
//
// IDEM_BENCH_ROWS=5000000 creates so many records first.
type Bench struct {
	Open   func(b *testing.B) store.Store            // an empty store; the benchmark closes it
	Stats  func(store.Store) (groups, writes uint64) // transactions or calls that it made, and the writes in them
	Shared string                                    // the unit of how many writes shared one: "group/commit"
}

// Create creates records.
func (d Bench) Create(b *testing.B) {
	d.forClients(b, func(b *testing.B, clients int) {
		s := d.filled(b)
		d.Measure(b, s, clients, func(int) error { _, err := reserve(s, randomKey()); return err })
	})
}

// Life takes records through a call: reserved, then committed with a result; each is one operation.
func (d Bench) Life(b *testing.B) {
	d.forClients(b, func(b *testing.B, clients int) {
		s := d.filled(b)
		open := make([]store.Record, clients)
		d.Measure(b, s, clients, func(c int) (err error) {
			if open[c].Key == "" {
				open[c].Key = randomKey()
				open[c].Version, err = reserve(s, open[c].Key)
				return err
			}
			r := open[c]
			open[c] = store.Record{}
			return commit(s, r)
		})
	})
}

// Load reads records.
func (d Bench) Load(b *testing.B, clients int) {
	s := d.filled(b)
	keys := Fill(b, s, 10_000)
	var next atomic.Int64
	d.Measure(b, s, clients, func(int) error {
		_, err := s.Load(context.Background(), keys[int(next.Add(1))%len(keys)])
		return err
	})
}

// Result reads results.
func (d Bench) Result(b *testing.B, clients int) {
	s := d.filled(b)
	keys := Fill(b, s, 10_000)
	Each(len(keys), func(i int) {
		r, err := s.Load(context.Background(), keys[i])
		if err = errors.Join(err, commit(s, r)); err != nil {
			b.Error(err)
		}
	})
	var next atomic.Int64
	d.Measure(b, s, clients, func(int) error {
		_, err := s.Result(context.Background(), attemptOf(keys[int(next.Add(1))%len(keys)]))
		return err
	})
}

// Scan finds the 100 oldest entries that are due among many.
func (d Bench) Scan(b *testing.B) {
	s := d.filled(b)
	Fill(b, s, 10_000)
	for b.Loop() {
		if list, err := s.Scan(context.Background(), store.Due, time.Now().Add(time.Hour), nil, 100); err != nil || len(list) != 100 {
			b.Fatal(len(list), err)
		}
	}
}

func (d Bench) forClients(b *testing.B, run func(b *testing.B, clients int)) {
	for _, clients := range []int{1, 16, 256} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) { run(b, clients) })
	}
}

// Measure lets so many clients go on without a pause until b.N operations are done.
func (d Bench) Measure(b *testing.B, s store.Store, clients int, do func(client int) error) {
	groups, writes := d.Stats(s)
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
				if err := do(c); err != nil {
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
	if len(sorted) == 0 {
		return // every client has failed
	}
	slices.Sort(sorted)
	b.ReportMetric(float64(sorted[len(sorted)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(sorted[len(sorted)*99/100].Microseconds()), "p99-µs")
	if g, w := d.Stats(s); g > groups {
		b.ReportMetric(float64(w-writes)/float64(g-groups), d.Shared)
	}
}

// Fill creates records and gives their keys.
func Fill(b *testing.B, s store.Store, n int) []string {
	b.Helper()
	keys := make([]string, n)
	for i := range keys {
		keys[i] = randomKey()
	}
	Each(n, func(i int) {
		if _, err := reserve(s, keys[i]); err != nil {
			b.Error(err)
		}
	})
	return keys
}

// filled opens a store, until the benchmark ends, with as many records as IDEM_BENCH_ROWS says.
func (d Bench) filled(b *testing.B) store.Store {
	s := d.Open(b)
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	if v := os.Getenv("IDEM_BENCH_ROWS"); v != "" {
		rows, err := strconv.Atoi(v)
		if err != nil {
			b.Fatalf("IDEM_BENCH_ROWS is %q, want a whole number", v)
		}
		Fill(b, s, rows)
	}
	return s
}

// Each calls f with 0 to n-1, by 256 goroutines.
func Each(n int, f func(i int)) {
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

// What the benchmarks write; nobody changes it.
var benchRecord, benchResult = make([]byte, 600), make([]byte, 400)

func reserve(s store.Store, key string) (version uint64, err error) {
	now := time.Now()
	return s.Swap(context.Background(), store.Write{
		Key: key, Data: benchRecord, Now: now, Entries: []store.Entry{{Index: store.Due, At: now.Add(15 * time.Second)}},
	})
}

func commit(s store.Store, r store.Record) error {
	now := time.Now()
	_, err := s.Swap(context.Background(), store.Write{
		Key: r.Key, Expect: r.Version, Data: benchRecord, Now: now,
		Entries: []store.Entry{{Index: store.Due, At: now.Add(24 * time.Hour)}},
		Put:     []store.Result{{Attempt: attemptOf(r.Key), Data: benchResult}},
	})
	return err
}

// randomKey is an intent that nobody has used.
func randomKey() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}
