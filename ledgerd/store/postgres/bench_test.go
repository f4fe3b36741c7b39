package postgres

import (
	"fmt"
	"os"
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/storetest"
)

// What they write and measure stands at storetest.Bench; group/commit says how many writes shared a transaction. The
// server runs on the same machine and shares its processors.
//
//	go test -bench . -run '^$' ./ledgerd/store/postgres
//
// IDEM_BENCH_URL measures another server, in a schema of its own that it leaves there.

func BenchmarkCreate(b *testing.B) { bench(Options{}).Create(b) }
func BenchmarkLife(b *testing.B)   { bench(Options{}).Life(b) }
func BenchmarkScan(b *testing.B)   { bench(Options{}).Scan(b) }

// BenchmarkWriters shows what more connections that write give, and what it is to share transactions: with groups of
// one each write has a transaction to itself.
func BenchmarkWriters(b *testing.B) {
	for _, group := range []int{1, 256} {
		for _, writers := range []int{1, 2, 4, 8, 16} {
			b.Run(fmt.Sprintf("group=%d/writers=%d", group, writers), bench(Options{Writers: writers, GroupWrites: group}).Create)
		}
	}
}

// BenchmarkLoad reads records.
func BenchmarkLoad(b *testing.B) {
	for _, readers := range []int{1, 2, 4} {
		for _, clients := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("readers=%d/clients=%d", readers, clients), func(b *testing.B) { bench(Options{Readers: readers}).Load(b, clients) })
		}
	}
}

func bench(o Options) storetest.Bench {
	return storetest.Bench{
		Open: func(b *testing.B) store.Store {
			url := os.Getenv("IDEM_BENCH_URL")
			if url == "" {
				url = pgtest.Shared(b).URL(pgtest.NewSchema())
			}
			return mustOpen(b, url, o)
		},
		Stats:  func(s store.Store) (uint64, uint64) { st := s.(*Store).Stats(); return st.Commits, st.Writes },
		Shared: "group/commit",
	}
}
