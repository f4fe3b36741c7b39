package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"idem/ledgerd/store"
	"idem/ledgerd/store/memory"
	"idem/ledgerd/store/sqlite"
)

// storeFlags adds what says where records are kept.
func storeFlags(c *cobra.Command, dataDir, kind *string) {
	c.Flags().StringVar(dataDir, "data-dir", "data", "`directory` of the sqlite store; made where it is missing")
	c.Flags().StringVar(kind, "store", "sqlite", "where records are kept: sqlite, or memory (for tests: forgets when ledgerd stops)")
}

// openStore opens the store of a kind.
func openStore(ctx context.Context, kind, dataDir string) (store.Store, error) {
	switch kind {
	case "sqlite":
		if dataDir == "" {
			return nil, usageError{errors.New("--data-dir is empty: want the directory of the sqlite store")}
		}
		s, err := sqlite.Open(ctx, dataDir, sqlite.Options{})
		if errors.Is(err, sqlite.ErrInUse) {
			return nil, fmt.Errorf("%w (choose another one by --data-dir)", err)
		}
		return s, err
	case "memory":
		return memory.New(memory.Options{}), nil
	}
	// A URL may hold a password: only its scheme is repeated.
	name, _, isURL := strings.Cut(kind, "://")
	if isURL {
		name += "://…"
	}
	return nil, usageError{fmt.Errorf("--store %q: the stores are sqlite (one ledgerd, durable in --data-dir) and memory (tests)", name)}
}
