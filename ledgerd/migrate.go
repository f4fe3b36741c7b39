package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newMigrate() *cobra.Command {
	var dataDir, kind string
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the store to this version's schema, and stop",
		Long: `Bring the store to this version's schema, and stop. serve does the same when it starts; this is for those who want
to see it done first. A store that a newer ledgerd wrote is refused. Make a backup before.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := openStore(c.Context(), kind, dataDir)
			if err != nil {
				return err
			}
			if err := s.Close(); err != nil {
				return closing("store", err)
			}
			where := kind
			if kind == "sqlite" {
				where += " in " + dataDir
			}
			fmt.Fprintf(c.OutOrStdout(), "The store (%s) has the schema of ledgerd %s.\n", where, version)
			return nil
		},
	}
	storeFlags(c, &dataDir, &kind)
	return c
}
