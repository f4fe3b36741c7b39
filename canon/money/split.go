package money

// span is a part of a folded text.
type span struct{ from, to int }

// parts are the parts of a folded text of money.
type parts struct {
	before, number, after span
	minus                 bool // one minus, or parentheses
	loose                 bool // it is written as money is in accounts, but not only money
}

// split finds the parts. False where the text does not have them.
//
// A minus may stand first, before the number or right behind it, and parentheses around the number alone or around all
// of it; but one of these only.
func (f *folded) split() (parts, bool) {
	var p parts
	minuses := 0
	if f.eat('-') {
		minuses++
		p.loose = f.eat(' ') // - $12 may be an item of a list
	}
	around := f.eat('(')
	p.before = f.unit()
	f.eat(' ')
	inside := p.before.to > p.before.from && f.eat('(')
	if around && inside {
		return p, false
	}
	if around || inside {
		minuses++
		p.loose = true
	}
	if f.eat('-') {
		minuses++
	}
	p.number = f.number()
	if p.number.from == p.number.to {
		return p, false
	}
	if f.zeroed(p) || f.next() == '$' {
		p.loose = true // $01, and 1$, which is a pattern's end
	}
	if f.eat('-') {
		minuses++
		p.loose = true
	}
	closed := (around || inside) && f.eat(')')
	if inside && !closed {
		return p, false
	}
	f.eat(' ')
	p.after = f.unit()
	if around && !closed && !f.eat(')') {
		return p, false
	}
	p.minus = minuses == 1
	return p, f.place == f.size && minuses <= 1
}

// identifier reports whether a whole number and its unit are written as article numbers are and money is not: leading
// zeros beside a code (TOP 007), or a letter, a dash and bare digits that touch (PEN-12, 12-USD).
func (f *folded) identifier(p parts, code bool) bool {
	if code && f.zeroed(p) {
		return true
	}
	for _, c := range f.bytes(p.number) {
		if !isDigit(c) {
			return false
		}
	}
	before, after := p.number.from, p.number.to
	return before > 1 && f.text[before-1] == '-' && kinds[f.text[before-2]] == letter && f.text[before-2] != '$' ||
		after < f.size-1 && f.text[after] == '-' && kinds[f.text[after+1]] == letter && f.text[after+1] != '$'
}

// zeroed reports whether the number starts with a 0 and another digit. With nothing else beside it that is how numbers
// of things are written: charge 00123 is not charge 123.
func (f *folded) zeroed(p parts) bool {
	number := f.bytes(p.number)
	return len(number) > 1 && number[0] == '0' && isDigit(number[1])
}

// next is the byte that is read next, or 0 at the end.
func (f *folded) next() byte {
	if f.place == f.size {
		return 0
	}
	return f.text[f.place]
}

// eat reads c if it comes next.
func (f *folded) eat(c byte) bool {
	if f.next() != c {
		return false
	}
	f.place++
	return true
}

// unit reads what could be a unit and a code: everything up to a space before something else.
func (f *folded) unit() span {
	s := span{f.place, f.place}
	for i := f.place; i < f.size && (isUnit(f.text[i]) || f.text[i] == ' '); i++ {
		if f.text[i] != ' ' {
			s.to = i + 1
		}
	}
	if s.to > s.from {
		f.place = s.to
	}
	return s
}

// number reads digits with single separators between them.
func (f *folded) number() span {
	s := span{f.place, f.place}
	for i := f.place; i < f.size; i++ {
		c := f.text[i]
		if isDigit(c) {
			s.to = i + 1
		} else if kinds[c] != separator || s.to != i || i == s.from {
			break
		}
	}
	f.place = s.to
	return s
}

func (f *folded) bytes(s span) []byte { return f.text[s.from:s.to] }

// written is where a part that is not empty stood in the text as written: from its first byte to behind its last.
func (f *folded) written(s span) (from, to int) {
	return int(f.from[s.from]), int(f.from[s.to-1]) + 1
}
