package main

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"idem/ledgerd/explain"
	"idem/ledgerd/ledger"
)

// heldCall is a hold as the admin API gives it.
type heldCall struct {
	ledger.HoldView
	Differences []explain.Written `json:"differences"`
	Next        string            `json:"next"` // of one that was just answered: what comes of it
}

func newHolds() *cobra.Command {
	c := &cobra.Command{
		Use:   "holds",
		Short: "See and answer holds: calls that may repeat another",
		Long: `See and answer holds: calls that may repeat another. Instead of a whole id its beginning will do, or that of the
fingerprint that the call's reply had in x-idem-fingerprint, as long as it means one open hold.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cl := clientFlags(c)
	c.AddCommand(
		holdsList(cl), holdsShow(cl),
		holdsAnswer(cl, "release", "It is meant: let it execute once"),
		holdsAnswer(cl, "duplicate", "It is the same again: give its callers the stored result"),
		holdsAnswer(cl, "deny", "It must not execute: its callers are told so, whatever their run, until retention ends"),
	)
	return c
}

func holdsList(cl *client) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "List the open holds, oldest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var reply struct {
				Holds []heldCall `json:"holds"`
			}
			if err := checkLimit(limit); err != nil {
				return err
			}
			raw, err := cl.ask(c.Context(), fmt.Sprintf("/api/holds?limit=%d", limit), nil, &reply)
			if err != nil {
				return err
			}
			rows := [][]string{{"HOLD", "FINGERPRINT", "AGE", "REASON", "TOOL", "RUNS", "RULE", "DENIED AT"}}
			for _, h := range reply.Holds {
				rows = append(rows, []string{h.ID, short(h.Fingerprint), age(h.Opened), h.Reason, h.Tool, runsOf(h.Runs), h.Rule, moment(h.Expires)})
			}
			return cl.list(c.OutOrStdout(), raw, rows, "No hold is open.")
		},
	}
	c.Flags().IntVar(&limit, "limit", 100, "how many at most, 1 to 1000")
	arguments(c.Flags())
	return c
}

func holdsShow(cl *client) *cobra.Command {
	return &cobra.Command{
		Use: "show HOLD", Short: "Show a hold and how its call differs from the one that it may repeat", Args: oneID("hold", "ledgerd holds list"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := cl.hold(c.Context(), args[0])
			if err != nil {
				return err
			}
			var h heldCall
			raw, err := cl.ask(c.Context(), "/api/holds/"+url.PathEscape(id), nil, &h)
			if err != nil {
				return err
			}
			if cl.asJSON {
				_, err = c.OutOrStdout().Write(raw)
				return err
			}
			return showHold(c.OutOrStdout(), h)
		},
	}
}

func showHold(w io.Writer, h heldCall) error {
	err := facts(w, [][2]string{
		{"hold", h.ID}, {"state", h.State}, {"version", fmt.Sprint(h.Version)}, {"reason", h.Reason},
		{"may repeat", h.Of}, {"which is", h.OfState}, {"and arrived", moment(h.OfArrived)},
		{"tool", h.Tool}, {"rule", h.Rule}, {"runs", runsOf(h.Runs)}, {"opened", moment(h.Opened)}, {"denied at", moment(h.Expires)},
		{"intent", h.Intent}, {"fingerprint", h.Fingerprint}, {"call", compact(h.Action)}, {"may repeat call", compact(h.OfAction)},
	})
	if err != nil || len(h.Action) == 0 || len(h.OfAction) == 0 {
		return err
	}
	fmt.Fprintln(w)
	return showDifferences(w, h.Differences, "THE CALL IT MAY REPEAT", "THIS CALL")
}

func holdsAnswer(cl *client, decision, short string) *cobra.Command {
	var version int64
	var reason string
	c := &cobra.Command{
		Use: decision + " HOLD", Short: short, Args: oneID("hold", "ledgerd holds list"),
		RunE: func(c *cobra.Command, args []string) error {
			body := map[string]any{"reason": reason}
			if c.Flags().Changed("version") {
				if version < 1 {
					return usageError{fmt.Errorf("--version %d: want the version that `ledgerd holds show` gives, 1 or more", version)}
				}
				body["version"] = version
			}
			id, err := cl.hold(c.Context(), args[0])
			if err != nil {
				return err
			}
			var h heldCall
			raw, err := cl.ask(c.Context(), "/api/holds/"+url.PathEscape(id)+"/"+decision, body, &h)
			if err != nil {
				return err
			}
			if cl.asJSON {
				_, err = c.OutOrStdout().Write(raw)
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "Hold %s is answered: %s. Its row is %s now. %s\n", printable(h.ID), decision, printable(h.State), printable(h.Next))
			return nil
		},
	}
	c.Flags().Int64Var(&version, "version", 0, "answer only if the hold still has this version (see show)")
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	arguments(c.Flags())
	return c
}

// showDifferences writes what differs between two calls, place by place.
func showDifferences(w io.Writer, found []explain.Written, left, right string) error {
	if len(found) == 0 {
		fmt.Fprintln(w, "No difference in what was written.")
		return nil
	}
	rows := [][]string{{"WHERE", left, right}}
	for _, d := range found {
		rows = append(rows, []string{orWord(d.Pointer, "(the whole)"), side(d.A), side(d.B)})
	}
	return table(w, rows)
}

func side(text string) string {
	if text == "" {
		return "not there"
	}
	const most = 60
	if len([]rune(text)) > most {
		return strings.TrimSpace(string([]rune(text)[:most])) + "…"
	}
	return text
}

func orWord(text, word string) string {
	if text == "" {
		return word
	}
	return text
}
