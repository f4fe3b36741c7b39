package mcp

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
	"time"
)

// ContentEvents is the media type of an event stream.
const ContentEvents = "text/event-stream"

// IsEvents says whether a content type is an event stream's.
func IsEvents(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(media), ContentEvents)
}

// streamed is one event of an event stream.
type streamed struct {
	raw   []byte // as it was sent, with the blank line that ends it
	data  []byte // its data lines, joined by newlines
	other []byte // its other lines, as they were sent
	cut   bool   // no blank line ends it: it is not complete, and the last

	id    *string       // that it is resumed after; nil: it says none
	retry time.Duration // how long to wait before; negative: it says nothing of that
}

// events gives the events of a stream (WHATWG HTML, server-sent events), one after the other, and nothing of it twice or
// not at all.
func events(body []byte) iter.Seq[streamed] {
	return func(yield func(streamed) bool) {
		e, has := streamed{retry: -1}, false
		begin, rest := body, bytes.TrimPrefix(body, byteOrderMark)
		for len(rest) > 0 {
			before := rest
			var line []byte
			line, rest = cutLine(rest)
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch isData := string(field) == "data"; {
			case isData && has:
				e.data = append(append(e.data, '\n'), value...)
			case isData:
				e.data, has = append(e.data, value...), true
			case len(line) > 0:
				e.other = append(e.other, before[:len(before)-len(rest)]...)
				if len(before)-len(rest) > len(line) { // the line is whole
					e.position(string(field), string(value))
				}
			default:
				e.raw = begin[:len(begin)-len(rest)]
				if !yield(e) {
					return
				}
				begin, e, has = rest, streamed{retry: -1}, false
			}
		}
		if len(begin) > 0 {
			e.raw, e.cut = begin, true
			yield(e)
		}
	}
}

// WithoutEvents takes from the beginning of an event stream the complete events that are no response: progress, log
// messages, requests of the server.
func WithoutEvents(stream []byte) []byte {
	kept := stream[:0]
	for e := range events(stream) {
		if e.cut || responds(e.data) {
			kept = append(kept, e.raw...)
		}
	}
	return kept
}

// EndsEvent says whether an event of a stream is complete by what follows its first looked bytes: an empty line ends it.
// Who gathers a stream reads it only then: an event may come in a thousand pieces.
func EndsEvent(stream []byte, looked int) bool {
	for i := looked; i < len(stream); i++ {
		switch c := stream[i]; {
		case c != '\n' && c != '\r':
		case i == 0, stream[i-1] == '\n', stream[i-1] == '\r' && c == '\r':
			return true
		}
	}
	return false
}

// longestRetry is more than anybody waits for.
const longestRetry = 24 * time.Hour

// position reads the fields that say how the stream is resumed after it broke.
func (e *streamed) position(field, value string) {
	switch {
	case field == "id" && !strings.Contains(value, "\x00"):
		e.id = &value
	case field == "retry" && value != "" && strings.Trim(value, "0123456789") == "":
		e.retry = longestRetry
		if ms, err := strconv.ParseUint(value, 10, 64); err == nil && ms < uint64(longestRetry/time.Millisecond) {
			e.retry = time.Duration(ms) * time.Millisecond
		}
	}
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
