package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// authority issues certificates for one listener and its callers.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue issues a certificate, each time another: for a workload by its URI, or for a server on 127.0.0.1.
func (a *authority) issue(t *testing.T, uri string) *tls.Certificate {
	t.Helper()
	a.serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(100 + a.serial), Subject: pkix.Name{CommonName: "worker"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if uri == "" {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	} else {
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		template.URIs = []*url.URL{u}
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func inPEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// servedBy makes the listener speak TLS too, and ask for certificates of this authority.
func (a *authority) servedBy(t *testing.T, b envoytest.Bootstrap) {
	server := a.issue(t, "")
	key, err := x509.MarshalPKCS8PrivateKey(server.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	listener := b.Listener("idem")
	listener["listener_filters"] = []any{map[string]any{"name": "tls", "typed_config": map[string]any{
		"@type": "type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector",
	}}}
	plain := listener["filter_chains"].([]any)[0].(map[string]any)
	secure := map[string]any{
		"filters":            plain["filters"],
		"filter_chain_match": map[string]any{"transport_protocol": "tls"},
		"transport_socket": map[string]any{"name": "tls", "typed_config": map[string]any{
			"@type":                      "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
			"require_client_certificate": false,
			"common_tls_context": map[string]any{
				"alpn_protocols": []any{"h2", "http/1.1"},
				"tls_certificates": []any{map[string]any{
					"certificate_chain": map[string]any{"inline_string": inPEM("CERTIFICATE", server.Certificate[0])},
					"private_key":       map[string]any{"inline_string": inPEM("PRIVATE KEY", key)},
				}},
				"validation_context": map[string]any{"trusted_ca": map[string]any{"inline_string": inPEM("CERTIFICATE", a.certificate.Raw)}},
			},
		}},
	}
	listener["filter_chains"] = []any{plain, secure}
}

// client is a client that trusts the authority and shows a certificate.
func (a *authority) client(own *tls.Certificate) *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if own != nil {
		config.Certificates = []tls.Certificate{*own}
	}
	return tlsClient(config)
}

// Whose call it is may be what the peer's certificate says: another certificate of the same workload is still that
// workload.
func scopeByCertificate(t *testing.T, w *web) {
	const ada, bob = "spiffe://agents.example/ada", "spiffe://agents.example/bob"
	call := func(certificate *tls.Certificate, pretended string) webReply {
		r := w.post(t, "/tools/peer/refund", refundA)
		r.URL.Scheme = "https"
		r.Header.Set("x-forwarded-client-cert", "URI="+pretended)
		return send(t, w.authority.client(certificate), r)
	}
	w.Fresh(t)
	expect(t, "ada", call(w.authority.issue(t, ada), "").Reply, http.StatusOK, "executed")
	expect(t, "ada with her next certificate", call(w.authority.issue(t, ada), "").Reply, http.StatusOK, "replay")
	expect(t, "bob", call(w.authority.issue(t, bob), "").Reply, http.StatusOK, "executed")
	expect(t, "bob who says that he is ada", call(w.authority.issue(t, bob), ada).Reply, http.StatusOK, "replay")
	expectExecutions(t, w.Tool, 2)
	expectProblem(t, "a caller without certificate", call(nil, ada).Reply, http.StatusBadRequest, "unstable_scope")
	expectProblem(t, "a caller without TLS", w.Call(t, plainPeer(ada)), http.StatusBadRequest, "unstable_scope")
	expectExecutions(t, w.Tool, 2)
}

func plainPeer(pretended string) envoytest.Call {
	return envoytest.Call{Path: "/tools/peer/refund", Body: refundA, Header: map[string]string{"x-forwarded-client-cert": "URI=" + pretended}}
}
