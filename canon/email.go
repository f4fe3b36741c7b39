package canon

import (
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// longestEmail bounds an address: 64 for the local part, 1, 255 for the domain (RFC 5321, section 4.5.3.1).
const longestEmail = 320

// emailAt gives the place of the @ in a text that is one e-mail address and nothing else, or -1.
//
// An address is a local part of characters that need no quotes, and a domain of at least two labels whose last begins
// with a letter: image@2x.1 and lodash@4.17.21 are none.
func emailAt(text string) int {
	if len(text) > longestEmail {
		return -1
	}
	at := strings.IndexByte(text, '@')
	if at <= 0 || at == len(text)-1 {
		return -1
	}
	for i := range at {
		switch c := text[i]; c {
		case '(', ')', '<', '>', '[', ']', ':', ';', ',', '\\', '"', ' ', 0x7f:
			return -1
		case '.':
			if i == 0 || i == at-1 || text[i-1] == '.' {
				return -1
			}
		default:
			if c < ' ' {
				return -1
			}
		}
	}
	if !isASCII(text[:at]) && strings.ContainsFunc(text[:at], unicode.IsSpace) {
		return -1
	}
	domain := text[at+1:]
	label := 0 // where the label begins
	for i := 0; i <= len(domain); i++ {
		if i == len(domain) || domain[i] == '.' {
			if i == label || domain[label] == '-' || domain[i-1] == '-' {
				return -1
			}
			if i == len(domain) {
				break
			}
			label = i + 1
			continue
		}
		if c := domain[i]; c < 0x80 && c != '-' && !isLower(c) && !isUpper(c) {
			return -1
		}
	}
	last := domain[label:]
	if label == 0 || len(last) < 2 || '0' <= last[0] && last[0] <= '9' {
		return -1
	}
	return at
}

// appendEmail appends an address in its one form: ASCII letters in lower case, the domain as IDNA writes it in ASCII
// (UTS 46, non-transitional). Only ASCII letters fold: U+0130 and U+212A in a local part stay what they are. ok is
// false where the domain is none; then the address stays as it is.
func appendEmail(dst []byte, text string, at int) (out []byte, ok bool) {
	domain := text[at+1:]
	if !isASCII(domain) {
		ascii, err := idna.Lookup.ToASCII(domain)
		if err != nil {
			return dst, false
		}
		domain = ascii
	}
	dst = appendLower(dst, text[:at])
	dst = append(dst, '@')
	return appendLower(dst, domain), true
}

// findAddresses marks the texts that are one e-mail address, and those that are meant to the letter, which are none: what
// is in a field of such a name, but for money fields and customers in it, which say themselves what they are.
func (r *reading) findAddresses() {
	for i := range r.values {
		v := &r.values[i]
		if v.rule == 0 && int32(i) != r.args && (v.known == verbatimName ||
			v.parent >= 0 && r.values[v.parent].verbatim && !v.known.isMoney() && !v.known.isCustomer()) {
			v.verbatim = true
		}
		if v.kind != '"' || v.verbatim {
			continue
		}
		at := emailAt(v.text)
		if at < 0 {
			continue
		}
		start := len(r.arena)
		arena, ok := appendEmail(r.arena, v.text, at)
		if !ok {
			continue
		}
		address := v.text
		if string(arena[start:]) != address {
			r.arena, address = arena, aliasing(arena[start:])
		}
		r.addresses = doubled(r.addresses, address)
		v.address = int32(len(r.addresses))
	}
}

// textOf gives a string as it counts: an e-mail address in its one form, any other as it is.
func (r *reading) textOf(v *value) string {
	if v.address > 0 {
		return r.addresses[v.address-1]
	}
	return v.text
}

func appendLower(dst []byte, text string) []byte {
	for i := range len(text) {
		c := text[i]
		if isUpper(c) {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
