package envoytest

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// Behaviours that break HTTP off at one point or another.
const (
	HangUp       Behaviour = "hang_up"        // takes the request and closes the connection in order
	CutHead      Behaviour = "cut_head"       // breaks the connection in the middle of the reply's head
	CutAfterHead Behaviour = "cut_after_head" // breaks the connection between the reply's head and its body
	Short        Behaviour = "short"          // closes the connection in order, before the body is as long as announced
	CutChunks    Behaviour = "cut_chunks"     // closes the connection in order, before the last chunk
	Nonsense     Behaviour = "nonsense"       // answers with something that is no HTTP
	LongHead     Behaviour = "long_head"      // a reply with a head that is larger than Envoy takes
	LargeBody    Behaviour = "large_body"     // a reply with a body that is larger than Envoy gives to a filter's call
)

const (
	largeHead = 200 << 10 // Envoy takes 60 KiB
	largeBody = 33 << 20  // Envoy's limit is 32 MiB
)

// raw is what is written to the connection, before it is closed in order or broken.
var raw = map[Behaviour]struct {
	text   string
	broken bool
}{
	HangUp:       {"", false},
	CutHead:      {"HTTP/1.1 200 OK\r\ncontent-type: applica", true},
	CutAfterHead: {"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n", true},
	Short:        {"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{\"refund_id\":", false},
	CutChunks:    {"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"ref\r\n", false},
	Nonsense:     {"220 mail.example ESMTP\r\n", false},
}

// PretendPrefix before a status makes the tool answer with it, and with headers that would tell another story if they
// were taken for those of the proxy.
const PretendPrefix = "pretend_"

// ResetFirstPrefix before another behaviour makes the tool break the connection of the first attempt that Envoy makes
// for a request, and behave so in the next.
const ResetFirstPrefix = "reset_first_"

// pretended are those headers.
var pretended = map[string]string{
	"x-idem-flags": "UF", "x-idem-details": "upstream_reset_before_response_started{connection_failure}", "x-idem-attempts": "1",
	"x-idem-outcome": "not_sent", "x-idem-fingerprint": "0123", "x-idem-committed": "false", "x-idem-mcp": "final",
	"idempotent-replayed": "true", "x-envoy-overloaded": "true", "x-envoy-ratelimited": "true", "x-envoy-attempt-count": "1",
	"x-envoy-immediate-health-check-fail": "true",
}

// answerBroken behaves in one of these ways; false: the behaviour is another.
func answerBroken(w http.ResponseWriter, b Behaviour) bool {
	if r, known := raw[b]; known {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return true
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, r.text); err == nil && r.broken {
			reset(conn)
		}
		return true
	}
	switch b {
	case LongHead:
		w.Header().Set("x-long", strings.Repeat("x", largeHead))
	case LargeBody:
		w.Header().Set("content-length", strconv.Itoa(largeBody))
		piece := []byte(strings.Repeat("x", 1<<20))
		for sent := 0; sent < largeBody; sent += len(piece) {
			if _, err := w.Write(piece); err != nil {
				return true
			}
		}
	default:
		return false
	}
	return true
}

// reset makes the end of a connection a reset.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
}
