package wire

import (
	"bytes"
	"iter"
)

// Lines gives the lines of a body in order, without their line ends. Blank lines are left out, so the last line may
// end in a newline or not. The lines are parts of body, not copies.
func Lines(body []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(body) > 0 {
			line := body
			if end := bytes.IndexByte(body, '\n'); end >= 0 {
				line, body = body[:end], body[end+1:]
			} else {
				body = nil
			}
			if line = bytes.TrimRight(line, "\r \t"); len(line) > 0 && !yield(line) {
				return
			}
		}
	}
}
