package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
)

// Tokens are the bearer tokens that open something, each with the name of whom it was given to. The zero value opens
// nothing.
type Tokens struct {
	known []token
}

type token struct {
	digest [sha256.Size]byte // of the token, so that comparing takes the same time whatever its length
	name   string
}

// leastToken is how many characters a token must have: a shorter one is guessed.
const leastToken = 16

// ParseTokens reads tokens, one a line; blank lines and lines that start with # do not count. A line is a token, or a
// name, white space and a token; the name stands in the audit of what was done with it, and is fallback where the line
// has none. Several lines let a token be replaced without a gap.
func ParseTokens(text, fallback string) (Tokens, error) {
	var t Tokens
	for i, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		name, secret := fallback, fields[0]
		if len(fields) == 2 {
			name, secret = fields[0], fields[1]
		}
		if len(fields) > 2 || !isToken68(secret) {
			// The line itself is not shown: it may be a secret with a typing error.
			return Tokens{}, fmt.Errorf("line %d is not a token: want one token, or a name and a token; a token has letters, digits and -._~+/= only (RFC 6750)", i+1)
		}
		if len(secret) < leastToken {
			return Tokens{}, fmt.Errorf("line %d: the token is %d long: want at least %d characters; `openssl rand -hex 32` makes one", i+1, len(secret), leastToken)
		}
		t.known = append(t.known, token{digest: sha256.Sum256([]byte(secret)), name: name})
	}
	return t, nil
}

// Doors are the tokens of all that can be opened.
type Doors struct {
	Data      Tokens // of the data API
	Operators Tokens // of the admin API: everything
	Viewers   Tokens // of the admin API: reading only
}

// Admit takes other tokens than those that the faces were made with, at once for every request from now on.
func (a *API) Admit(d Doors) { a.doors.Store(&d) }

// Len is how many tokens there are.
func (t Tokens) Len() int { return len(t.known) }

// Empty says whether there is no token at all.
func (t Tokens) Empty() bool { return len(t.known) == 0 }

// who gives the name of whom a token was given to. It takes the same time for every token presented.
func (t Tokens) who(presented string) (name string, ok bool) {
	digest := sha256.Sum256([]byte(presented))
	for _, k := range t.known {
		if subtle.ConstantTimeCompare(digest[:], k.digest[:]) == 1 {
			name, ok = k.name, true
		}
	}
	return name, ok
}

// bearer takes the token out of a request (RFC 6750 section 2.1). Where the header is there more than once nothing is
// taken: a proxy in between might have judged another one.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, secret, found := strings.Cut(values[0], " ")
	if !found || !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}

// isToken68 is RFC 7235's token68, which is what a bearer token is made of.
func isToken68(s string) bool {
	s = strings.TrimRight(s, "=")
	if s == "" {
		return false
	}
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("-._~+/", rune(c)) {
			return false
		}
	}
	return true
}
