package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate makes a self-signed certificate for 127.0.0.1 and gives the files that it and its key are in.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestWithAClientCAOnlyItsCertificatesReachTheDataAPI(t *testing.T) {
	cert, key := certificate(t)
	p := startProcess(t, "--store", "memory", "--tls-cert", cert, "--tls-key", key, "--client-ca", cert)
	known, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	servers := x509.NewCertPool()
	servers.AppendCertsFromPEM(known)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	reaches := func(address string, shown ...tls.Certificate) error {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: servers, Certificates: shown}, DisableKeepAlives: true}}
		response, err := client.Get("https://" + address + "/healthz")
		if err == nil {
			response.Body.Close()
		}
		return err
	}
	if err := reaches(p.data); err == nil {
		t.Error("the data API takes a client without a certificate")
	}
	if err := reaches(p.data, pair); err != nil {
		t.Errorf("the data API refuses its own authority's certificate: %v", err)
	}
	if err := reaches(p.admin); err != nil {
		t.Errorf("people need no certificate: %v", err)
	}
	p.stop(t)
}

func TestTLSSettingsAreTakenTogetherOrRefused(t *testing.T) {
	cert, key := certificate(t)
	for name, c := range map[string]struct {
		files tlsFiles
		part  string
	}{
		"no key":          {tlsFiles{cert: cert}, "--tls-key"},
		"no certificate":  {tlsFiles{key: key}, "--tls-cert"},
		"CA alone":        {tlsFiles{clientCA: cert}, "--client-ca"},
		"CA is none":      {tlsFiles{cert: cert, key: key, clientCA: key}, "no certificate in it"},
		"CA is not there": {tlsFiles{cert: cert, key: key, clientCA: "/nowhere"}, "/nowhere"},
	} {
		if _, err := c.files.load(); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v, want %q in it", name, err, c.part)
		}
	}
}

func TestAListenerThatIsNotLoopbackNeedsAGuard(t *testing.T) {
	for _, open := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		if _, err := address("listen", open, true, "a --token"); err != nil {
			t.Errorf("%s, guarded: %v", open, err)
		}
		if _, err := address("listen", open, false, "a --token"); err == nil || !strings.Contains(err.Error(), "a --token") {
			t.Errorf("%s, not guarded: %v, want what it needs", open, err)
		}
	}
	for _, own := range []string{"127.0.0.1:0", "localhost:0", "[::1]:0"} {
		if _, err := address("listen", own, false, "a --token"); err != nil {
			t.Errorf("%s: %v", own, err)
		}
	}
}
