package money

// codeWidth and rowWidth are the widths of a code and of a row (code, digit) in table.
const (
	codeWidth = 3
	rowWidth  = codeWidth + 1
)

// IsCode reports whether code is a current ISO 4217 alphabetic code with minor units, in upper case.
func IsCode(code string) bool {
	return rowOf(code) >= 0
}

// Decimals is the number of decimal digits that ISO 4217 gives to the minor unit of a code in upper case: USD 2, JPY 0,
// KWD 3, CLF 4. False where code is none.
func Decimals(code string) (int, bool) {
	row := rowOf(code)
	if row < 0 {
		return 0, false
	}
	return int(table[row+codeWidth] - '0'), true
}

// FoldCode is the upper-case code of a code in any case, as a field beside an amount names it: `usd`, `Usd`. False where
// it is no code; nothing is trimmed. The result shares no memory with code.
func FoldCode(code string) (string, bool) {
	if len(code) != codeWidth {
		return "", false
	}
	var upper [codeWidth]byte
	for i := range upper {
		upper[i] = code[i]
		if 'a' <= upper[i] && upper[i] <= 'z' {
			upper[i] -= 'a' - 'A'
		}
	}
	row := rowOf(string(upper[:]))
	if row < 0 {
		return "", false
	}
	return table[row : row+codeWidth], true
}

// rowOf is where the row of code starts in table, or -1.
func rowOf(code string) int {
	if len(code) != codeWidth {
		return -1
	}
	low, high := 0, len(table)/rowWidth
	for low < high {
		middle := (low + high) / 2
		row := middle * rowWidth
		switch found := table[row : row+codeWidth]; {
		case found == code:
			return row
		case found < code:
			low = middle + 1
		default:
			high = middle
		}
	}
	return -1
}
