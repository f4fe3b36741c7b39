package canon

import (
	"encoding/hex"
	"strings"
)

// unstable lists the authorization schemes whose credentials differ on every request of one caller: signatures over the
// request (AWS 2 and 4, Hawk, HTTP Signatures, Azure), proofs (DPoP), challenges and nonces (Digest, Negotiate, NTLM).
var unstable = []string{
	"aws", "digest", "dpop", "hawk", "mac", "negotiate", "ntlm", "sharedkey", "sharedkeylite", "signature",
}

// isUnstable says whether credentials are of a scheme that differs on every request.
func isUnstable(authorization string) (scheme string, is bool) {
	scheme, rest, _ := strings.Cut(strings.TrimLeft(authorization, " \t"), " ")
	if len(scheme) > 5 && strings.EqualFold(scheme[:5], "aws4-") {
		return scheme, true
	}
	for _, one := range unstable {
		if strings.EqualFold(scheme, one) {
			return scheme, true
		}
	}
	// OAuth 1.0 signs each request; others send a bearer token under the same word.
	return scheme, strings.EqualFold(scheme, "oauth") && strings.Contains(rest, "oauth_nonce")
}

// scopeOf gives the digest of whose call it is: 32 hex digits, empty where nothing says so. Credentials never leave
// this function but as this digest, which is keyed where the deployment has a key.
func (r *reading) scopeOf(call *Call) (string, *Error) {
	if r.rule.ScopeNone {
		return "", nil
	}
	said := append(r.side[:0], '[')
	if len(r.rule.scope) == 0 {
		said = r.appendHeader(said, call, "authorization")
		said = r.appendHeader(said, call, "x-api-key")
		if len(said) == 1 {
			said = r.appendHeader(said, call, "cookie")
		}
		if authorization, _ := call.header("authorization"); authorization != "" {
			if err := stable(authorization); err != nil {
				return "", err
			}
		}
	}
	for n := range r.rule.scope {
		from := &r.rule.scope[n]
		text, ok := r.sourceText(call, from)
		ok = ok && text != ""
		if from.Header == "authorization" && ok {
			if err := stable(text); err != nil {
				return "", err
			}
		}
		if !ok && (len(from.Metadata) > 0 || from.Certificate != "") {
			return "", &Error{Code: codeUnstable, Offset: -1, Detail: "the rule's scope is the " + shownSource(from.Source) +
				", which this call does not have: nothing has verified who calls"}
		}
		if ok {
			said = appendSaid(said, kindOf(from.Source)+" "+from.Header+from.Cookie+from.Pointer, text)
		}
	}
	r.side = said
	if len(said) == 1 && len(r.rule.scope) > 0 {
		return "", r.nobody()
	}
	if len(said) == 1 {
		return "", nil
	}
	said = append(said, ']')
	if string(said) != string(r.who) { // one caller often sends many calls
		r.who, r.scope = append(r.who[:0], said...), r.hash(said)[:32]
	}
	return r.scope, nil
}

// nobody refuses a call that has nothing of what the rule's scope names: it would share its results with every other
// such call.
func (r *reading) nobody() *Error {
	err := &Error{Code: codeUnstable, Offset: -1}
	var names []string
	for _, from := range r.rule.scope {
		names = append(names, shownSource(from.Source))
		if err.Pointer == "" {
			err.Pointer = from.Pointer
		}
	}
	err.Detail = "the rule's scope is " + strings.Join(names, ", ") + ", and this call has none of it: nothing says who calls"
	return err
}

// stable refuses credentials that differ on every request. Of several headers, which a proxy may have joined by commas,
// each is looked at.
func stable(authorization string) *Error {
	for more := true; more; {
		if scheme, is := isUnstable(authorization); is {
			return &Error{Code: codeUnstable, Offset: -1, Detail: "authorization by " + quoted(scheme) +
				" differs on every request and cannot say who calls: name what does in the rule's scope"}
		}
		_, authorization, more = strings.Cut(authorization, ",")
	}
	return nil
}

func (r *reading) appendHeader(dst []byte, call *Call, name string) []byte {
	text, _ := call.header(name)
	if text == "" {
		return dst
	}
	return appendSaid(dst, "header "+name, text)
}

// appendSaid appends "name","text" to the array of what says who calls.
func appendSaid(dst []byte, name, text string) []byte {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	dst = append(appendString(dst, name), ',')
	return appendString(dst, text)
}

// hash gives the digest of what is hashed: HMAC-SHA-256 under the deployment's key, SHA-256 without one.
func (r *reading) hash(data []byte) string {
	r.mac.Reset()
	r.mac.Write(data)
	var text [64]byte
	hex.Encode(text[:], r.mac.Sum(r.sum[:0]))
	return string(text[:])
}
