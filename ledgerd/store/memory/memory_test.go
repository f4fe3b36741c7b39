package memory_test

import (
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/memory"
	"idem/ledgerd/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, storetest.Driver{
		New: func(*testing.T) func(func() time.Time) store.Store {
			return func(clock func() time.Time) store.Store { return memory.New(memory.Options{Clock: clock}) }
		},
	})
}
