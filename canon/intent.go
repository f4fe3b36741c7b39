package canon

// addIntent adds customer, amount and intent to an action.
func (r *reading) addIntent(action *Action, call *Call, scope string) {
	if r.args < 0 {
		return
	}
	start := len(r.out)
	out := append(r.out, `{"amount":`...)
	amountAt := len(out)
	out, ok := r.appendAmount(out)
	if !ok {
		return
	}
	amountEnd := len(out)
	out = append(out, `,"customer":`...)
	customerAt := len(out)
	customer := r.customerOf()
	if customer >= 0 {
		out = r.appendValue(out, customer)
	}
	customerEnd := len(out)
	known := append([]byte(nil), out[amountAt:customerEnd]...)
	action.Amount = known[: amountEnd-amountAt : amountEnd-amountAt]
	if customer < 0 {
		r.out = out
		return
	}
	action.Customer = known[customerAt-amountAt:]
	out = append(out, ',')
	out = r.appendWhom(out, call)
	if r.toolNamed && (r.rule.Paths || r.pathCounts && r.rule.Tool == nil) { // the path may be what is done with the tool
		out = append(out, `"path":`...)
		out = append(appendOpaque(out, r.target.path), ',')
	}
	out = r.appendTail(out, scope)
	out = append(out, `"tool":`...)
	out = appendVersion(append(appendOpaque(out, r.tool), ','))
	r.out = out
	action.Intent = r.hash(out[start:])
}

// customerOf finds the customer: what the rule's pointers find first, else the args' member of the best name. It gives
// -1 where there is none; null and the empty string are none.
func (r *reading) customerOf() int32 {
	for n := range r.rule.customers {
		if at := r.find(r.args, r.rule.customers[n].at); at >= 0 && r.says(at) {
			return at
		}
	}
	if len(r.rule.customers) > 0 || r.values[r.args].kind != '{' {
		return -1
	}
	best := int32(-1)
	for c := r.args + 1; c < r.values[r.args].next; c = r.values[c].next {
		m := &r.values[c]
		if m.known < customer || m.known > email || m.gone != counts || !r.says(c) {
			continue
		}
		if best >= 0 {
			b := &r.values[best]
			if m.known > b.known || m.known == b.known && compareUTF16(m.name, b.name) > 0 {
				continue
			}
		}
		best = c
	}
	return best
}

func (r *reading) says(at int32) bool {
	v := &r.values[at]
	return v.kind != 'n' && (v.kind != '"' || v.text != "")
}

// appendAmount appends the amount: what the rule's pointers find first, else the money called amount, else the only
// money of the args, else a number called amount with the currency beside it that no list knows.
func (r *reading) appendAmount(dst []byte) ([]byte, bool) {
	for n := range r.rule.amounts {
		if at := r.find(r.args, r.rule.amounts[n].at); at >= 0 && r.says(at) {
			return r.appendOneAmount(dst, at), true
		}
	}
	if len(r.rule.amounts) > 0 {
		return dst, false
	}
	called := r.calledAmount()
	if called >= 0 && r.values[called].money > 0 {
		return r.appendValue(dst, called), true
	}
	if only := r.onlyMoney(); only >= 0 {
		return r.appendValue(dst, only), true
	}
	if called >= 0 && r.values[called].kind == '0' && r.currencyBeside(called) >= 0 {
		return r.appendOneAmount(dst, called), true
	}
	return dst, false
}

// calledAmount finds the args' money or number called amount, money first. Of several none is it, as no order of names
// says which: it gives -1 then, as where there is none.
func (r *reading) calledAmount() int32 {
	if r.values[r.args].kind != '{' {
		return -1
	}
	found, several := int32(-1), false
	for c := r.args + 1; c < r.values[r.args].next; c = r.values[c].next {
		m := &r.values[c]
		if m.gone != counts || m.known != amountName && !m.minor || m.money == 0 && m.kind != '0' {
			continue
		}
		switch {
		case found < 0 || m.money > 0 && r.values[found].money == 0:
			found, several = c, false
		case (m.money > 0) == (r.values[found].money > 0):
			several = true
		}
	}
	if several {
		return -1
	}
	return found
}

// onlyMoney finds the one money of the args, wherever it stands; it gives -1 where there is none, or more.
func (r *reading) onlyMoney() int32 {
	only := int32(-1)
	for i := r.args; i < r.values[r.args].next; {
		v := &r.values[i]
		if i != r.args && v.gone != counts {
			i = v.next
			continue
		}
		if v.money > 0 {
			if only >= 0 {
				return -1
			}
			only = i
		}
		i++
	}
	return only
}

// appendOneAmount appends the money that a value is, or is a part of. A number or text that was not read goes together
// with the currency beside it.
func (r *reading) appendOneAmount(dst []byte, at int32) []byte {
	v := &r.values[at]
	if v.gone == taken && v.parent >= 0 && r.values[v.parent].money > 0 {
		return r.appendValue(dst, v.parent)
	}
	beside := r.currencyBeside(at)
	if v.money > 0 || v.kind != '0' && v.kind != '"' || beside < 0 {
		return r.appendValue(dst, at)
	}
	dst = append(dst, `{"amount":`...)
	dst = r.appendValue(dst, at)
	dst = append(dst, `,"currency":`...)
	return append(r.appendValue(dst, beside), '}')
}

// currencyBeside finds the one string that names a currency beside a value, or gives -1.
func (r *reading) currencyBeside(at int32) int32 {
	parent := r.values[at].parent
	found := int32(-1)
	for c := parent + 1; parent >= 0 && c < r.values[parent].next; c = r.values[c].next {
		if m := &r.values[c]; m.known == currencyName && m.kind == '"' && m.text != "" && m.gone == counts {
			if found >= 0 {
				return -1
			}
			found = c
		}
	}
	return found
}
