package main

import (
	"fmt"
	"io"
	"strings"

	"idem/ledgerd/explain"
)

// A comparison fits one screen of this size, for whatever two bodies; --all shows the rest.
const (
	screenWidth = 120 // characters; it has at most 40 lines, by the bounds below

	mostRows     = 10 // differences
	mostSettings = 2
	mostNotes    = 2
	widestPlace  = 24
	widestSide   = 22
)

// showPair writes what matters of a comparison: the verdict, the differences, first those that count, and what the two
// are. Steps and canonical forms are left to --all and --json.
func showPair(w io.Writer, r explain.Report, names []string) error {
	s := &screen{}
	s.text(r.Verdict, 4)
	s.line("")
	if len(r.Differences) > 0 {
		s.differences(r.Differences, names)
		s.line("")
	}
	s.form(names[0], r.A)
	s.line("")
	s.form(names[1], *r.B)
	if len(r.Notes) > 0 || !r.Keyed {
		s.line("")
	}
	for _, note := range r.Notes[:min(len(r.Notes), mostNotes)] {
		s.text(note, 2)
	}
	if !r.Keyed {
		s.text("Made without the deployment's key: the fingerprints are not the filter's; whether two are equal is the same.", 1)
	}
	s.line("Each step and the canonical forms: --all, or --json.")
	_, err := io.WriteString(w, s.String())
	return err
}

// screen collects lines that are not wider than a screen.
type screen struct{ strings.Builder }

func (s *screen) line(text string) {
	s.WriteString(strings.TrimRight(cut(printable(text), screenWidth), " ") + "\n")
}

// text writes a text in so many lines at most, broken between words.
func (s *screen) text(text string, lines int) {
	for rest := printable(text); rest != ""; lines-- {
		line := []rune(rest)
		if len(line) <= screenWidth || lines <= 1 {
			s.line(rest)
			return
		}
		end := strings.LastIndexByte(string(line[:screenWidth+1]), ' ')
		if end <= 0 {
			end = len(string(line[:screenWidth]))
		}
		s.line(rest[:end])
		rest = strings.TrimLeft(rest[end:], " ")
	}
}

func (s *screen) differences(found []explain.Difference, names []string) {
	rows := [][]string{{"WHERE", cutFront(names[0], widestSide), cutFront(names[1], widestSide), "COUNTS", "WHY"}}
	var settings []string
	for _, d := range found[:min(len(found), mostRows)] {
		a, b := sides(d.A, d.B)
		at := place(d.Part, d.Pointer)
		rows = append(rows, []string{cutFront(printable(at), widestPlace), a, b, yesNo(d.Counts), d.Why})
		if d.Setting != "" && len(settings) < mostSettings {
			settings = append(settings, at+" would not count: in the rule, "+d.Setting)
		}
	}
	widths := make([]int, len(rows[0])-1) // the last column takes what is left
	for _, row := range rows {
		for i := range widths {
			row[i] = printable(row[i])
			widths[i] = max(widths[i], len([]rune(row[i])))
		}
	}
	for _, row := range rows {
		line := ""
		for i, width := range widths {
			line += row[i] + strings.Repeat(" ", width-len([]rune(row[i]))+2)
		}
		s.line(line + row[len(widths)])
	}
	if more := len(found) - mostRows; more > 0 {
		s.line(fmt.Sprintf("… and %d more (--all)", more))
	}
	for _, setting := range settings {
		s.text(setting, 2)
	}
}

func (s *screen) form(name string, f explain.Form) {
	s.line(name)
	if p := f.Problem; p != nil {
		s.line("  refused: " + p.Code)
		where := ""
		if p.Pointer != "" {
			where = " at " + p.Pointer
		}
		if p.Offset >= 0 {
			where += fmt.Sprintf(" (byte %d)", p.Offset)
		}
		s.text("  "+p.Detail+where, 3)
		return
	}
	intent := f.Intent
	if !f.Shared {
		intent = "the fingerprint itself: customer or amount is missing"
	}
	s.line("  fingerprint:  " + f.Fingerprint)
	s.line("  intent:       " + intent)
	s.line("  read as:      tool " + cut(orWord(f.Tool, "unknown"), 30) + ", run " + cut(orWord(f.Run, "absent"), 36) + ", by rule " + cut(f.Rule, 24))
	if f.Customer != nil || f.Amount != nil {
		s.line("  customer:     " + cut(orWord(string(f.Customer), "none"), 44) + ", amount: " + orWord(string(f.Amount), "none"))
	}
}

// sides gives both sides of a difference. Where they are too long, what is shown begins before they part.
func sides(a, b string) (string, string) {
	x, y := []rune(printable(orWord(a, "not there"))), []rune(printable(orWord(b, "not there")))
	if len(x) <= widestSide && len(y) <= widestSide {
		return string(x), string(y)
	}
	same := 0
	for same < len(x) && same < len(y) && x[same] == y[same] {
		same++
	}
	const before = 4
	if same+before < widestSide {
		return cut(string(x), widestSide), cut(string(y), widestSide)
	}
	from := max(0, min(same-before, max(len(x), len(y))-widestSide+1))
	return cut("…"+string(x[from:]), widestSide), cut("…"+string(y[from:]), widestSide)
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// cutFront keeps a text's end.
func cutFront(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return "…" + string(runes[len(runes)-most+1:])
	}
	return text
}
