package postgres

import (
	"os"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestContract(t *testing.T) { contract(t, Options{}) }

// With one writer, groups of two and one reader writes and loads meet in other ways, and the store must say the same.
func TestContractWithSmallGroups(t *testing.T) {
	contract(t, Options{Writers: 1, GroupWrites: 2, Readers: 1})
}

func contract(t *testing.T, o Options) {
	server := pgtest.Shared(t)
	storetest.Run(t, storetest.Driver{
		Durable: true,
		New: func(t *testing.T) func(func() time.Time) store.Store {
			url := server.URL(pgtest.NewSchema())
			return func(clock func() time.Time) store.Store {
				o := o
				o.Clock = clock
				return mustOpen(t, url, o)
			}
		},
	})
}

// mustOpen opens a store, and makes it where there is none yet.
func mustOpen(t testing.TB, url string, o Options) *Store {
	t.Helper()
	o.Migrate = true
	s, err := Open(t.Context(), url, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s
}
