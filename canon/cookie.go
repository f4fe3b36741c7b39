package canon

import "strings"

// cookie gives what the call says by the cookie of a name: its value (RFC 6265, section 4.2), where there is one cookie
// of that name and none that a server may take for it. Where there are several, which one counts is the tool's affair
// (servers take the first or the last, and whoever may set cookies for a parent domain can add one), so all of them
// count, in their order. What they then say begins with a semicolon, as no cookie's value does.
func (c *Call) cookie(name string) (text string, ok bool) {
	if c.Header == nil {
		return "", false
	}
	all, found, sure := "", 0, true
	for _, line := range c.Header("cookie") {
		for line != "" {
			var one string
			one, line, _ = strings.Cut(line, ";")
			one = strings.TrimSpace(one)
			key, value, _ := strings.Cut(one, "=")
			if key != name && !mayHoldCookie(one, name) {
				continue
			}
			text, sure = value, sure && key == name
			found++
			all += ";" + one
		}
	}
	if found > 1 || !sure {
		text = all
	}
	return text, found > 0
}

// mayHoldCookie says whether some server finds a cookie of this name in what stands between two semicolons: behind a
// comma (RFC 2965), in other letter case (ASP.NET), in quotes, percent-encoded or as the element of an array (PHP,
// Rack), with an underscore for a point or a space (PHP).
func mayHoldCookie(one, name string) bool {
	for one != "" {
		var part string
		part, one, _ = strings.Cut(one, ",")
		key, _, _ := strings.Cut(part, "=")
		if strings.EqualFold(cookieName(key), cookieName(name)) {
			return true
		}
	}
	return false
}

// cookieName is the name as the servers read it that change it most.
func cookieName(key string) string {
	const blank = " \t\"'"
	key = strings.Trim(key, blank)
	if !strings.ContainsAny(key, "%[. +") {
		return key
	}
	out := make([]byte, 0, len(key))
	for i := 0; i < len(key); i++ {
		c := key[i]
		if c == '%' && i+2 < len(key) && unhex(key[i+1]) >= 0 && unhex(key[i+2]) >= 0 {
			c = byte(unhex(key[i+1])<<4 | unhex(key[i+2]))
			i += 2
		}
		switch c {
		case '.', ' ', '+':
			c = '_'
		}
		out = append(out, c)
	}
	name, _, _ := strings.Cut(strings.Trim(string(out), blank), "[")
	return name
}
