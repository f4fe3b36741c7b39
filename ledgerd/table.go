package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// What people read on a terminal. Whatever callers wrote passes through printable first: a run's name must not be able
// to move the cursor.

// table writes rows in columns, the first row being the head.
func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = printable(row[i])
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

// facts writes names and values, one pair a line; a pair without a value is left out.
func facts(w io.Writer, pairs [][2]string) error {
	var rows [][]string
	for _, p := range pairs {
		if p[1] != "" {
			rows = append(rows, []string{p[0] + ":", p[1]})
		}
	}
	return table(w, rows)
}

// printable shows what a terminal would act upon, or not show, as an escape.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// age says how long ago something was, to the unit that matters.
func age(since time.Time) string {
	if since.IsZero() {
		return ""
	}
	d := time.Since(since)
	switch {
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.RFC3339)
}

// runsOf names the runs of a row; calls without a run are one run, absent.
func runsOf(runs []string) string {
	if len(runs) == 0 {
		return "absent"
	}
	named := make([]string, len(runs))
	for i, run := range runs {
		named[i] = orWord(run, "absent")
	}
	return strings.Join(named, ", ")
}

// compact gives JSON on one line, its numbers and strings as they are written.
func compact(v json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, v); err != nil {
		return string(v)
	}
	return b.String()
}
