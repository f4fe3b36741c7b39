package canon

import "strings"

// checkMedia reads content-type and content-encoding against the protocol. bodiless is set for a call that has neither
// a body nor a media type.
func (r *reading) checkMedia(call *Call) (bodiless bool, err *Error) {
	if encoding, _ := call.header("content-encoding"); !isIdentity(encoding) {
		return false, unsupported("content-encoding " + quoted(encoding) + " is not read: send the body as it is")
	}
	contentType, _ := call.header("content-type")
	if contentType == "" {
		if len(call.Body) == 0 && r.rule.Protocol != MCP {
			return true, nil
		}
		return false, unsupported("the content-type is missing: " + expectedMedia(r.rule.Protocol))
	}
	media, parameters, _ := strings.Cut(contentType, ";")
	media = strings.TrimSpace(media)
	if !isMedia(media, r.rule.Protocol) {
		return false, unsupported("content-type " + quoted(media) + " is not read: " + expectedMedia(r.rule.Protocol))
	}
	for parameters != "" {
		var parameter string
		parameter, parameters, _ = strings.Cut(parameters, ";")
		name, set, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), "charset") {
			if set = strings.Trim(strings.TrimSpace(set), `"`); !strings.EqualFold(set, "utf-8") {
				return false, unsupported("charset " + quoted(set) + " is not read: utf-8 is")
			}
		}
	}
	return false, nil
}

func unsupported(detail string) *Error {
	return &Error{Code: codeUnsupported, Offset: -1, Detail: detail}
}

func isIdentity(encoding string) bool {
	for encoding != "" {
		var one string
		one, encoding, _ = strings.Cut(encoding, ",")
		if one = strings.TrimSpace(one); one != "" && !strings.EqualFold(one, "identity") {
			return false
		}
	}
	return true
}

func isMedia(media string, protocol Protocol) bool {
	switch protocol {
	case Form:
		return strings.EqualFold(media, "application/x-www-form-urlencoded")
	case MCP:
		return strings.EqualFold(media, "application/json")
	default:
		suffix := len(media) - len("+json")
		return strings.EqualFold(media, "application/json") ||
			suffix > 0 && strings.IndexByte(media, '/') > 0 && strings.EqualFold(media[suffix:], "+json")
	}
}

func expectedMedia(protocol Protocol) string {
	switch protocol {
	case Form:
		return "application/x-www-form-urlencoded is read"
	case MCP:
		return "application/json is read"
	default:
		return "application/json and +json are read"
	}
}
