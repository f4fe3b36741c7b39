package money

// Field is where a text stands.
type Field struct {
	Beside string // the ISO 4217 code that the object around it names, in upper case; what is no code counts as none
	Money  bool   // it is a money field: every spelling of the grammar is read, not the plain ones alone
	Bare   bool   // digits alone are money too
	Minor  bool   // digits alone count minor units
}

// ParseText reads a string as an amount by the grammar in the package comment. Every Reason but Read comes with an empty
// Amount, and means that the text, and a currency that it contradicts, stay as they were written.
//
// It is called on every string of every body: what is no money is left after a few bytes, and nothing is allocated. The
// Amount refers to text.
func ParseText(text string, field Field, symbols Symbols) (Amount, Reason) {
	beside, bare := field.Beside, field.Bare
	if !plausible(text, bare) {
		return Amount{}, NotMoney
	}
	var f folded
	if !f.fold(text) {
		return Amount{}, NotMoney
	}
	parts, ok := f.split()
	if !ok {
		return Amount{}, NotMoney
	}
	decimals, besideKnown := Decimals(beside)
	if !besideKnown {
		beside = ""
	}
	var named names
	if !named.read(f.bytes(parts.before), false, beside, symbols) || !named.read(f.bytes(parts.after), true, beside, symbols) {
		return Amount{}, NotMoney
	}
	if named.unitless() && (!bare || f.zeroed(parts)) || !bare && f.identifier(parts, named.code != "") {
		return Amount{}, NotMoney
	}
	currency, reason := named.currency(beside)
	if reason != Read {
		return Amount{}, reason
	}
	if currency != beside {
		decimals, _ = Decimals(currency)
	}
	switch {
	case named.unitless():
		named.unit.minor = field.Minor
	case field.Minor && !named.unit.minor && decimals > 0:
		return Amount{}, MixedUnits
	}
	if named.unit.minor {
		decimals = 0
	}
	mark, reason := numeral(f.bytes(parts.number), decimals == 3)
	if reason != Read {
		return Amount{}, reason
	}
	if !field.Money && beside == "" && (f.loose || parts.loose || !named.hasUnit && isWordToo(named.code)) {
		return Amount{}, NotPlain
	}
	number := Decimal{negative: parts.minus, shift: decimals}
	from, to := f.written(parts.number)
	if mark < 0 {
		number.whole = text[from:to]
	} else {
		at := int(f.from[parts.number.from+mark])
		number.whole, number.fraction = text[from:at], text[at:to]
	}
	return Amount{Minor: number, Currency: currency}, Read
}

// names is what the two sides of a number say about its currency: at most one code, and at most one other unit.
type names struct {
	code    string
	unit    unit
	hasUnit bool
}

func (n *names) unitless() bool { return n.code == "" && !n.hasUnit }

// read takes in what stands at one side of a number: a unit, a code, or both, the unit next to the number (USD $12,
// 12 $ USD, 1200 cents USD). False where it is none of these or says twice what was said already.
func (n *names) read(text []byte, after bool, beside string, symbols Symbols) bool {
	if len(text) == 0 {
		return true
	}
	if _, ruled := symbols[string(text)]; !ruled {
		if code, ok := codeIn(text, beside); ok {
			return n.addCode(code)
		}
	}
	if known, ok := symbols.unit(text); ok {
		return n.addUnit(known, after)
	}
	if len(text) <= codeWidth {
		return false
	}
	code, rest := text[:codeWidth], text[codeWidth:]
	if after {
		code, rest = text[len(text)-codeWidth:], text[:len(text)-codeWidth]
		if rest[len(rest)-1] == ' ' {
			rest = rest[:len(rest)-1]
		}
	} else if rest[0] == ' ' {
		rest = rest[1:]
	}
	known, ok := symbols.unit(rest)
	named, isCode := codeIn(code, beside)
	return ok && isCode && n.addUnit(known, after) && n.addCode(named)
}

func (n *names) addUnit(u unit, after bool) bool {
	if n.hasUnit || u.minor && !after {
		return false
	}
	n.unit, n.hasUnit = u, true
	return true
}

func (n *names) addCode(code string) bool {
	if n.code != "" {
		return false
	}
	n.code = code
	return true
}

// codeIn is the code that text is: in upper case, or, in any case, the one that stands beside it.
func codeIn(text []byte, beside string) (string, bool) {
	if len(text) != codeWidth {
		return "", false
	}
	code, ok := FoldCode(string(text))
	return code, ok && (code == beside || code == string(text))
}

// currency is the one that all that was named agrees on. A contradiction is never resolved by a guess.
func (n *names) currency(beside string) (string, Reason) {
	if n.unitless() {
		if beside == "" {
			return "", NoCurrency
		}
		return beside, Read
	}
	named := n.code
	if n.hasUnit {
		nearest := n.code
		if nearest == "" {
			nearest = beside
		}
		var reason Reason
		if named, reason = n.unit.in(nearest); reason != Read {
			return "", reason
		}
	}
	if beside != "" && beside != named {
		return "", Contradicts
	}
	return named, Read
}
