package redis

import (
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
	"idem/ledgerd/store/storetest"
)

// What they write and measure stands at storetest.Bench; writes/call says how many writes shared a script call. The
// server has appendfsync always, so every write is synced when it is counted.
//
//	go test -bench . -run '^$' ./ledgerd/store/redis

func BenchmarkCreate(b *testing.B) { bench().Create(b) }
func BenchmarkLife(b *testing.B)   { bench().Life(b) }
func BenchmarkLoad(b *testing.B)   { bench().Load(b, 256) }
func BenchmarkResult(b *testing.B) { bench().Result(b, 256) }
func BenchmarkScan(b *testing.B)   { bench().Scan(b) }

func bench() storetest.Bench {
	return storetest.Bench{
		Open:   func(b *testing.B) store.Store { return mustOpen(b, redistest.Start(b).URL(), Options{}) },
		Stats:  func(s store.Store) (uint64, uint64) { st := s.(*Store).Stats(); return st.Groups, st.Writes },
		Shared: "writes/call",
	}
}
