package envoytest

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Behaviours of a tool that speaks HTTP/2.
const (
	RefuseStream Behaviour = "refuse_stream" // resets the stream with REFUSED_STREAM: it has not looked at the request
	GoAwayBefore Behaviour = "go_away"       // says that it goes away and has not looked at the request
	GoAwayAfter  Behaviour = "go_away_after" // says that it goes away and has taken the request, and closes the connection
	ResetStream  Behaviour = "reset_stream"  // takes the request and resets the stream with INTERNAL_ERROR
	CutStream    Behaviour = "cut_stream"    // resets the stream with INTERNAL_ERROR in the middle of the reply's body
)

// ServeHTTP2 lets the tool be reached by HTTP/2 without TLS too, one request on each connection, at the address that it
// gives. It stops when the test ends.
func (tool *Tool) ServeHTTP2(t TB) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("tool: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go tool.serveHTTP2(conn)
		}
	}()
	return l.Addr().String()
}

func (tool *Tool) serveHTTP2(conn net.Conn) {
	defer conn.Close()
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(conn, preface); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if framer.WriteSettings() != nil {
		return
	}
	var (
		call Received
		body []byte
	)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				_ = framer.WritePing(true, f.Data)
			}
		case *http2.MetaHeadersFrame:
			call, body = receivedHeaders(f), nil
			if f.StreamEnded() {
				tool.answerHTTP2(framer, f.StreamID, call)
			}
		case *http2.DataFrame:
			body = append(body, f.Data()...)
			if f.StreamEnded() {
				call.Body = body
				if !tool.answerHTTP2(framer, f.StreamID, call) {
					return
				}
			}
		}
	}
}

func receivedHeaders(f *http2.MetaHeadersFrame) Received {
	call := Received{Header: http.Header{}}
	for _, h := range f.Fields {
		switch h.Name {
		case ":method":
			call.Method = h.Value
		case ":authority":
			call.Host = h.Value
		case ":path":
			call.Path = h.Value
		default:
			if !strings.HasPrefix(h.Name, ":") {
				call.Header.Add(h.Name, h.Value)
			}
		}
	}
	return call
}

// answerHTTP2 behaves as the call wants; false: the connection is to be closed. A request that it refuses to look at is
// not counted.
func (tool *Tool) answerHTTP2(framer *http2.Framer, stream uint32, call Received) bool {
	behaviour := Behaviour(call.Header.Get(BehaviourHeader))
	switch behaviour {
	case RefuseStream:
		return framer.WriteRSTStream(stream, http2.ErrCodeRefusedStream) == nil
	case GoAwayBefore:
		return framer.WriteGoAway(0, http2.ErrCodeNo, nil) == nil
	}
	id := tool.receive(call)
	switch behaviour {
	case ResetStream:
		return framer.WriteRSTStream(stream, http2.ErrCodeInternal) == nil
	case GoAwayAfter:
		_ = framer.WriteGoAway(stream, http2.ErrCodeNo, nil)
		return false
	}
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	for _, h := range [][2]string{{":status", "200"}, {"content-type", "application/json"}} {
		_ = encoder.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]})
	}
	if framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: head.Bytes(), EndHeaders: true}) != nil {
		return false
	}
	if behaviour == CutStream {
		_ = framer.WriteData(stream, false, []byte(`{"refund_id":`))
		return framer.WriteRSTStream(stream, http2.ErrCodeInternal) == nil
	}
	return framer.WriteData(stream, true, []byte(`{"refund_id":"`+id+`"}`)) == nil
}
