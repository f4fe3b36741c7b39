package policy

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Mistake is one thing that is wrong with a configuration.
type Mistake struct {
	Pointer string // RFC 6901 into the configuration; empty: the whole of it
	Value   string // as JSON, abbreviated; empty where there is none to show
	Detail  string // what is wrong with it, and what would be right
}

// String is the mistake as one line: `/calls/0/wait: "soon" is not a duration; write it like "500ms" or "30s"`.
func (m Mistake) String() string {
	var parts []string
	if m.Value != "" {
		parts = append(parts, m.Value)
	}
	text := strings.Join(append(parts, m.Detail), " ")
	if m.Pointer == "" {
		return text
	}
	return m.Pointer + ": " + text
}

// Error refuses a configuration. It has every mistake, in the order of the documentation.
type Error struct{ Mistakes []Mistake }

// Error lists the mistakes, one a line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("the plugin configuration is refused")
	if n := len(e.Mistakes); n > 1 {
		b.WriteString(" (" + strconv.Itoa(n) + " mistakes)")
	}
	for _, m := range e.Mistakes {
		b.WriteString("\n" + m.String())
	}
	return b.String()
}

// shownBytes is how much of a value a mistake shows.
const shownBytes = 80

// quoted is a text as JSON, abbreviated.
func quoted(text string) string {
	if len(text) > shownBytes {
		cut := shownBytes
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil { // text that is not UTF-8, from the environment
		return strconv.QuoteToASCII(text)
	}
	return string(b)
}

// list writes alternatives: `a, b or c`.
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return "nothing"
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
}

// quotedList writes alternatives as JSON texts: `"a", "b" or "c"`.
func quotedList(words []string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = quoted(w)
	}
	return list(q)
}
