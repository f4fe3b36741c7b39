package redis

import (
	"os"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
	"idem/ledgerd/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

func TestContract(t *testing.T) { contract(t, Options{}) }

// With groups of two and one worker of each kind the store takes other paths, and must say the same.
func TestContractInSmallGroups(t *testing.T) {
	contract(t, Options{GroupWrites: 2, Writers: 1, Readers: 1})
}

func contract(t *testing.T, o Options) {
	storetest.Run(t, storetest.Driver{
		Durable: true,
		New: func(t *testing.T) func(func() time.Time) store.Store {
			url := redistest.Shared(t)
			return func(clock func() time.Time) store.Store {
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
	if o.Log == nil {
		o.Log = silent
	}
	s, err := Open(t.Context(), url, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s
}
