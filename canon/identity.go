package canon

// findListed finds what the rule's identity lists.
func (r *reading) findListed() {
	for n := range r.rule.identity {
		at := int32(-1)
		if r.args >= 0 {
			at = r.find(r.args, r.rule.identity[n].at)
		}
		r.listed = append(r.listed, at)
	}
}

// appendArgs appends the args: all that counts in them, or, where the rule lists identity, an object of those pointers
// that the args have.
func (r *reading) appendArgs(dst []byte) ([]byte, *Error) {
	if len(r.rule.identity) == 0 {
		return r.appendValue(dst, r.args), nil
	}
	found := false
	dst = append(dst, '{')
	for n := range r.rule.identity {
		at := r.listed[n]
		if at < 0 {
			continue
		}
		v := &r.values[at]
		isCurrency := v.gone == taken && v.known == currencyName
		if isCurrency && r.isCovered(at) {
			continue
		}
		if found {
			dst = append(dst, ',')
		}
		found = true
		dst = append(appendString(dst, r.rule.identity[n].text), ':')
		switch {
		case isCurrency:
			dst = appendString(dst, codeOf(v))
		case v.gone == taken:
			dst = r.appendValue(dst, v.parent)
		default:
			dst = r.appendValue(dst, at)
		}
	}
	if !found {
		return dst, &Error{Code: codeMalformed, Offset: int64(r.values[r.args].off), Pointer: shortened(r.pointerTo(r.args)),
			Detail: "the args have nothing that the rule's identity lists: " + r.rule.identity[0].text}
	}
	return append(dst, '}'), nil
}

// isCovered says whether a currency that amounts have taken in counts with something else that the rule's identity
// lists: an amount of this currency beside it, or what both stand in. Then it is said already, as it is where there is
// no field for it.
func (r *reading) isCovered(i int32) bool {
	object, code := r.values[i].parent, codeOf(&r.values[i])
	for _, at := range r.listed {
		if at < 0 || at == i {
			continue
		}
		switch v := &r.values[at]; {
		case at <= i && i < v.next: // what both stand in
			return true
		case v.parent == object && v.gone == taken:
			return true
		case v.parent == object && v.money > 0 && r.amounts.at(v.money-1).Currency == code:
			return true
		}
	}
	return false
}
