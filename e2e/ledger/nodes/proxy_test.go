package nodes

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// proxy stands between a node and its store's server. It passes everything on until it is told to let nobody listen for
// notifications any more: it then ends each connection that does, and each that asks for it.
type proxy struct {
	listener net.Listener
	server   string
	listens  []byte

	mu    sync.Mutex
	deaf  bool
	asked int               // how often somebody wanted to listen since
	conns map[net.Conn]bool // of clients, whether they listen
}

func newProxy(t *testing.T, s shared) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: s.address, listens: []byte(s.listens), conns: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.end(func(bool) bool { return true })
		all.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// letNobodyListen makes the node behind it deaf.
func (p *proxy) letNobodyListen() {
	p.mu.Lock()
	p.deaf = true
	p.mu.Unlock()
	p.end(func(listens bool) bool { return listens })
}

// refused is how often somebody wanted to listen since then.
func (p *proxy) refused() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// end ends connections.
func (p *proxy) end(which func(listens bool) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn, listens := range p.conns {
		if which(listens) {
			conn.Close()
		}
	}
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.conns[client] = false
	p.mu.Unlock()
	go func() {
		defer client.Close()
		_, _ = io.Copy(client, server)
	}()
	for b := make([]byte, 32<<10); ; {
		n, err := client.Read(b)
		if bytes.Contains(b[:n], p.listens) && !p.mayListen(client) {
			break
		}
		if _, bad := server.Write(b[:n]); err != nil || bad != nil {
			break
		}
	}
	p.mu.Lock()
	delete(p.conns, client)
	p.mu.Unlock()
}

func (p *proxy) mayListen(client net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[client] = true
	if p.deaf {
		p.asked++
	}
	return !p.deaf
}
