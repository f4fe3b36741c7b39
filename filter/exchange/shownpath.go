package exchange

import "strings"

// credentialNames are the ends of the names of query parameters that carry what a caller proves itself with: access_token
// (RFC 6750 section 2.3), api_key, X-Amz-Signature, sig.
var credentialNames = []string{"token", "key", "secret", "password", "passwd", "pwd", "signature", "sig", "credential", "credentials", "auth", "jwt", "session", "sessionid"}

// shownPath is a request's target as people are shown it and the ledger keeps it: the values of parameters that carry
// credentials are left out.
func shownPath(target string) string {
	path, query, is := strings.Cut(target, "?")
	if !is {
		return target
	}
	parts := strings.Split(query, "&")
	for i, part := range parts {
		if name, value, _ := strings.Cut(part, "="); value != "" && carriesCredential(name) {
			parts[i] = name + "=…"
		}
	}
	return path + "?" + strings.Join(parts, "&")
}

// carriesCredential goes by a parameter's name, in any letter case. A name with an escape may be any.
func carriesCredential(name string) bool {
	name = strings.ToLower(name)
	for _, end := range credentialNames {
		if strings.HasSuffix(name, end) || strings.Contains(name, "%") {
			return true
		}
	}
	return false
}
