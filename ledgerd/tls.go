package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/spf13/pflag"
)

// tlsFiles are the settings of transport security. Certificate and key serve both listeners; a client CA makes the
// data API ask for certificates (mutual TLS).
type tlsFiles struct {
	cert, key, clientCA string
}

func (t *tlsFiles) flags(f *pflag.FlagSet) {
	f.StringVar(&t.cert, "tls-cert", "", "serve TLS with the certificate chain in this `file` (PEM)")
	f.StringVar(&t.key, "tls-key", "", "its private key, a `file` (PEM)")
	f.StringVar(&t.clientCA, "client-ca", "", "take data API requests only with a certificate of the authorities in this `file` (PEM)")
}

// security is what the listeners are wrapped in. The zero value is none.
type security struct {
	certificate *tls.Certificate
	clients     *x509.CertPool
}

func (t *tlsFiles) load() (security, error) {
	var s security
	if t.cert == "" && t.key == "" {
		if t.clientCA != "" {
			return s, errors.New("--client-ca asks for client certificates: it needs --tls-cert and --tls-key")
		}
		return s, nil
	}
	pair, err := tls.LoadX509KeyPair(t.cert, t.key)
	if err != nil {
		return s, fmt.Errorf("--tls-cert %q, --tls-key %q: want both, in PEM, belonging together: %w", t.cert, t.key, err)
	}
	s.certificate = &pair
	if t.clientCA == "" {
		return s, nil
	}
	text, err := os.ReadFile(t.clientCA)
	if err != nil {
		return s, fmt.Errorf("--client-ca: %w", err)
	}
	s.clients = x509.NewCertPool()
	if !s.clients.AppendCertsFromPEM(text) {
		return s, fmt.Errorf("--client-ca %s: there is no certificate in it (want PEM)", t.clientCA)
	}
	return s, nil
}

// wrap puts TLS around a listener; the data API's clients show certificates where there is an authority for them.
func (s security) wrap(l net.Listener, data bool) net.Listener {
	if s.certificate == nil {
		return l
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*s.certificate}, NextProtos: []string{"h2", "http/1.1"}}
	if data && s.clients != nil {
		c.ClientCAs, c.ClientAuth = s.clients, tls.RequireAndVerifyClientCert
	}
	return tls.NewListener(l, c)
}

func (s security) scheme() string {
	if s.certificate == nil {
		return "http"
	}
	return "https"
}
