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

// letters is how many letters a code is made of.
const letters = 26

// rows is for every three letters one more than the row in table, or 0.
var rows = func() (index [letters * letters * letters]uint8) {
	for row := 0; row < len(table); row += rowWidth {
		index[place(table[row:])] = uint8(row/rowWidth + 1)
	}
	return index
}()

// place is where three upper-case letters stand in rows.
func place(code string) int {
	return (int(code[0]-'A')*letters+int(code[1]-'A'))*letters + int(code[2]-'A')
}

// rowOf is where the row of code starts in table; negative where there is none.
func rowOf(code string) int {
	if len(code) != codeWidth || !isUpper(code[0]) || !isUpper(code[1]) || !isUpper(code[2]) {
		return -1
	}
	return (int(rows[place(code)]) - 1) * rowWidth
}
