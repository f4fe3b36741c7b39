package wire

import "strings"

// OpError says which member of a line is wrong, and what would have been right. A line with an OpError was not
// understood in part either: nothing of it may be acted on.
type OpError struct {
	Field  string // the member, from the outside in: "rule.window_ms", "also[1].intent"; empty: the line as a whole
	Detail string // what is wrong with it, and what would have been right
}

func (e *OpError) Error() string {
	if e.Field == "" {
		return "wire: " + e.Detail
	}
	return "wire: " + e.Field + ": " + e.Detail
}

// within puts the name of the enclosing member before the field that err names.
func within(member string, err *OpError) *OpError {
	switch {
	case err == nil:
		return nil
	case err.Field == "":
		err.Field = member
	case err.Field[0] == '[':
		err.Field = member + err.Field
	default:
		err.Field = member + "." + err.Field
	}
	return err
}

// quoted gives a text for an error's detail.
func quoted(s string) string { return string(appendString(nil, abbreviated(s))) }

// abbreviated keeps an error small however long the text is that it names.
func abbreviated(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
