package mcp

import (
	"testing"
	"time"
)

func TestStreamIsTheSameInWhateverPiecesItComes(t *testing.T) {
	for _, tc := range []struct {
		name, body, whole, lastID string
		events                    int
		retry                     time.Duration // negative: none is told
		present                   bool
	}{
		{"primed", "id: 1\nretry: 500\ndata:\n\n", "id: 1\nretry: 500\ndata:\n\n", "1", 1, 500 * time.Millisecond, false},
		{"CR LF", ": hello\r\n\r\nid:2\r\ndata: {\"method\":\"x\"}\r\n\r\n", ": hello\r\n\r\nid:2\r\ndata: {\"method\":\"x\"}\r\n\r\n", "2", 1, -1, false},
		{"a response", "id: 3\ndata: {\"id\":7,\"result\":{}}\n\n", "id: 3\ndata: {\"id\":7,\"result\":{}}\n\n", "3", 1, -1, true},
		{"another's response", "id: 3\ndata: {\"id\":8,\"result\":{}}\n\n", "id: 3\ndata: {\"id\":8,\"result\":{}}\n\n", "3", 1, -1, false},
		{"an event that is cut off", "id: 1\ndata: {}\n\nid: 2\nretry: 7\ndata: {\"id\":7,\"result\":{}}\n", "id: 1\ndata: {}\n\n", "1", 1, 7 * time.Millisecond, false},
		{"an id that is taken back", "id: 1\ndata: {}\n\nid\ndata: {}\n\n", "id: 1\ndata: {}\n\nid\ndata: {}\n\n", "", 2, -1, false},
		{"an id with NUL", "id: 1\ndata: {}\n\nid: a\x00\ndata: {}\n\n", "id: 1\ndata: {}\n\nid: a\x00\ndata: {}\n\n", "1", 2, -1, false},
		{"a pause that is no number", "id: 1\nretry: 5s\nretry: -1\nretry:\n\n", "id: 1\nretry: 5s\nretry: -1\nretry:\n\n", "1", 1, -1, false},
		{"a pause of ages", "retry: 18446744073709551617\n\n", "retry: 18446744073709551617\n\n", "", 0, longestRetry, false},
	} {
		for size := 1; size <= len(tc.body); size++ {
			s := Stream{ID: []byte("7")}
			for rest := []byte(tc.body); len(rest) > 0; {
				n := min(size, len(rest))
				s.Write(append([]byte(nil), rest[:n]...))
				rest = rest[n:]
			}
			s.Break()
			retry := s.Retry
			if !s.Told {
				retry = -1
			}
			if string(s.Body()) != tc.whole || s.LastID != tc.lastID || s.Events != tc.events || retry != tc.retry || s.Final.Present != tc.present {
				t.Errorf("%s, %d bytes at a time: %q, id %q, %d events, retry %s, %+v", tc.name, size, s.Body(), s.LastID, s.Events, retry, s.Final)
			}
		}
	}
}

func TestAnEmptyLineEndsAnEvent(t *testing.T) {
	for _, stream := range []string{
		"data: a\n\nid", "data: a\r\n\r\nid", "data: a\r\rid", "data: a\n\rid", "\ndata", "\r\ndata",
		"data: a\r\ndata: b\rdata: c\n", "data: a", "",
	} {
		whole := false
		for e := range events([]byte(stream)) {
			whole = whole || !e.cut
		}
		told := false
		for i := range len(stream) { // byte by byte
			told = told || EndsEvent([]byte(stream[:i+1]), i)
		}
		if atOnce := EndsEvent([]byte(stream), 0); told != whole || atOnce != whole {
			t.Errorf("%q: %v byte by byte and %v at once, want %v", stream, told, atOnce, whole)
		}
	}
}

func TestPartsOfAStreamMakeOne(t *testing.T) {
	s := Stream{ID: []byte("7")}
	for _, part := range []string{"\xef\xbb\xbfid: 1\ndata: {}\n\nid: 2\nda", "\xef\xbb\xbfid: 2\ndata: {}\n\n", "", "id: 3\ndata: {\"id\":7,\"result\":{}}\n\n"} {
		s.Write([]byte(part))
		s.Break()
	}
	const want = "\xef\xbb\xbfid: 1\ndata: {}\n\nid: 2\ndata: {}\n\nid: 3\ndata: {\"id\":7,\"result\":{}}\n\n"
	if string(s.Body()) != want || !s.Final.Present || s.LastID != "3" {
		t.Errorf("%q, %+v", s.Body(), s)
	}
}

func TestResponseInABatchComesBackUnderTheCallersID(t *testing.T) {
	request := read(t, `{"method":"tools/call","id":"me"}`, "", "")
	for reply, want := range map[string]string{
		` [{"id":"x","result":{}}, {"result":{"id":"r-1"},"id":"r-1"} ] `: ` [{"id":"x","result":{}}, {"result":{"id":"r-1"},"id":"me"} ] `,
		`[{"id":"r-1","method":"ping"}]`:                                  `[{"id":"r-1","method":"ping"}]`,
		`[{"id":"r-1","result":{}}`:                                       `[{"id":"r-1","result":{}}`,
		`[]`:                                                              `[]`,
	} {
		if got := request.Returned([]byte(`"r-1"`), ContentJSON, []byte(reply)); string(got) != want {
			t.Errorf("%s comes back as %s", reply, got)
		}
	}
}
