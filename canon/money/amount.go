package money

// Amount is one sum of money: an exact number of minor units (cents, yen, fils) of one currency. It may keep the text
// that it was read from. Two amounts are one exactly when AppendJSON gives the same bytes.
type Amount struct {
	Minor    Decimal
	Currency string // ISO 4217 alphabetic code, upper case
}

// AppendJSON appends the canonical form, {"amount_minor":1200,"currency":"USD"}. What is finer than a minor unit stays
// an exact decimal: 1234.56. No surplus zeros, no exponent, no negative zero.
func (a Amount) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"amount_minor":`...)
	dst = a.Minor.AppendText(dst)
	dst = append(dst, `,"currency":"`...)
	dst = append(dst, a.Currency...)
	return append(dst, `"}`...)
}

// Decimal is an exact decimal number. The zero value is 0.
//
// It refers to the digits where they were written, so that reading an amount allocates nothing: its value is
// whole.fraction × 10^shift, where whatever is no digit in the two (1,234) does not count.
type Decimal struct {
	negative        bool
	whole, fraction string
	shift           int
}

// String is the number as AppendText writes it.
func (d Decimal) String() string {
	return string(d.AppendText(nil))
}

// AppendText appends the number in its one canonical spelling: an optional minus, digits without leading zeros, and,
// where there is a fraction, a point and digits without trailing zeros. Zero is 0.
func (d Decimal) AppendText(dst []byte) []byte {
	wholes, first, last := significant(d.whole, 0, -1, -1)
	_, first, last = significant(d.fraction, wholes, first, last)
	if first < 0 {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	point := wholes + d.shift // the point stands before the digit with this index
	if point <= first {
		dst = append(dst, '0', '.')
		dst = appendZeros(dst, first-point)
		return d.appendDigits(dst, first, last+1)
	}
	dst = d.appendDigits(dst, first, min(point, last+1))
	if last < point {
		return appendZeros(dst, point-1-last)
	}
	dst = append(dst, '.')
	return d.appendDigits(dst, point, last+1)
}

// zeros is how many zeros AppendText writes between the digits and the decimal point, or the end of a whole number; 0
// where they are too few to matter.
func (d Decimal) zeros() int {
	if len(d.whole)+d.shift <= maxScale && len(d.fraction)-d.shift <= maxScale {
		return 0 // too few to matter, as nearly always
	}
	wholes, first, last := significant(d.whole, 0, -1, -1)
	_, first, last = significant(d.fraction, wholes, first, last)
	if first < 0 {
		return 0
	}
	return max(wholes+d.shift-1-last, first-wholes-d.shift)
}

// significant counts on from index through the digits of text, and gives the indexes of the first and the last digit
// that is not 0; first and last are those found so far, or -1.
func significant(text string, index, first, last int) (int, int, int) {
	for i := 0; i < len(text); i++ {
		if !isDigit(text[i]) {
			continue
		}
		if text[i] != '0' {
			last = index
			if first < 0 {
				first = index
			}
		}
		index++
	}
	return index, first, last
}

// appendDigits appends the digits with the indexes from up to, not including, to.
func (d Decimal) appendDigits(dst []byte, from, to int) []byte {
	index := 0
	for _, part := range [2]string{d.whole, d.fraction} {
		for i := 0; i < len(part) && index < to; i++ {
			if !isDigit(part[i]) {
				continue
			}
			if index >= from {
				dst = append(dst, part[i])
			}
			index++
		}
	}
	return dst
}

func appendZeros(dst []byte, n int) []byte {
	for ; n > 0; n-- {
		dst = append(dst, '0')
	}
	return dst
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
