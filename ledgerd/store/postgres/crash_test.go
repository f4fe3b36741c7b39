package postgres

import (
	"context"
	"errors"
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/storetest"
)

// The server's processes are killed and it is started again; the store stays open all the time.
func TestNothingAcknowledgedIsLostWhenTheServerIsKilled(t *testing.T) {
	server := pgtest.Start(t)
	s := mustOpen(t, server.URL(pgtest.NewSchema()), Options{})
	defer s.Close()
	storetest.RunCrash(t, storetest.Crash{
		Cycles: 4, Writes: 3000, Patience: connections,
		Kill: func(t *testing.T, name string, writes int) []*storetest.Life {
			all := storetest.LiveUntil(t, s, name, writes, func() { server.Kill9(t) })
			server.Restart(t)
			return all
		},
		Open: func(*testing.T) map[string]store.Store {
			return map[string]store.Store{"the store that lived through it": s}
		},
		Close: func(*testing.T, map[string]store.Store) error { return nil },
	})
}

// connections is how many may be from before a crash: each says so once.
const connections = 10

// loadPatiently loads over connections that may be from before the crash.
func loadPatiently(s *Store, key string) (r store.Record, err error) {
	for range connections {
		if r, err = s.Load(context.Background(), key); !errors.Is(err, store.ErrUnavailable) {
			break
		}
	}
	return r, err
}
