package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"idem/canon"
)

func newVersion() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Say which ledgerd this is",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(map[string]any{
					"version": version, "canon": canon.Version, "go": runtime.Version(), "platform": platform,
				})
			}
			fmt.Fprintf(c.OutOrStdout(), "ledgerd %s, canonical form %d, %s, %s\n", version, canon.Version, runtime.Version(), platform)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}
