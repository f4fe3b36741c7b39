package money

// maxExponent bounds the exponent of a number literal.
const maxExponent = 400

// maxScale bounds how many zeros stand between the digits of an amount in minor units and its decimal point: as many as
// the longest text has. What is further away is no sum of money, and would only be written out as zeros.
const maxScale = maxText + 4

// FromNumber reads a JSON number literal (RFC 8259, section 6) as an amount of currency: of its major units, or, where
// minor is set, of its minor units. It is exact: 12, 12.0 and 1.2e1 are one, and 1.234 beside USD is 123.4 cents; in a
// JSON number a point is never a group's. False where literal is no JSON number, its exponent is beyond ±400, its
// digits are more than 68 places from the decimal point, or currency is no code.
func FromNumber(literal string, currency string, minor bool) (Amount, bool) {
	decimals, ok := Decimals(currency)
	if !ok {
		return Amount{}, false
	}
	number := Decimal{}
	rest := literal
	if rest != "" && rest[0] == '-' {
		number.negative = true
		rest = rest[1:]
	}
	number.whole, rest = leadingDigits(rest)
	if number.whole == "" || number.whole[0] == '0' && len(number.whole) > 1 {
		return Amount{}, false
	}
	if rest != "" && rest[0] == '.' {
		number.fraction, rest = leadingDigits(rest[1:])
		if number.fraction == "" {
			return Amount{}, false
		}
	}
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		if number.shift, ok = exponent(rest[1:]); !ok {
			return Amount{}, false
		}
		rest = ""
	}
	if rest != "" {
		return Amount{}, false
	}
	if !minor {
		number.shift += decimals
	}
	if number.zeros() > maxScale {
		return Amount{}, false
	}
	return Amount{Minor: number, Currency: currency}, true
}

// leadingDigits cuts text after the digits that it starts with.
func leadingDigits(text string) (digits, rest string) {
	end := 0
	for end < len(text) && isDigit(text[end]) {
		end++
	}
	return text[:end], text[end:]
}

// exponent reads what follows the e of a literal. False where that is no integer of at most maxExponent.
func exponent(text string) (int, bool) {
	negative := false
	if text != "" && (text[0] == '+' || text[0] == '-') {
		negative = text[0] == '-'
		text = text[1:]
	}
	if text == "" {
		return 0, false
	}
	value := 0
	for i := 0; i < len(text); i++ {
		if !isDigit(text[i]) {
			return 0, false
		}
		if value = value*10 + int(text[i]-'0'); value > maxExponent {
			return 0, false
		}
	}
	if negative {
		value = -value
	}
	return value, true
}
