package wire

import "strings"

// A stored header is sent again, to callers who trust the proxy: so what the filter would never store is not taken from
// anybody else either. Names are tokens (RFC 9110 section 5.6.2); values have no CR, LF or NUL, which would end the
// header or the message (section 5.5; a proxy lets none of them through), and what belongs to one connection is not
// stored.

// HopByHop says whether a header, whatever its letter case, belongs to one connection (RFC 9110 section 7.6.1) or frames
// the message.
func HopByHop(name string) bool {
	switch strings.ToLower(name) {
	case "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer",
		"transfer-encoding", "upgrade", "content-length":
		return true
	}
	return false
}

// Token says whether a text is a token: the name of a header or of a cookie, or a method.
func Token(text string) bool {
	for i := range len(text) {
		c := text[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return text != ""
}

// checkHeader wants a header that may be stored.
func checkHeader(name, value string) *OpError {
	switch {
	case !Token(name):
		return &OpError{Field: "[0]", Detail: "must be a header's name (RFC 9110: letters, digits and !#$%&'*+-.^_`|~), is " + quoted(name)}
	case HopByHop(name):
		return &OpError{Field: "[0]", Detail: "must not be " + quoted(name) + ": it belongs to one connection, or frames the message, and is not stored"}
	case strings.ContainsAny(value, "\r\n\x00"):
		return &OpError{Field: "[1]", Detail: "must not have CR, LF or NUL in it"}
	}
	return nil
}
