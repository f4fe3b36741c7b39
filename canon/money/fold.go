package money

import "unicode/utf8"

// maxText is the longest text, in bytes, that is read as money. Longer ones are prose.
const maxText = 64

// maxLetters is the most ASCII letters that an amount has: a code and the longest unit.
const maxLetters = codeWidth + maxUnit

// kind is what a byte may be in a text of money.
type kind uint8

const (
	impossible kind = iota
	digit
	separator // . , ' or a space, in a number or between its neighbours
	minus
	open
	closing
	letter // of a code or a unit; also $ and /, which stand in units alone
	high   // of a rune beyond ASCII: a symbol, a space, an apostrophe, a minus
)

// kinds is the kind of every byte. An ASCII byte that is not here makes a text impossible as money.
var kinds = func() (k [256]kind) {
	for c := range k {
		switch {
		case '0' <= c && c <= '9':
			k[c] = digit
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '$', c == '/':
			k[c] = letter
		case c >= utf8.RuneSelf:
			k[c] = high
		case c == '.', c == ',', c == '\'', c == ' ', c == '\t', c == '\n', c == '\r':
			k[c] = separator
		}
	}
	k['-'], k['('], k[')'] = minus, open, closing
	return k
}()

// plausible says, before anything else is done with a text, whether it could be money at all: short, no byte that money
// does not have, digits in one place only, and a unit unless digits alone will do. Nearly every string of a body ends
// here, after a few bytes.
func plausible(text string, bare bool) bool {
	if len(text) > maxText {
		return false
	}
	letters, unit, digits, behind := 0, false, false, false
	for i := 0; i < len(text); i++ {
		switch kinds[text[i]] {
		case impossible:
			return false
		case digit:
			if behind {
				return false
			}
			digits = true
		case letter:
			if letters++; letters > maxLetters {
				return false
			}
			unit = true
			behind = digits
		case high:
			unit = true
		case minus, closing:
			behind = digits
		}
	}
	return digits && (unit || bare)
}

// folded is a text in which all spellings of a space, a minus and an apostrophe are one, spaces are single, and
// direction marks and outer white space are gone.
type folded struct {
	text  [maxText]byte
	from  [maxText]uint8 // where each byte stood in the text as written
	size  int
	place int  // how far it is read
	loose bool // white space went that a plain spelling does not have: outside, line ends, runs
}

// fold fills f. False where there is white space inside that no number format has.
func (f *folded) fold(text string) bool {
	line := false // a tab or line break behind what is there so far: at the end only
	for i := 0; i < len(text); {
		r, width := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRuneInString(text[i:])
		}
		switch r {
		case '\u200e', '\u200f', '\u061c': // left-to-right, right-to-left and Arabic letter mark
		case '\t', '\n', '\r':
			line, f.loose = f.size > 0, true
		case ' ', '\u00a0', '\u202f', '\u2009': // also no-break, narrow no-break and thin space
			if f.size > 0 && f.text[f.size-1] != ' ' {
				f.put(' ', i)
			} else {
				f.loose = true
			}
		default:
			if line {
				return false
			}
			switch r {
			case '\u2212':
				f.put('-', i)
			case '\u2019':
				f.put('\'', i)
			default:
				for at := i; at < i+width; at++ {
					f.put(text[at], at)
				}
			}
		}
		i += width
	}
	if f.size > 0 && f.text[f.size-1] == ' ' {
		f.size--
		f.loose = true
	}
	return true
}

func (f *folded) put(c byte, from int) {
	f.text[f.size], f.from[f.size] = c, uint8(from)
	f.size++
}
