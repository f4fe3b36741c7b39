package nodes

import (
	"context"
	"strings"
	"testing"

	"idem/ledgerd/store"
	"idem/ledgerd/store/postgres"
	"idem/ledgerd/store/postgres/pgtest"
	"idem/ledgerd/store/redis"
	"idem/ledgerd/store/redis/redistest"
)

// shared is a store on a server of its own, which many nodes may use.
type shared struct {
	address, url string
	open         func(ctx context.Context, url string) (store.Store, error)
	listens      string // what a node sends that wants to be notified
}

// by gives the store's URL by another address, where something stands before the server.
func (s shared) by(address string) string { return strings.Replace(s.url, s.address, address, 1) }

// everywhere is each kind of store that nodes share.
var everywhere = []struct {
	name  string
	start func(t *testing.T) shared
}{
	{"postgres", func(t *testing.T) shared {
		s := pgtest.Start(t)
		return shared{s.Address(), s.URL(pgtest.NewSchema()), func(ctx context.Context, url string) (store.Store, error) {
			return postgres.Open(ctx, url, postgres.Options{Migrate: true})
		}, "LISTEN "}
	}},
	{"redis", func(t *testing.T) shared {
		s := redistest.Start(t)
		return shared{s.Address, s.URL(), func(ctx context.Context, url string) (store.Store, error) {
			return redis.Open(ctx, url, redis.Options{Migrate: true})
		}, "subscribe"}
	}},
}
