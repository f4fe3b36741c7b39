package canon

import (
	"slices"

	"idem/canon/money"
)

// currency is what an object says about the money in it.
type currency struct {
	code    string // the ISO 4217 code that it names; empty: none
	blocked bool   // it names what is no code, or two: its money stays as it is written
	at      int32  // the field that names it; 0: none
}

// currencyOf reads the currency fields of an object.
func (r *reading) currencyOf(i int32) (of currency) {
	fields := 0
	for c := i + 1; c < r.values[i].next; c = r.values[c].next {
		m := &r.values[c]
		if m.known != currencyName || m.gone != counts || m.kind == 'n' || m.kind == '"' && m.text == "" {
			continue
		}
		fields++
		of.at = c
		code, ok := "", false
		if m.kind == '"' {
			code, ok = money.FoldCode(m.text)
		}
		of.code, of.blocked = code, of.blocked || !ok
	}
	if fields > 1 {
		of.blocked = true
	}
	if of.blocked {
		of.code = ""
	}
	return of
}

// codeOf gives the code of a currency that was taken in.
func codeOf(v *value) string {
	code, _ := money.FoldCode(v.text)
	return code
}

// around is what an array's texts have around them.
type around struct {
	currency
	field bool // the array's field is one of money
}

// readMoney finds the money in a value. root is set for the args and for what stands beside them, which are no amounts
// themselves. kept says that some text in an array looked like money and was not read, so that the currency around it
// must stay.
func (r *reading) readMoney(i int32, in around, root bool) (kept bool) {
	switch v := &r.values[i]; v.kind {
	case '"':
		if !in.blocked && !root && !v.verbatim {
			r.readText(v, money.Field{Beside: in.code, Money: in.field})
		}
		return v.reason > money.Read
	case '[':
		for c := i + 1; c < v.next; c = r.values[c].next {
			switch r.values[c].kind {
			case '{':
				r.readMoney(c, around{}, false)
			case '[', '"':
				kept = r.readMoney(c, in, false) || kept
			}
		}
		return kept
	case '{':
		r.readMembers(i, root)
	}
	return false
}

// readMembers finds the money among the members of an object and below it.
func (r *reading) readMembers(i int32, root bool) {
	of := r.currencyOf(i)
	end := r.values[i].next
	amounts, scalars, members := 0, 0, 0
	for c := i + 1; c < end; c = r.values[c].next {
		m := &r.values[c]
		if m.gone != counts {
			continue
		}
		members++
		if m.known.isAmount() {
			amounts++
		}
		if m.kind != '{' && m.kind != '[' && m.known != currencyName {
			scalars++
		}
	}
	read, kept := int32(0), false
	for c := i + 1; c < end; c = r.values[c].next {
		m := &r.values[c]
		if m.gone != counts {
			continue
		}
		switch m.kind {
		case '{':
			r.readMoney(c, around{}, false)
		case '[':
			kept = r.readMoney(c, around{of, m.known.isMoney() || m.rule > 0}, false) || kept
		case '"', '0':
			if m.known == currencyName {
				continue
			}
			field := r.fieldOf(m, of, scalars)
			if field.Bare && amounts > 1 && m.known.isAmount() {
				m.reason, kept = money.TwoReadings, true
				continue
			}
			if r.readMember(m, of, field) {
				// An object has one field amount in its canonical form, or each keeps the name that it has.
				m.minor = m.rule == 0 && amounts == 1 && (m.known == minorName || m.known == centsName)
				if of.code != "" && r.amounts.at(m.money-1).Currency == of.code {
					read = c
				}
			}
			kept = kept || m.reason > money.Read
		}
	}
	if read == 0 || kept {
		return
	}
	r.values[of.at].gone, r.values[i].took = taken, of.at
	if m := &r.values[read]; members == 2 && !root {
		if m.known.isAmount() || m.known == valueName { // {value, currency} is the amount itself
			r.values[i].money, m.money, m.gone = m.money, 0, taken
		}
	}
}

// fieldOf says what the name of a member, and the currency beside it, make of its text. scalars counts the members of
// its object that are neither objects nor arrays nor the currency.
func (r *reading) fieldOf(m *value, of currency, scalars int) money.Field {
	if m.rule > 0 {
		ruled := &r.rule.money[m.rule-1]
		code := of.code
		if code == "" {
			code = ruled.currency
		}
		return money.Field{Beside: code, Money: true, Bare: code != "", Minor: ruled.minor}
	}
	field := money.Field{Beside: of.code}
	switch m.known {
	case amountName, moneyName:
		field.Money = true
		field.Bare, _ = money.NameAmount.Bare(of.code)
	case minorName:
		field.Money, field.Minor = true, true
		field.Bare, _ = money.NameMinor.Bare(of.code)
	case centsName:
		field.Money, field.Minor = true, true
		field.Bare, _ = money.NameCents.Bare(of.code)
	case inMinorName:
		field.Money, field.Minor = true, true
	case valueName:
		if scalars == 1 {
			field.Bare, _ = money.NameValue.Bare(of.code)
			field.Money = field.Bare
		}
	}
	return field
}

// readMember reads a string or a number as money. It says whether it is.
func (r *reading) readMember(m *value, of currency, field money.Field) bool {
	if m.rule > 0 && r.rule.money[m.rule-1].currency != "" &&
		(of.blocked || of.code != "" && of.code != r.rule.money[m.rule-1].currency) {
		m.reason = money.Contradicts
		return false
	}
	switch {
	case of.blocked || m.verbatim:
		return false
	case m.kind == '"':
		r.readText(m, field)
	case field.Bare:
		if amount, ok := money.FromNumber(m.text, field.Beside, field.Minor); ok {
			r.keep(m, amount)
		} else {
			m.reason = money.OutOfScale
		}
	}
	if m.money == 0 {
		if m.reason == money.NotMoney && !field.Bare && m.known == centsName && field.Beside != "" {
			m.reason = money.Contradicts // cents of a currency that has none
		}
		return false
	}
	return true
}

// readText reads a string as money.
func (r *reading) readText(v *value, field money.Field) {
	amount, reason := money.ParseText(v.text, field, r.rule.symbols)
	v.reason = reason
	if reason == money.Read {
		r.keep(v, amount)
		v.elastic = !field.Money
	}
}

func (r *reading) keep(v *value, amount money.Amount) {
	r.amounts.add(amount)
	v.money, v.reason = int32(r.amounts.n), money.Read
}

// amounts is a list that grows without a copy of what is in it: a body may hold a hundred thousand.
type amounts struct {
	chunks []*[chunk]money.Amount
	n      int
}

const chunk = 64

func (a *amounts) add(one money.Amount) {
	if a.n == chunk*len(a.chunks) {
		a.chunks = doubled(a.chunks, new([chunk]money.Amount))
	}
	a.chunks[a.n/chunk][a.n%chunk] = one
	a.n++
}

func (a *amounts) at(i int32) *money.Amount { return &a.chunks[i/chunk][i%chunk] }

// empty lets go of the amounts, and of the memory beyond what most bodies need.
func (a *amounts) empty() {
	const usual = 128
	a.chunks = a.chunks[:min(len(a.chunks), usual)]
	for i := 0; i*chunk < a.n && i < len(a.chunks); i++ {
		clear(a.chunks[i][:])
	}
	if cap(a.chunks) > usual {
		a.chunks = slices.Clip(slices.Clone(a.chunks))
	}
	a.n = 0
}
