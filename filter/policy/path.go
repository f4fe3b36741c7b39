package policy

import (
	"slices"
	"strings"
)

// mostReadings bounds how many readings of one path are looked at. A path that an honest client writes has one or two.
const mostReadings = 48

// pathReadings gives every path that a proxy or a tool may take a request target for, the written one (without its
// query) first: what can be reached from it by any of the steps below, in any order. all is false where there are more
// than are worth looking at; then nothing is known of the path.
//
// A tool behind Envoy decides for itself what `/api/%69nvoke`, `/api//invoke`, `/api/./invoke`, `/api;v=1/invoke` or
// `/api%2Finvoke` mean, and a guard that reads them differently can be walked around.
func pathReadings(target string) (readings []string, all bool) {
	readings = []string{cutQuery(target)}
	if plainPath(readings[0]) {
		return readings, true
	}
	for i := 0; i < len(readings); i++ {
		for _, step := range pathSteps {
			if next := step(readings[i]); !slices.Contains(readings, next) {
				if len(readings) == mostReadings {
					return readings, false
				}
				readings = append(readings, next)
			}
		}
	}
	return readings, true
}

var pathSteps = [...]func(string) string{
	percentDecode, cutQuery, dropParameters, backslashes, mergeSlashes, dropDotSegments,
}

// plainPath reports whether no step changes a path.
func plainPath(path string) bool {
	return !strings.ContainsAny(path, `%?#;\`) && !strings.Contains(path, "//") && !strings.Contains(path, "/.")
}

// cutQuery drops query and fragment.
func cutQuery(path string) string {
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		return path[:i]
	}
	return path
}

// percentDecode decodes once, slashes too (RFC 3986 section 2.1); what is no octet stays.
func percentDecode(path string) string {
	if strings.IndexByte(path, '%') < 0 {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			if hi, lo := hexDigit(path[i+1]), hexDigit(path[i+2]); hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, path[i])
	}
	return string(out)
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// dropParameters drops what stands after a semicolon in each segment, as servlet containers do.
func dropParameters(path string) string {
	if strings.IndexByte(path, ';') < 0 {
		return path
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i], _, _ = strings.Cut(s, ";")
	}
	return strings.Join(segments, "/")
}

// backslashes turns them into slashes, as the URL standard of browsers does.
func backslashes(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// mergeSlashes makes one slash of several.
func mergeSlashes(path string) string {
	if !strings.Contains(path, "//") {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			out = append(out, path[i])
		}
	}
	return string(out)
}

// dropDotSegments resolves `.` and `..` (RFC 3986 section 5.2.4).
func dropDotSegments(path string) string {
	if !strings.HasPrefix(path, "/") || !strings.Contains(path, "/.") {
		return path
	}
	var out []string
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, s)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/")
}

// pathOf reads a rule's path, which must have no other reading than itself.
func pathOf(f field) string {
	const want = `a path that begins with a slash, such as "/api/invoke"`
	path, ok := f.text(want)
	if !ok {
		return ""
	}
	switch {
	case path[0] != '/':
		f.wrong("does not begin with a slash; use " + quoted("/"+path))
	case strings.ContainsAny(path, "?#"):
		f.wrong("has a query or a fragment, and neither is matched; use " + quoted(cutQuery(path)))
	default:
		readings, all := pathReadings(path)
		if all && len(readings) == 1 {
			break
		}
		own := slices.IndexFunc(readings, func(p string) bool {
			again, all := pathReadings(p)
			return all && len(again) == 1
		})
		if own < 0 {
			f.wrong("can be read in several ways; use " + want)
			break
		}
		f.wrong("can be read in several ways; use the plain one, " + quoted(readings[own]))
	}
	return path
}
