package main

import (
	"context"
	"fmt"
	"time"

	"idem/ledgerd/store/postgres"
)

// examineStore looks at what the store's promises rest on.
func examineStore(ctx context.Context, s storeChoice) []finding {
	switch s.scheme() {
	case "sqlite":
		return examineDisk(s.dataDir)
	case "memory":
		return []finding{{warn, "store", "memory: what was executed is forgotten when ledgerd stops"}}
	case "postgres":
		return examinePostgres(ctx, s)
	}
	return []finding{{warn, "store", fmt.Sprintf("%s is not looked at: `ledgerd serve` says at its start what it promises", s)}}
}

// examinePostgres asks the server what it promises; it changes nothing.
func examinePostgres(ctx context.Context, s storeChoice) []finding {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	promise, err := postgres.Examine(ctx, s.kind)
	if err != nil {
		return []finding{{fail, "store", err.Error()}}
	}
	found := []finding{{well, "store", promise.String()}}
	for _, text := range promise.Warnings() {
		found = append(found, finding{warn, "durability", text})
	}
	return found
}
