package canon

import "strconv"

// numberLimit says what is wrong with a JSON number that the decoder took; empty: nothing.
func numberLimit(literal string) string {
	length := len(literal)
	for i := len(literal) - 1; i > 0; i-- {
		if c := literal[i]; c != 'e' && c != 'E' {
			continue
		}
		n, ok := exponent(literal[i+1:])
		if !ok || n > MaxExponent || n < -MaxExponent {
			return "the number's exponent is beyond 400"
		}
		length = i + max(n, -n)
		break
	}
	if length > MaxNumber {
		return "the number has more than 4096 digits"
	}
	return ""
}

// exponent reads the digits behind an e. ok is false where they are beyond every limit.
func exponent(text string) (n int, ok bool) {
	negative := text[0] == '-'
	if text[0] == '-' || text[0] == '+' {
		text = text[1:]
	}
	for i := range len(text) {
		if n = n*10 + int(text[i]-'0'); n > 1<<20 {
			return 0, false
		}
	}
	if negative {
		n = -n
	}
	return n, true
}

// appendNumber writes a JSON number in the one form of its exact decimal value: laid out as ECMAScript lays out a
// Number (RFC 8785, section 3.2.2.3), with every digit kept. Beyond the exponents that a body may have, the digits are
// shifted until the exponent is the last one allowed, so that what is written can be read again and is no longer than
// what was read.
func appendNumber(dst []byte, literal string) []byte {
	if isPlainInteger(literal) {
		return append(dst, literal...)
	}
	rest := literal
	negative := rest[0] == '-'
	if negative {
		rest = rest[1:]
	}
	exp := 0
	for i := range len(rest) {
		if rest[i] == 'e' || rest[i] == 'E' {
			exp, _ = exponent(rest[i+1:])
			rest = rest[:i]
			break
		}
	}
	// The value is 0.d1d2d3… × 10^point, where the d are the digits without zeros at either end.
	start := len(dst)
	if negative {
		dst = append(dst, '-')
	}
	first := len(dst)
	point, seen := 0, false
	for i := range len(rest) {
		switch c := rest[i]; {
		case c == '.':
			seen = true
		case c == '0' && len(dst) == first: // a leading zero
			if seen {
				point--
			}
		default:
			dst = append(dst, c)
			if !seen {
				point++
			}
		}
	}
	for len(dst) > first && dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	n := len(dst) - first
	if n == 0 {
		return append(dst[:start], '0') // so is -0
	}
	point += exp
	switch e := point - 1; {
	case n <= point && e > MaxExponent: // 12e+400
		exp = min(point-n, MaxExponent)
		dst = appendZeros(dst, point-n-exp)
		if exp == 0 {
			return dst
		}
		return strconv.AppendInt(append(dst, "e+"...), int64(exp), 10)
	case n <= point && point <= 21: // 1200
		return appendZeros(dst, point-n)
	case 0 < point && point < n && (point <= 21 || e > MaxExponent): // 12.5
		return insert(dst, first+point, ".")
	case -6 < point && point <= 0: // 0.0125
		return leadingZeros(dst, first, -point)
	case e < -MaxExponent: // 0.12e-400
		dst = leadingZeros(dst, first, -MaxExponent-point)
		return strconv.AppendInt(append(dst, 'e'), -MaxExponent, 10)
	default: // 1.25e+21
		if n > 1 {
			dst = insert(dst, first+1, ".")
		}
		dst = append(dst, 'e')
		if e > 0 {
			dst = append(dst, '+')
		}
		return strconv.AppendInt(dst, int64(e), 10)
	}
}

// leadingZeros puts "0." and so many zeros before the digits that begin at first.
func leadingZeros(dst []byte, first, zeros int) []byte {
	n := len(dst) - first
	dst = appendZeros(dst, zeros+2)
	copy(dst[first+2+zeros:], dst[first:first+n])
	for i := first; i < first+2+zeros; i++ {
		dst[i] = '0'
	}
	dst[first+1] = '.'
	return dst
}

// isPlainInteger says whether an integer is written in its one form already: the usual case.
func isPlainInteger(literal string) bool {
	if len(literal) > 21 || literal == "-0" {
		return false
	}
	for i := range len(literal) {
		if c := literal[i]; (c < '0' || c > '9') && (i > 0 || c != '-') {
			return false
		}
	}
	return true
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

func insert(dst []byte, at int, text string) []byte {
	dst = append(dst, text...)
	copy(dst[at+len(text):], dst[at:])
	copy(dst[at:], text)
	return dst
}
