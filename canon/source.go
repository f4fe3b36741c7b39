package canon

import "strings"

// header gives the combined value of a header (RFC 9110, section 5.2), without the white space around it.
func (c *Call) header(name string) (text string, ok bool) {
	if c.Header == nil {
		return "", false
	}
	values := c.Header(name)
	switch len(values) {
	case 0:
		return "", false
	case 1:
		return strings.TrimSpace(values[0]), true
	}
	return strings.TrimSpace(strings.Join(values, ", ")), true
}

// sourceText gives what a source says of a call: a string of the body as it is, another value of the body in canonical
// form. ok is false where it says nothing.
func (r *reading) sourceText(call *Call, from *source) (text string, ok bool) {
	switch kindOf(from.Source) {
	case "header":
		text, ok = call.header(from.Header)
	case "cookie":
		text, ok = call.cookie(from.Cookie)
	case "value":
		text, ok = from.Value, true
	case "metadata":
		if call.Metadata != nil {
			text = call.Metadata(from.Metadata)
		}
	case "certificate":
		if call.Certificate != nil {
			text = call.Certificate(from.Certificate)
		}
	case "pointer":
		if i := r.lookup(from.at); i >= 0 && r.values[i].kind != 'n' {
			if v := &r.values[i]; v.kind == '"' {
				text = v.text
			} else {
				text = string(r.appendValue(nil, i))
			}
		}
	}
	return text, ok || text != ""
}

// lookup follows a pointer into the body. It gives -1 where there is nothing, or no body.
func (r *reading) lookup(p pointer) int32 {
	if len(r.values) == 0 {
		return -1
	}
	return r.find(0, p)
}
