package main

import (
	"github.com/spf13/cobra"
)

func newRoot(s surroundings) *cobra.Command {
	root := &cobra.Command{
		Use:   "ledgerd",
		Short: "The ledger beside Idem's Envoy filter",
		Long: `ledgerd decides which call executes, keeps what was executed, and asks people where a call may be a repetition.

Every setting is a flag, an environment variable (--data-dir: LEDGERD_DATA_DIR) or a key of a YAML file (data-dir),
given by --config; a flag wins over the environment, the environment over the file.

Exit codes: 0 done; 1 failed, or the answer is no; 2 the command line or a setting is wrong; 3 the ledger refused.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().String("config", "", "a YAML `file` with settings, named as the flags are")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := loadSettings(c, s.environ); err != nil {
			return usageError{err}
		}
		return nil
	}
	root.AddCommand(
		newServe(s), newMigrate(), newHolds(), newInDoubt(), newExplain(s), newCheck(s), newDoctor(), newVersion(),
	)
	asUsage(root)
	return root
}

// asUsage makes a wrong number of arguments, or a command that there is not, a usage error.
func asUsage(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usageError{err}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		asUsage(sub)
	}
}
