package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"idem/ledgerd/ledger"
)

func newInDoubt() *cobra.Command {
	c := &cobra.Command{
		Use:   "in-doubt",
		Short: "See and resolve calls that may or may not have happened",
		Long: `See and resolve calls that may or may not have happened. Instead of a whole attempt its beginning will do, or that of
the fingerprint that the call's reply had in x-idem-fingerprint, as long as it means one call in doubt.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cl := clientFlags(c)
	c.AddCommand(doubtsList(cl), doubtsShow(cl), doubtsResolve(cl))
	return c
}

func doubtsList(cl *client) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "List the calls in doubt, oldest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var reply struct {
				InDoubt []ledger.DoubtView `json:"in_doubt"`
			}
			if err := checkLimit(limit); err != nil {
				return err
			}
			raw, err := cl.ask(c.Context(), fmt.Sprintf("/api/in-doubt?limit=%d", limit), nil, &reply)
			if err != nil {
				return err
			}
			rows := [][]string{{"ATTEMPT", "FINGERPRINT", "SINCE", "TOOL", "RUNS", "RULE", "RELEASABLE AFTER"}}
			for _, d := range reply.InDoubt {
				rows = append(rows, []string{d.Attempt, short(d.Fingerprint), age(d.Since), d.Tool, runsOf(d.Runs), d.Rule, moment(d.ReleasableAfter)})
			}
			return cl.list(c.OutOrStdout(), raw, rows, "No call is in doubt.")
		},
	}
	c.Flags().IntVar(&limit, "limit", 100, "how many at most, 1 to 1000")
	arguments(c.Flags())
	return c
}

func doubtsShow(cl *client) *cobra.Command {
	return &cobra.Command{
		Use: "show ATTEMPT", Short: "Show a call in doubt", Args: oneID("call in doubt, its attempt", "ledgerd in-doubt list"),
		RunE: func(c *cobra.Command, args []string) error {
			attempt, err := cl.doubt(c.Context(), args[0])
			if err != nil {
				return err
			}
			var d ledger.DoubtView
			raw, err := cl.ask(c.Context(), "/api/in-doubt/"+url.PathEscape(attempt), nil, &d)
			if err != nil {
				return err
			}
			if cl.asJSON {
				_, err = c.OutOrStdout().Write(raw)
				return err
			}
			return facts(c.OutOrStdout(), [][2]string{
				{"attempt", d.Attempt}, {"state", d.State}, {"tool", d.Tool}, {"rule", d.Rule}, {"runs", runsOf(d.Runs)},
				{"execution began", moment(d.Granted)}, {"in doubt since", moment(d.Since)}, {"releasable after", moment(d.ReleasableAfter)},
				{"intent", d.Intent}, {"fingerprint", d.Fingerprint}, {"call", compact(d.Action)},
			})
		},
	}
}

func doubtsResolve(cl *client) *cobra.Command {
	var as, result, reason string
	var status int
	c := &cobra.Command{
		Use:   "resolve ATTEMPT --as released|committed",
		Short: "Say whether a call in doubt happened",
		Long: `Say whether a call in doubt happened. Look into the tool first: nothing else knows.

  --as released   it did not happen; the next call executes. Refused until the execution can no longer be under way.
  --as committed  it happened; later calls get the result in --result (JSON), or are told that it happened.`,
		Args: oneID("call in doubt, its attempt", "ledgerd in-doubt list"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("status") && result == "" {
				return usageError{errors.New("--status goes with --result only: it is the status of the result that later calls get")}
			}
			body, err := resolution(as, result, status, reason, c.InOrStdin())
			if err != nil {
				return usageError{err}
			}
			attempt, err := cl.doubt(c.Context(), args[0])
			if err != nil {
				return err
			}
			var d struct {
				Next string `json:"next"`
			}
			raw, err := cl.ask(c.Context(), "/api/in-doubt/"+url.PathEscape(attempt)+"/resolve", body, &d)
			if err != nil {
				return err
			}
			if cl.asJSON {
				_, err = c.OutOrStdout().Write(raw)
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "The call %s is %s. %s\n", printable(attempt), as, printable(d.Next))
			return nil
		},
	}
	c.Flags().StringVar(&as, "as", "", "released or committed")
	c.Flags().StringVar(&result, "result", "", "with --as committed: a `file` with the result's JSON; - for standard input")
	c.Flags().IntVar(&status, "status", 200, "with --result: its HTTP status")
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	arguments(c.Flags())
	return c
}

// resolution gives the request's body. The result's bytes are sent as they are in the file.
func resolution(as, result string, status int, reason string, in io.Reader) (map[string]any, error) {
	body := map[string]any{"as": as, "reason": reason}
	switch {
	case as != "released" && as != "committed":
		return nil, fmt.Errorf("--as %q: want released (it did not happen) or committed (it happened)", as)
	case result == "":
		return body, nil
	case as == "released":
		return nil, errors.New("--result goes with --as committed only: a call that did not happen has no result")
	}
	if status < 200 || status > 399 {
		return nil, fmt.Errorf("--status %d: a committed call has a success's status, 200 to 399", status)
	}
	text, err := readInput(result, in)
	if err != nil {
		return nil, fmt.Errorf("--result: %w", err)
	}
	if !json.Valid(text) {
		return nil, fmt.Errorf("--result %s is not JSON", result)
	}
	body["result"] = map[string]any{
		"status": status, "body": string(text), "headers": map[string]string{"content-type": "application/json"},
	}
	return body, nil
}

// readInput reads a file, or standard input for -.
func readInput(name string, in io.Reader) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(name)
}
