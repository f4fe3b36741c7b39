package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"idem/canon"
	"idem/ledgerd/explain"
)

// explainOptions are the flags of `ledgerd explain`.
type explainOptions struct {
	rules, rule        string
	method, host, path string
	headers            []string
	tool               string
	fingerprintKey     string
	asJSON, all        bool
	surroundings       surroundings
}

func newExplain(s surroundings) *cobra.Command {
	o := &explainOptions{surroundings: s}
	c := &cobra.Command{
		Use:   "explain A [B]",
		Short: "Say how a body is read, or why two bodies are one call or are not",
		Long: `Say how a request's body is read: its canonical form, its fingerprint, and each step to it. Of two bodies it says
why they are one call or are not; the exit code is 0 where they are one, else 1. - is standard input.

With --rules the filter's own rules read the calls; method, host and path choose among them as they do in the filter,
and so does --rule, by name. What is not given of the three is taken from the rule's match; where there is one rule,
nothing need be given. Every pointer leads into the body as it is written.

Of two bodies what matters fits one screen, long values cut; --all shows each step and the canonical forms too.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c, args) },
	}
	f := c.Flags()
	f.StringVar(&o.rule, "rule", "", "the rule to read the calls by, by its name (with --rules; default: the one that matches)")
	f.StringVar(&o.method, "method", "", "the requests' method (POST)")
	f.StringVar(&o.host, "host", "", "the requests' host")
	f.StringVar(&o.path, "path", "", "the requests' path, with the query")
	f.StringArrayVar(&o.headers, "header", nil, "a header of the requests, `'name: value'`; may be repeated")
	f.StringVar(&o.tool, "tool", "", "the tool's name, where the body does not say it (without --rules)")
	f.BoolVar(&o.asJSON, "json", false, "as JSON")
	f.BoolVar(&o.all, "all", false, "of two bodies all that there is to show, however long")
	arguments(f)
	f.StringVar(&o.rules, "rules", "", "the filter's plugin configuration, a `file` (JSON, YAML, or an Envoy configuration)")
	secretFlag(f, &o.fingerprintKey, "fingerprint-key", "the filter's fingerprint key; with --rules it stands for the variable that fingerprint.key_env names")
	return c
}

func (o *explainOptions) run(c *cobra.Command, args []string) error {
	settings := canon.Settings{}
	if o.tool != "" {
		if o.rules != "" {
			return usageError{errors.New("--tool goes without --rules only: there the rule says where the tool's name is")}
		}
		settings.Tool = &canon.Source{Value: o.tool}
	}
	reader, err := newExplainer(o.rules, canon.Key{Secret: []byte(o.fingerprintKey)}, settings, o.surroundings)
	if err != nil {
		return usageError{err}
	}
	if len(args) == 2 && args[0] == "-" && args[1] == "-" {
		return usageError{errors.New("standard input can be one of the two bodies, not both")}
	}
	var calls []explain.Call
	for _, name := range args {
		call, err := o.call(name, c.InOrStdin())
		if err != nil {
			return usageError{err}
		}
		calls = append(calls, call)
	}
	var report explain.Report
	if len(calls) == 1 {
		report, err = reader.Explain(calls[0])
	} else {
		report, err = reader.Compare(calls[0], calls[1])
	}
	var unchosen *explain.UnchosenError
	switch {
	case errors.As(err, &unchosen):
		return usageError{fmt.Errorf("%w; choose one by --rule, or say how the call is sent by --path, --method and --host", err)}
	case err != nil:
		return usageError{err}
	}
	switch {
	case o.asJSON:
		e := json.NewEncoder(c.OutOrStdout())
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		err = e.Encode(report)
	case report.B != nil && !o.all:
		err = showPair(c.OutOrStdout(), report, args)
	default:
		err = showReport(c.OutOrStdout(), report, args)
	}
	if err == nil && (report.A.Problem != nil || report.B != nil && !report.Same) {
		return verdictError{}
	}
	return err
}

func (o *explainOptions) call(file string, in io.Reader) (explain.Call, error) {
	body, err := readInput(file, in)
	if err != nil {
		return explain.Call{}, err
	}
	call := explain.Call{Rule: o.rule, Method: o.method, Host: o.host, Path: o.path, Body: string(body), Headers: map[string]string{}}
	for _, h := range o.headers {
		name, value, found := strings.Cut(h, ":")
		if !found {
			return call, fmt.Errorf("--header %q: want 'name: value'", h)
		}
		call.Headers[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
	return call, nil
}

func showReport(w io.Writer, r explain.Report, names []string) error {
	if r.B != nil {
		fmt.Fprintf(w, "%s\n\n", printable(r.Verdict))
		if len(r.Differences) > 0 {
			rows := [][]string{{"WHERE", names[0], names[1], "COUNTS", "WHY"}}
			for _, d := range r.Differences {
				rows = append(rows, []string{place(d.Part, d.Pointer), side(d.A), side(d.B), yesNo(d.Counts), why(d.Why, d.Setting)})
			}
			if err := table(w, rows); err != nil {
				return err
			}
			fmt.Fprintln(w)
		}
	}
	if err := showForm(w, names[0], r.A); err != nil {
		return err
	}
	if r.B != nil {
		fmt.Fprintln(w)
		if err := showForm(w, names[1], *r.B); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(w, "\n%s\n", printable(r.Verdict))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "\n%s\n", printable(note))
	}
	if !r.Keyed {
		fmt.Fprintln(w, "\nMade without the deployment's key: the fingerprints are not the filter's; whether two are equal is the same.")
	}
	return nil
}

// place names a part of the call, or where in its body something stands.
func place(part, pointer string) string {
	if part != "" {
		return part
	}
	return orWord(pointer, "(the whole)")
}

func why(text, setting string) string {
	if setting == "" {
		return text
	}
	return text + " (in the rule, " + setting + ")"
}

func yesNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

func showForm(w io.Writer, name string, f explain.Form) error {
	fmt.Fprintf(w, "%s\n", printable(name))
	if p := f.Problem; p != nil {
		offset := ""
		if p.Offset >= 0 {
			offset = fmt.Sprint(p.Offset)
		}
		return facts(w, [][2]string{{"  refused", p.Code}, {"  why", p.Detail}, {"  where", p.Pointer}, {"  byte", offset}})
	}
	intent := f.Intent
	if !f.Shared {
		intent = "the fingerprint itself: customer or amount is missing"
	}
	run := f.Run
	if run == "" {
		run = "absent"
	}
	err := facts(w, [][2]string{
		{"  fingerprint", f.Fingerprint}, {"  intent", intent}, {"  rule", f.Rule}, {"  tool", f.Tool}, {"  run", run},
		{"  customer", string(f.Customer)}, {"  amount", string(f.Amount)}, {"  canonical", string(f.Canonical)},
	})
	if err != nil || len(f.Changes) == 0 {
		return err
	}
	rows := [][]string{{"  WHERE", "WRITTEN", "COUNTS AS", "WHY"}}
	for _, c := range f.Changes {
		to := c.To
		if to == "" {
			to = "(dropped)"
		}
		rows = append(rows, []string{"  " + place(c.Part, c.Pointer), side(c.From), side(to), c.Rule + ": " + why(c.Why, c.Setting)})
	}
	return table(w, rows)
}
