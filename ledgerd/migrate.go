package main

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
)

func newMigrate() *cobra.Command {
	var where storeChoice
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Make the store where there is none, or bring it to this version's schema, and stop",
		Long: `Make the store where there is none, or bring it to this version's schema, and stop. A store that a newer ledgerd wrote
is refused. Make a backup before.

sqlite: serve does the same when it starts; this is for those who want to see it done first. postgres, redis: serve
makes no store, for one that is not there may have been lost, and a new one knows nothing of what was executed: run
this once before the first start, and not before every start. An older schema of postgres may be in use by other nodes,
so serve refuses that too. The command may run as a role that owns the tables, while serve runs as one that only uses
them.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := where.checkFlags(c); err != nil {
				return err
			}
			if where.scheme() == "memory" {
				return usageError{errors.New("--store memory: there is nothing to make, it is new at each start")}
			}
			s, err := where.open(c.Context(), slog.New(slog.DiscardHandler), true)
			if err != nil {
				return err
			}
			made, id := newlyMade(s)
			if err := s.Close(); err != nil {
				return closing("store", err)
			}
			name := where.String()
			if name == "sqlite" {
				name += " in " + where.dataDir
			}
			if id != "" {
				name += ", id " + id
			}
			if made {
				fmt.Fprintf(c.OutOrStdout(), "Made a new, empty store (%s): it knows of nothing that was executed before.\n", name)
			}
			fmt.Fprintf(c.OutOrStdout(), "The store (%s) has the schema of ledgerd %s.\n", name, version)
			return nil
		},
	}
	storeFlags(c, &where)
	return c
}
