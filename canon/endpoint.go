package canon

import (
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// target is a request target in its one form.
type target struct {
	path, query string
}

// targetOf normalizes a request target: escapes of characters that need none are undone, the others are written in
// upper case (RFC 3986, sections 6.2.2.1 and 6.2.2.2), and the query is sorted by name; equal names, and names in one
// list (see [listOf]), keep their order.
// A plus sign is no space here: RFC 3986 does not say so. Parameters that the rule drops by name are left out.
func (r *rule) targetOf(path string) (t target) {
	t.path, t.query, _ = strings.Cut(path, "?")
	t.path = normalized(t.path)
	if t.query == "" {
		return t
	}
	var parts []string
	for part := range strings.SplitSeq(t.query, "&") {
		part = normalized(part)
		name, _, _ := strings.Cut(part, "=")
		if drop, _ := r.ruled(name); part != "" && !drop {
			parts = append(parts, part)
		}
	}
	slices.SortStableFunc(parts, func(a, b string) int {
		return strings.Compare(sortName(a), sortName(b))
	})
	t.query = strings.Join(parts, "&")
	return t
}

// sortName is what a normalized part of a query is sorted by.
func sortName(part string) string {
	name, _, _ := strings.Cut(part, "=")
	if list := listOf(brackets.Replace(name)); list != "" {
		return list
	}
	return name
}

var brackets = strings.NewReplacer("%5B", "[", "%5D", "]")

// lastSegment gives a path's last segment that is not empty, "/" where there is none.
func lastSegment(path string) string {
	path = strings.TrimRight(path, "/")
	if path == "" {
		return "/"
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// normalized gives a part of a request target with its percent escapes in one form.
func normalized(text string) string {
	if isNormalized(text) {
		return text
	}
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, len(text)+16)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '%' && i+2 < len(text) && unhex(text[i+1]) >= 0 && unhex(text[i+2]) >= 0:
			decoded := byte(unhex(text[i+1])<<4 | unhex(text[i+2]))
			i += 2
			if isUnreserved(decoded) {
				out = append(out, decoded)
			} else {
				out = append(out, '%', digits[decoded>>4], digits[decoded&15])
			}
		case c >= 0x80:
			out = append(out, '%', digits[c>>4], digits[c&15])
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

func isNormalized(text string) bool {
	for i := range len(text) {
		if text[i] == '%' || text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// isUnreserved tells the characters of RFC 3986, section 2.3.
func isUnreserved(c byte) bool {
	return isLower(c) || isUpper(c) || c == '-' || c == '.' || c == '_' || c == '~'
}

// conditions are the headers by which a request asks for another thing than its method and body say: conditions (RFC
// 9110, section 13.1), and another method than its own, which some servers heed.
var conditions = []string{"if-match", "if-modified-since", "if-none-match", "if-unmodified-since", "x-http-method",
	"x-http-method-override", "x-method-override"}

// appendEndpoint appends the endpoint: the rule's name, method, host, path, query, conditions, and the tool where it
// stands in the body. The path is left out where the tool stands instead of it.
func (r *reading) appendEndpoint(dst []byte, call *Call) []byte {
	dst = append(dst, '{')
	if dst = appendHeaders(dst, "conditions", conditions, call); dst[len(dst)-1] == '}' {
		dst = append(dst, ',')
	}
	dst = append(dst, `"host":`...)
	dst = appendOpaque(dst, hostName(call.Host))
	dst = append(dst, `,"method":`...)
	dst = appendOpaque(dst, call.Method)
	if r.pathCounts || r.rule.Paths {
		dst = append(dst, `,"path":`...)
		dst = appendOpaque(dst, r.target.path)
	}
	if r.target.query != "" {
		dst = append(dst, `,"query":`...)
		dst = appendOpaque(dst, r.target.query)
	}
	dst = append(dst, `,"rule":`...)
	dst = appendOpaque(dst, r.rule.Rule)
	if r.toolNamed {
		dst = append(dst, `,"tool":`...)
		dst = appendOpaque(dst, r.tool)
	}
	return append(dst, '}')
}

// appendWhom appends the headers that say for whom the call is made, those that it has.
func (r *reading) appendWhom(dst []byte, call *Call) []byte {
	start := len(dst)
	if dst = appendHeaders(dst, "for", r.rule.headers, call); len(dst) > start {
		dst = append(dst, ',')
	}
	return dst
}

// appendHeaders appends a member with those of the named headers that the call has, if it has any.
func appendHeaders(dst []byte, member string, names []string, call *Call) []byte {
	start := len(dst)
	for _, name := range names {
		text, ok := call.header(name)
		if !ok {
			continue
		}
		if len(dst) == start {
			dst = append(appendString(dst, member), ':', '{')
		} else {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, name), ':')
		dst = appendOpaque(dst, text)
	}
	if len(dst) > start {
		dst = append(dst, '}')
	}
	return dst
}

// appendOpaque appends a text that may be any bytes: as a JSON string, or, where it is no UTF-8, as {"hex":"…"}.
func appendOpaque(dst []byte, text string) []byte {
	if utf8.ValidString(text) {
		return appendString(dst, text)
	}
	dst = append(dst, `{"hex":"`...)
	dst = hex.AppendEncode(dst, []byte(text))
	return append(dst, `"}`...)
}

// hostName gives a host in its one form: lower case, ASCII letters only, without the dot of the root and without the
// port that http or https would take anyway (RFC 9110, sections 4.2.1 and 4.2.2). Another port is another server.
func hostName(host string) string {
	for _, port := range [...]string{":80", ":443"} {
		if name, cut := strings.CutSuffix(host, port); cut && (!strings.Contains(name, ":") || strings.HasSuffix(name, "]")) {
			host = name
			break
		}
	}
	if name, port, found := strings.Cut(host, ".:"); found {
		host = name + ":" + port
	}
	host = strings.TrimSuffix(host, ".")
	for i := range len(host) {
		if isUpper(host[i]) {
			return string(appendLower(nil, host))
		}
	}
	return host
}
