package main

import (
	"context"
	"time"

	"idem/ledgerd/store/postgres"
	"idem/ledgerd/store/redis"
)

// examineStore looks at what the store's promises rest on.
func examineStore(ctx context.Context, s storeChoice) []finding {
	switch s.scheme() {
	case "sqlite":
		return examineDisk(s.dataDir)
	case "memory":
		return []finding{{warn, "store", "memory: what was executed is forgotten when ledgerd stops"}}
	case "postgres":
		return examineServer(ctx, func(ctx context.Context) (string, []string, error) {
			p, err := postgres.Examine(ctx, s.kind)
			return p.String(), p.Warnings(), err
		})
	case "redis":
		return examineServer(ctx, func(ctx context.Context) (string, []string, error) { return redis.Examine(ctx, s.kind) })
	}
	return []finding{{fail, "store", s.unknown().Error()}}
}

// examineServer asks a store's server what it promises and whether the store is there.
func examineServer(ctx context.Context, ask func(context.Context) (promise string, warnings []string, err error)) []finding {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	promise, warnings, err := ask(ctx)
	if err != nil {
		return []finding{{fail, "store", err.Error()}}
	}
	found := []finding{{well, "store", promise}}
	for _, text := range warnings {
		found = append(found, finding{warn, "durability", text})
	}
	return found
}
