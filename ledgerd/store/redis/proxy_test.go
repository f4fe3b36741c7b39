package redis

import (
	"crypto/tls"
	"net"
	"sync"
	"testing"
)

// proxy stands between a store and its server, and breaks what it is told to.
type proxy struct {
	listener net.Listener

	mu     sync.Mutex
	server string
	mute   bool       // answers of the server are thrown away
	conns  []net.Conn // all of them
}

// newProxy starts a proxy; with a certificate its clients speak TLS.
func newProxy(t *testing.T, server string, c *tls.Config) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: server}
	if c != nil {
		p.listener = tls.NewListener(l, c)
	}
	go p.run()
	t.Cleanup(func() {
		l.Close()
		p.cut()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) run() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		address := p.server
		p.mu.Unlock()
		server, err := net.Dial("tcp", address)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		go pump(server, client, nil)
		go pump(client, server, p)
	}
}

// pump copies until one side ends; what a muted proxy has for a client is thrown away.
func pump(to, from net.Conn, p *proxy) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if p != nil {
			p.mu.Lock()
			mute := p.mute
			p.mu.Unlock()
			if mute {
				continue
			}
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// lead makes the proxy lead to another server.
func (p *proxy) lead(server string) {
	p.mu.Lock()
	p.server = server
	p.mu.Unlock()
	p.cut()
}

// setMute throws the server's answers away from now on, or no longer.
func (p *proxy) setMute(mute bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = mute
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}
