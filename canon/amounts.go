package canon

import "idem/canon/money"

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

// readMoney finds the money in a value. around is the currency of the object that an array stands in. root is set for
// the args and for what stands beside them, which are no amounts themselves. kept says that some text in an array looked like money and was not read,
// so that the currency around it must stay.
func (r *reading) readMoney(i int32, around currency, root bool) (kept bool) {
	switch v := &r.values[i]; v.kind {
	case '"':
		if !around.blocked && !root {
			r.readText(v, around.code, false, false)
		}
		return v.reason > money.Read
	case '[':
		for c := i + 1; c < v.next; c = r.values[c].next {
			switch r.values[c].kind {
			case '{':
				r.readMoney(c, currency{}, false)
			case '[', '"':
				kept = r.readMoney(c, around, false) || kept
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
		switch m.known {
		case amountName, minorName, centsName:
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
			r.readMoney(c, currency{}, false)
		case '[':
			kept = r.readMoney(c, of, false) || kept
		case '"', '0':
			if m.known == currencyName {
				continue
			}
			bare, minor := r.bare(m, of, scalars)
			if bare && amounts > 1 && (m.known == amountName || m.known == minorName || m.known == centsName) {
				m.reason, kept = money.Ambiguous, true // two readings of one amount
				continue
			}
			if r.readMember(m, of, bare, minor) && of.code != "" && r.amounts[m.money-1].Currency == of.code {
				read = c
			}
			kept = kept || m.reason > money.Read
		}
	}
	if read == 0 || kept {
		return
	}
	r.values[of.at].gone = taken
	if m := &r.values[read]; members == 2 && !root {
		switch m.known {
		case amountName, minorName, centsName, valueName: // {value, currency} is the amount itself
			r.values[i].money, m.money, m.gone = m.money, 0, taken
		}
	}
}

// bare says whether digits alone in a member are money, and of minor units. scalars counts the members of its object
// that are neither objects nor arrays nor the currency.
func (r *reading) bare(m *value, of currency, scalars int) (bare, minor bool) {
	if m.rule > 0 {
		return true, r.rule.money[m.rule-1].minor
	}
	if of.code == "" {
		return false, false
	}
	switch m.known {
	case amountName, moneyName:
		return money.NameAmount.Bare(of.code)
	case minorName:
		return money.NameMinor.Bare(of.code)
	case centsName:
		return money.NameCents.Bare(of.code)
	case valueName:
		if scalars == 1 {
			return money.NameValue.Bare(of.code)
		}
	}
	return false, false
}

// readMember reads a string or a number as money. It says whether it is.
func (r *reading) readMember(m *value, of currency, bare, minor bool) bool {
	code := of.code
	if m.rule > 0 {
		if ruled := r.rule.money[m.rule-1].currency; ruled != "" {
			if of.blocked || code != "" && code != ruled {
				m.reason = money.Contradicts
				return false
			}
			code = ruled
		}
		bare = code != ""
	}
	if of.blocked {
		return false
	}
	if m.kind == '"' {
		r.readText(m, code, bare, minor)
	} else if bare {
		if amount, ok := money.FromNumber(m.text, code, minor); ok {
			r.keep(m, amount)
		}
	}
	if m.money == 0 {
		if m.reason == money.NotMoney && !bare && m.known == centsName && code != "" {
			m.reason = money.Contradicts // cents of a currency that has none
		}
		return false
	}
	m.minor = m.rule == 0 && (m.known == minorName || m.known == centsName)
	return true
}

// readText reads a string as money.
func (r *reading) readText(v *value, beside string, bare, minor bool) {
	amount, reason := money.ParseText(v.text, beside, bare, minor, r.rule.symbols)
	v.reason = reason
	if reason == money.Read {
		r.keep(v, amount)
	}
}

func (r *reading) keep(v *value, amount money.Amount) {
	r.amounts = append(r.amounts, amount)
	v.money, v.reason = int32(len(r.amounts)), money.Read
}
