package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// grade of a finding: what is well, what an operator should know, what must be mended.
type grade string

const (
	well grade = "ok"
	warn grade = "warn"
	fail grade = "FAIL"
)

// finding is the answer to one of the doctor's questions.
type finding struct {
	Grade  grade  `json:"grade"`
	What   string `json:"what"`
	Detail string `json:"detail"`
}

// doctorOptions are the flags of `ledgerd doctor`.
type doctorOptions struct {
	store           storeChoice
	data, dataToken string
	envoyAdmin      string
	asJSON          bool
	admin           *client
}

func newDoctor() *cobra.Command {
	o := &doctorOptions{}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look at the store, the clock, a running ledgerd and Envoy's configuration",
		Long: `Look at what Idem's promises rest on: whether the data directory's disk, or the server of --store, keeps what it says
it has kept, whether the store is there and may be used, whether the clock and the free space are sound, whether a
running ledgerd is reached and ready, and, with --envoy-admin, whether Envoy's running configuration sends executions
once and says how they ended. The exit code is 1 where something must be mended.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.admin.timeout <= 0 {
				return usageError{fmt.Errorf("--timeout %v: want a positive duration", o.admin.timeout)}
			}
			found := o.examine(c.Context())
			if err := showFindings(c.OutOrStdout(), found, o.asJSON); err != nil {
				return err
			}
			for _, f := range found {
				if f.Grade == fail {
					return verdictError{}
				}
			}
			return nil
		},
	}
	f := c.Flags()
	o.admin = &client{}
	f.StringVar(&o.admin.server, "server", "http://127.0.0.1:7413", "`URL` of ledgerd's admin API")
	f.StringVar(&o.data, "data-server", "http://127.0.0.1:7411", "`URL` of ledgerd's data API")
	secretFlag(f, &o.dataToken, "token", "the filter's token for the data API")
	secretFlag(f, &o.admin.token, "operator-token", "the token for the admin API")
	f.DurationVar(&o.admin.timeout, "timeout", 10*time.Second, "how long to wait for each")
	f.StringVar(&o.envoyAdmin, "envoy-admin", "", "`URL` of Envoy's admin interface, such as http://127.0.0.1:9901")
	f.BoolVar(&o.asJSON, "json", false, "as JSON")
	storeFlags(c, &o.store)
	return c
}

func (o *doctorOptions) examine(ctx context.Context) []finding {
	found := examineStore(ctx, o.store)
	found = append(found, examineClock(o.store.dataDir)...)
	found = append(found, o.examineLedgerd(ctx)...)
	if o.envoyAdmin == "" {
		return append(found, finding{warn, "envoy", "not looked at: give --envoy-admin"})
	}
	dump, err := fetchDump(ctx, o.envoyAdmin, o.admin.timeout)
	if err != nil {
		return append(found, finding{fail, "envoy", err.Error()})
	}
	return append(found, examineEnvoy(envoyDocument{read: dump})...)
}

func showFindings(w io.Writer, found []finding, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(found)
	}
	var rows [][]string
	for _, f := range found {
		rows = append(rows, []string{string(f.Grade), f.What, f.Detail})
	}
	return table(w, rows)
}
