package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"idem/canon"
	"idem/filter/policy"
)

func newCheck(s surroundings) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Check a plugin configuration as the filter would",
		Long: `Check a plugin configuration as the filter would, and say what it guards. FILE is the configuration as JSON or YAML,
or a whole Envoy configuration with the filter in it, which is judged as doctor judges a running one; - is standard
input. YAML is read as Envoy reads it, where off without quotes is false. The exit code is 1 where something must be
mended.

` + settingsReference,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := readInput(args[0], c.InOrStdin())
			if err != nil {
				return usageError{err}
			}
			config, err := readPluginConfig(text, s.environ, "")
			var mistakes *policy.Error
			switch {
			case errors.As(err, &mistakes):
				fmt.Fprintf(c.OutOrStdout(), "%s: the filter refuses this configuration:\n%s\n", args[0], printableLines(err.Error()))
				return verdictError{}
			case err != nil:
				return fmt.Errorf("%s: %w", args[0], err)
			}
			out := c.OutOrStdout()
			fmt.Fprintf(out, "%s: the filter takes this plugin configuration. The first rule that matches wins:\n\n", args[0])
			rows := [][]string{{"RULE", "MODE", "GUARDS", "RUN", "REPLY"}}
			var flat []string // rules that find no run in a flat body
			for i, r := range config.Calls {
				run, byDefault := config.written.run(i, r.Protocol)
				if byDefault && r.Protocol == canon.JSON && r.Mode != policy.Off {
					flat = append(flat, r.Name)
				}
				rows = append(rows, []string{r.Name, string(r.Mode), guards(r), run, replyOf(r)})
			}
			if err := table(out, rows); err != nil {
				return err
			}
			if routes := sayings(config.envoy); len(routes) > 0 {
				fmt.Fprintln(out, "\nRoutes that say which rule or mode holds on them:")
				if err := table(out, routeRows(routes)); err != nil {
					return err
				}
			}
			if len(flat) > 0 {
				fmt.Fprintf(out, "\nWarning: in a body without /args no run is found but in the header (rules: %s). A run field there counts as part of the call, and without a run a repetition replays and is never held. Say where it is, such as \"run\": [{\"header\": \"x-idem-run\"}, {\"pointer\": \"/runId\"}].\n", printable(strings.Join(flat, ", ")))
			}
			if len(config.unset) > 0 {
				fmt.Fprintf(out, "\nNot set here, but needed in Envoy's environment (host_env_keys): %s\n", strings.Join(config.unset, ", "))
			}
			if len(config.Key.Secret) == 0 {
				fmt.Fprintln(out, "\nWithout fingerprint.key_env fingerprints are plain SHA-256: who sees one can guess what was called.")
			}
			fmt.Fprintln(out, "\nEvery setting: `ledgerd check --help` in short, filter/policy/doc.go of Idem's source in full.")
			if config.envoy.read == nil {
				return nil
			}
			return showJudgement(out, examineEnvoy(config.envoy))
		},
	}
}

// showJudgement shows what is not well in the Envoy configuration around the plugin's.
func showJudgement(w io.Writer, found []finding) error {
	var rows [][]string
	asked := len(found)
	failed := false
	for _, f := range found {
		if f.What == "fingerprint key" { // check has said it already
			asked--
			continue
		}
		if f.Grade != well {
			rows = append(rows, []string{string(f.Grade), f.What, f.Detail})
		}
		failed = failed || f.Grade == fail
	}
	if len(rows) == 0 {
		fmt.Fprintf(w, "\nThe Envoy configuration around it is well, by all of %d questions.\n", asked)
		return nil
	}
	fmt.Fprintln(w, "\nIn the Envoy configuration around it:")
	if err := table(w, rows); err != nil {
		return err
	}
	if failed {
		return verdictError{}
	}
	return nil
}

func guards(r *policy.Rule) string {
	m := r.Match
	parts := []string{strings.Join(m.Methods, ",")}
	if m.Route {
		parts = append(parts, "routes that name it")
	}
	if m.Host != "" {
		parts = append(parts, m.Host)
	}
	switch {
	case m.Path != "":
		parts = append(parts, m.Path)
	case m.PathPrefix != "":
		parts = append(parts, m.PathPrefix+"…")
	}
	if len(m.Tools) > 0 {
		parts = append(parts, "tools "+strings.Join(m.Tools, ", "))
	}
	return strings.Join(parts, " ")
}

func replyOf(r *policy.Rule) string {
	reply, execution := "transparent", "detached"
	if r.Envelope {
		reply = "envelope"
	}
	if r.Inline {
		execution = "inline"
	}
	return reply + ", " + execution
}

// printableLines is printable line by line.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}
