package sqlite

import (
	"context"
	"sync/atomic"
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/storetest"
)

// What they write and measure stands at storetest.Bench; group/commit says how many writes shared a sync.
//
//	go test -bench . -run '^$' ./ledgerd/store/sqlite

func BenchmarkCreate(b *testing.B) { bench(Options{}).Create(b) }
func BenchmarkLife(b *testing.B)   { bench(Options{}).Life(b) }
func BenchmarkScan(b *testing.B)   { bench(Options{}).Scan(b) }

// BenchmarkLoad reads records: the ones written last from memory, older ones from the database.
func BenchmarkLoad(b *testing.B) {
	for _, from := range []struct {
		name   string
		recent int64
	}{{"memory", 32 << 20}, {"database", -1}} {
		b.Run("from="+from.name, func(b *testing.B) {
			s := bench(Options{RecentBytes: from.recent}).Open(b)
			b.Cleanup(func() { s.Close() })
			keys := storetest.Fill(b, s, 10_000)
			var next atomic.Int64
			b.ResetTimer()
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

func bench(o Options) storetest.Bench {
	return storetest.Bench{
		Open: func(b *testing.B) store.Store {
			s, err := Open(b.Context(), b.TempDir(), o)
			if err != nil {
				b.Fatal(err)
			}
			return s
		},
		Stats:  func(s store.Store) (uint64, uint64) { st := s.(*Store).Stats(); return st.Commits, st.Writes },
		Shared: "group/commit",
	}
}
