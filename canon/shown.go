package canon

import "strings"

// What a refusal says of the call and of the rule, so that its reader finds the place.

// shown says what a value of the body is that should be something else.
func (r *reading) shown(at int32) string {
	switch v := &r.values[at]; v.kind {
	case '"':
		if v.text == "" {
			return "an empty text"
		}
		return "the text " + shownText(v.text)
	case '0':
		return "the number " + strings.Trim(shownText(v.text), `"`)
	case 't':
		return "true"
	case 'f':
		return "false"
	case 'n':
		return "null"
	case '{':
		return "an object"
	default:
		return "an array"
	}
}

// shownText is a text as a refusal shows it, abbreviated.
func shownText(text string) string {
	if len(text) <= 60 {
		return quoted(text)
	}
	return quoted(strings.ToValidUTF8(text[:60], "") + "…")
}

// shownSource is a source as a refusal names it: header "x-tool".
func shownSource(s Source) string {
	return kindOf(s) + " " + quoted(s.Pointer+s.Header+s.Cookie+s.Value+strings.Join(s.Metadata, ".")+s.Certificate)
}
