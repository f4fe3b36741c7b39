package mcp_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// relay stands between a client and Envoy and breaks connections as a network does.
type relay struct {
	address string

	mu   sync.Mutex
	open []*net.TCPConn
}

func startRelay(t *testing.T, to string) *relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{address: l.Addr().String()}
	t.Cleanup(func() {
		l.Close()
		r.breakAll()
	})
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			r.mu.Lock()
			r.open = append(r.open, in.(*net.TCPConn), out.(*net.TCPConn))
			r.mu.Unlock()
			go pipe(in, out)
			go pipe(out, in)
		}
	}()
	return r
}

func pipe(from, to net.Conn) {
	io.Copy(to, from)
	from.Close()
	to.Close()
}

// breakAll resets every connection that is open.
func (r *relay) breakAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.open {
		c.SetLinger(0)
		c.Close()
	}
	r.open = nil
}
