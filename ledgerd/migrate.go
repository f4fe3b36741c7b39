package main

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
)

func newMigrate() *cobra.Command {
	var where storeChoice
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the store to this version's schema, and stop",
		Long: `Bring the store to this version's schema, and stop. A store that a newer ledgerd wrote is refused. Make a backup
before.

sqlite: serve does the same when it starts; this is for those who want to see it done first. postgres: serve makes the
schema where there is none, but an older one may be in use by other nodes, so it refuses that and this command brings
it up to date; it may run as a role that owns the tables, while serve runs as one that only uses them.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := where.open(c.Context(), slog.New(slog.DiscardHandler), true)
			if err != nil {
				return err
			}
			if err := s.Close(); err != nil {
				return closing("store", err)
			}
			name := where.String()
			if name == "sqlite" {
				name += " in " + where.dataDir
			}
			fmt.Fprintf(c.OutOrStdout(), "The store (%s) has the schema of ledgerd %s.\n", name, version)
			return nil
		},
	}
	storeFlags(c, &where)
	return c
}
