package sqlite

import (
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/storetest"
)

func TestContract(t *testing.T) { contract(t, Options{}) }

// Without its memory of recent records, with groups of two and with one reader the store takes other paths, and must
// say the same.
func TestContractFromDiskAlone(t *testing.T) {
	contract(t, Options{RecentBytes: -1, GroupWrites: 2, Readers: 1, LogPages: 100})
}

// A memory of a few records is emptied all the time.
func TestContractWithLittleMemory(t *testing.T) { contract(t, Options{RecentBytes: 2048}) }

func contract(t *testing.T, o Options) {
	storetest.Run(t, storetest.Driver{
		Durable: true,
		New: func(t *testing.T) func(func() time.Time) store.Store {
			dir := t.TempDir()
			return func(clock func() time.Time) store.Store {
				o.Clock = clock
				s, err := Open(t.Context(), dir, o)
				if err != nil {
					t.Fatalf("Open: %v", err)
				}
				return s
			}
		},
	})
}
