package mcp

import (
	"bytes"
	"iter"
	"strings"
)

// ContentEvents is the media type of an event stream.
const ContentEvents = "text/event-stream"

func isEventStream(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(media), ContentEvents)
}

// events gives the data of each complete event of a stream (WHATWG HTML, server-sent events): the data lines of an
// event are joined by newlines; an event that no blank line ends is not complete.
func events(body []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var data []byte
		has := false
		body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
		for len(body) > 0 {
			var line []byte
			line, body = cutLine(body)
			if len(line) == 0 {
				if has && !yield(data) {
					return
				}
				data, has = nil, false
				continue
			}
			value, isData := dataOf(line)
			if !isData {
				continue
			}
			if has {
				data = append(data, '\n')
			}
			data = append(data, value...)
			has = true
		}
	}
}

// WithoutEvents takes from the beginning of an event stream the complete events that are no response: progress, log
// messages, requests of the server. Any other body stays.
func WithoutEvents(contentType string, body []byte) []byte {
	if !isEventStream(contentType) || !bytes.HasSuffix(body, []byte("\n")) && !bytes.HasSuffix(body, []byte("\r")) {
		return body
	}
	kept := body[:0]
	begin, rest := body, body
	for len(rest) > 0 {
		var line []byte
		line, rest = cutLine(rest)
		if len(line) > 0 {
			continue
		}
		event := begin[:len(begin)-len(rest)]
		for data := range events(event) {
			if readResponse(data).Present {
				kept = append(kept, event...)
			}
		}
		begin = rest
	}
	return append(kept, begin...)
}

// dataOf gives the value of a data line.
func dataOf(line []byte) (value []byte, isData bool) {
	field, value, _ := bytes.Cut(line, []byte(":"))
	return bytes.TrimPrefix(value, []byte(" ")), string(field) == "data"
}

// cutLine takes the first line: it ends in CR LF, LF or CR.
func cutLine(body []byte) (line, rest []byte) {
	end := bytes.IndexAny(body, "\r\n")
	if end < 0 {
		return body, nil
	}
	rest = body[end+1:]
	if body[end] == '\r' && len(rest) > 0 && rest[0] == '\n' {
		rest = rest[1:]
	}
	return body[:end], rest
}

// event writes one message as an event stream of one event.
func event(message []byte) []byte {
	return appendData(append(make([]byte, 0, len(message)+32), "event: message\n"...), message)
}

// appendData ends an event with a message as its data.
func appendData(out, message []byte) []byte {
	for line := range bytes.SplitSeq(message, []byte("\n")) {
		out = append(append(append(out, "data: "...), bytes.TrimSuffix(line, []byte("\r"))...), '\n')
	}
	return append(out, '\n')
}
