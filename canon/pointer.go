package canon

import (
	"strconv"
	"strings"
)

// pointer is a parsed JSON pointer (RFC 6901): its reference tokens, unescaped.
type pointer []string

// parsePointer reads a JSON pointer. The empty text points at the whole value.
func parsePointer(text string) (pointer, bool) {
	if text == "" {
		return nil, true
	}
	if text[0] != '/' {
		return nil, false
	}
	tokens := strings.Split(text[1:], "/")
	for i, token := range tokens {
		for rest := token; ; {
			at := strings.IndexByte(rest, '~')
			if at < 0 {
				break
			}
			if at+1 == len(rest) || rest[at+1] != '0' && rest[at+1] != '1' {
				return nil, false
			}
			rest = rest[at+2:]
		}
		token = strings.ReplaceAll(token, "~1", "/")
		tokens[i] = strings.ReplaceAll(token, "~0", "~")
	}
	return tokens, true
}

// arrayIndex reads an array's reference token (RFC 6901, section 4: no leading zeros).
func arrayIndex(token string) (int, bool) {
	if token == "" || len(token) > 9 || token[0] == '0' && len(token) > 1 {
		return 0, false
	}
	n := 0
	for i := range len(token) {
		if token[i] < '0' || token[i] > '9' {
			return 0, false
		}
		n = n*10 + int(token[i]-'0')
	}
	return n, true
}

func escapeToken(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func itoa(n int) string { return strconv.Itoa(n) }
