package redis

import (
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
	"idem/ledgerd/store/storetest"
)

// The server is killed and started again on its append-only file. The store stays open all the time: it finds its way
// back by itself.
func TestNothingAcknowledgedIsLostInAKill(t *testing.T) {
	server := redistest.Start(t)
	s := mustOpen(t, server.URL(), Options{})
	defer s.Close()
	const another = "a process that remembers nothing"
	storetest.RunCrash(t, storetest.Crash{
		Cycles: 6, Writes: 3000,
		Kill: func(t *testing.T, name string, writes int) []*storetest.Life {
			all := storetest.LiveUntil(t, s, name, writes, func() { server.Kill(t) })
			server.Restart(t)
			return all
		},
		Open: func(t *testing.T) map[string]store.Store {
			other := mustOpen(t, server.URL(), Options{})
			eventually(t, func() error { _, err := s.Newest(t.Context(), 1); return err })
			return map[string]store.Store{"the store that lived through it": s, another: other}
		},
		Close: func(_ *testing.T, stores map[string]store.Store) error { return stores[another].Close() },
	})
}
