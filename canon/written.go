package canon

// writtenArgs gives the args as they were written.
func (r *reading) writtenArgs(call *Call) []byte {
	if r.rule.Protocol != Form {
		v := &r.values[r.args]
		return call.Body[v.off:v.end:v.end]
	}
	return r.appendWritten(nil, r.args)
}

// appendWritten appends a value of a form as JSON, as it is.
func (r *reading) appendWritten(dst []byte, i int32) []byte {
	v := &r.values[i]
	if v.kind == '"' {
		return appendString(dst, v.text)
	}
	open, shut := byte('['), byte(']')
	if v.kind == '{' {
		open, shut = '{', '}'
	}
	dst = append(dst, open)
	for c := i + 1; c < v.next; c = r.values[c].next {
		if c > i+1 {
			dst = append(dst, ',')
		}
		if v.kind == '{' {
			dst = append(appendString(dst, r.values[c].name), ':')
		}
		dst = r.appendWritten(dst, c)
	}
	return append(dst, shut)
}

// dropped gives a digest (FNV-1a, 64 bits) of the volatile values as they were written, in the order of the body.
func (r *reading) dropped() string {
	if !r.drops {
		return ""
	}
	sum, found := fnvOffset, false
	for i := int32(0); i < int32(len(r.values)); {
		v := &r.values[i]
		if v.gone != volatile {
			i++
			continue
		}
		found = true
		for _, text := range [...]string{v.name, "=", r.body[v.off:v.end], "\x00"} {
			sum = addFNV(sum, text)
		}
		i = v.next
	}
	if !found {
		return ""
	}
	var text [16]byte
	for n := range text {
		text[n] = "0123456789abcdef"[sum>>(60-4*n)&15]
	}
	return string(text[:])
}
