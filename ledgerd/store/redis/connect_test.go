package redis

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"idem/ledgerd/store"
	"idem/ledgerd/store/redis/redistest"
)

func TestTLSWithAnOwnAuthority(t *testing.T) {
	server := redistest.Start(t)
	pair, ca := certificate(t)
	p := newProxy(t, server.Address, &tls.Config{Certificates: []tls.Certificate{pair}})
	s := mustOpen(t, "rediss://"+p.address()+"?ca="+ca, Options{})
	_, err := s.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x")})
	must(t, err, s.Close())
	for url, want := range map[string]string{
		"rediss://" + p.address(): "certificate", // signed by nobody known
		"rediss://" + p.address() + "?server_name=other.example&ca=" + ca: "other.example",
	} {
		if _, err := Open(t.Context(), url, Options{}); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want ErrUnavailable with %q", url, err, want)
		}
	}
}

// certificate makes a certificate for 127.0.0.1 that signs itself, and a file with it.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	file := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

func TestDatabaseOfTheURLIsUsed(t *testing.T) {
	server := redistest.Start(t)
	url := strings.Replace(server.URL(), server.Address, server.Address+"/3", 1)
	s := mustOpen(t, url, Options{})
	_, err := s.Swap(t.Context(), store.Write{Key: hexKey("a"), Data: []byte("x")})
	must(t, err, s.Close())
	if keys := server.Do(t, "DBSIZE"); keys != ":0" {
		t.Errorf("database 0 has %s keys, want none", keys)
	}
	again := mustOpen(t, url, Options{})
	defer again.Close()
	if _, err := again.Load(t.Context(), hexKey("a")); err != nil {
		t.Error(err)
	}
}

func TestPasswordOfTheServerIsUsed(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "a#b/c")
	if _, err := Open(t.Context(), server.URL(), Options{}); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "NOAUTH") {
		t.Errorf("without a password: got %v, want ErrUnavailable with NOAUTH", err)
	}
	s := mustOpen(t, strings.Replace(server.URL(), "://", "://:a%23b%2Fc@", 1), Options{})
	must(t, s.Close())
}

func TestMoreAddressesAreForAClusterOnly(t *testing.T) {
	server := redistest.Start(t)
	if _, err := Open(t.Context(), server.URL("addr="+server.Address), Options{}); !errors.Is(err, ErrURL) {
		t.Errorf("got %v, want ErrURL", err)
	}
}

func TestStoreIsMadeOnceByManyAtOnce(t *testing.T) {
	server := redistest.Start(t)
	ids := make(chan string, 8)
	for range cap(ids) {
		go func() {
			s, err := Open(t.Context(), server.URL(), Options{Log: silent, Migrate: true})
			if err != nil {
				t.Errorf("Open: %v", err)
				ids <- ""
				return
			}
			ids <- s.id
			must(t, s.Close())
		}()
	}
	first := <-ids
	for range cap(ids) - 1 {
		if id := <-ids; id != first {
			t.Errorf("two stores were made: %q and %q", first, id)
		}
	}
}
