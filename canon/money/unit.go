package money

// maxUnit is the longest unit, in bytes.
const maxUnit = 16

// Symbols are a rule's own units: a symbol or a minor-unit word, as it is written, to the ISO 4217 code that it means
// where nothing beside it says otherwise. The empty code leaves texts with this unit raw. A unit that the grammar does
// not know becomes one of major units. A code may stand here as well, to leave it raw.
type Symbols map[string]string

// IsSymbol reports whether text can be a key of Symbols: one to 16 bytes of letters, `$`, `/`, `.` (not first) and
// anything beyond ASCII; single spaces inside.
func IsSymbol(text string) bool {
	if text == "" || len(text) > maxUnit || text[0] == '.' {
		return false
	}
	for i := 0; i < len(text); i++ {
		last := i == len(text)-1
		if !isUnit(text[i]) && !(text[i] == ' ' && i > 0 && !last && text[i-1] != ' ') {
			return false
		}
	}
	var f folded
	return f.fold(text) && string(f.text[:f.size]) == text
}

func isUnit(c byte) bool {
	return kinds[c] == letter || kinds[c] == high || c == '.'
}

// unit is what stands beside a number and is no code.
type unit struct {
	codes string // the currencies that use it, one code after the other
	alone string // the one that it means where nothing names another; empty: none
	minor bool   // it counts minor units, and stands after the number only
	weak  bool   // letters that mean many things: money only beside one of codes
	raw   bool   // a rule says so
}

func (u unit) of(code string) bool {
	for i := 0; i < len(u.codes); i += codeWidth {
		if u.codes[i:i+codeWidth] == code {
			return true
		}
	}
	return u.alone == code
}

// in is the currency of the unit where beside is named ("" for none).
func (u unit) in(beside string) (string, Reason) {
	switch {
	case u.raw:
		return "", LeftRaw
	case beside != "" && u.of(beside):
		return beside, Read
	case beside == "" && u.alone != "":
		return u.alone, Read
	case u.weak:
		return "", NotMoney
	case beside != "":
		return "", Contradicts
	default:
		return "", NoCurrency
	}
}

// unit looks a unit up: in the rule's symbols, then in the tables.
func (s Symbols) unit(text []byte) (unit, bool) {
	if len(text) == 0 || len(text) > maxUnit {
		return unit{}, false
	}
	known, ok := find(symbolTable[:], &symbolIndex, text)
	if !ok {
		known, ok = findWord(text)
	}
	if len(s) == 0 {
		return known, ok
	}
	code, ruled := s[string(text)]
	if !ruled {
		return known, ok
	}
	if code, ruled = FoldCode(code); !ruled {
		return unit{raw: true}, true
	}
	known.alone, known.weak = code, false
	return known, true
}

// index is where the rows begin whose text begins with a byte, in a table that is in order.
type index [257]uint8

func indexOf(rows []row) (starts index) {
	for at, row := range rows {
		starts[int(row.text[0])+1] = uint8(at + 1)
	}
	for c := 1; c < len(starts); c++ {
		starts[c] = max(starts[c], starts[c-1])
	}
	return starts
}

var symbolIndex, wordIndex = indexOf(symbolTable[:]), indexOf(wordTable[:])

// find looks a text, which is not empty, up in rows, which are in order.
func find(rows []row, starts *index, text []byte) (unit, bool) {
	low, high := int(starts[text[0]]), int(starts[int(text[0])+1])
	if len(text) == 1 && low < high { // it is the first of those that begin with it
		high = low + 1
	}
	for low < high {
		middle := (low + high) / 2
		switch found := &rows[middle]; {
		case found.text == string(text):
			return found.unit, true
		case found.text < string(text):
			low = middle + 1
		default:
			high = middle
		}
	}
	return unit{}, false
}

// findWord looks text up in wordTable. The case of its ASCII letters does not matter.
func findWord(text []byte) (unit, bool) {
	var buffer [maxUnit]byte
	lower := buffer[:copy(buffer[:], text)]
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return find(wordTable[:], &wordIndex, lower)
}
