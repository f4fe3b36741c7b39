package redis

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"idem/ledgerd/store/option"
)

// place is what a URL says: where the store is, and what is promised there.
type place struct {
	addresses          []string
	username, password string
	db                 int
	tls                *tls.Config
	prefix             string
	acceptLoss         bool
	minReplicas        int
}

// parameters says what a URL's query may have.
const parameters = "accept_loss, min_replicas, prefix, addr, and with rediss: ca, cert, key, server_name"

// CheckURL says what is wrong with a store's URL, and asks no server: an ErrURL.
func CheckURL(url string) error {
	_, err := parse(url)
	return err
}

// parse reads a URL:
//
//	redis://[[user]:password@]host[:6379][/db][?parameters]    rediss:// for TLS
//
//	accept_loss=true   acknowledge before the write is synced and replicated
//	min_replicas=2     acknowledge once so many replicas have the write
//	prefix=idem        what every key begins with
//	addr=host:port     one more node of the cluster to begin with; may be repeated
//	ca=file, cert=file, key=file, server_name=name    PEM files and the name for TLS
//
// No error repeats the URL or a part of it that may be secret.
func parse(text string) (*place, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The error of package url repeats the URL.
		return nil, fmt.Errorf("%w: it cannot be read, want redis://[user:password@]host:port[/db]; "+
			"a password's special characters must be percent-encoded", ErrURL)
	}
	p := &place{prefix: "idem", username: u.User.Username()}
	p.password, _ = u.User.Password()
	var wrong []error
	mistake := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%w: %s", ErrURL, fmt.Sprintf(format, args...)))
	}

	secure := u.Scheme == "rediss"
	if !secure && u.Scheme != "redis" {
		mistake("the scheme is %q, want redis or rediss", u.Scheme)
	}
	if u.Hostname() == "" {
		mistake("it names no host, want redis://host:port")
	}
	if u.Fragment != "" {
		mistake("it has a fragment; a # in a password must be written %%23")
	}
	p.addresses = []string{withPort(u.Host)}
	if db := strings.Trim(u.Path, "/"); db != "" {
		if p.db, err = strconv.Atoi(db); err != nil || p.db < 0 {
			mistake("the path is the number of a database, want a whole number from 0, as in /2")
		}
	}

	query, err := option.ParseQuery(u.RawQuery)
	if err != nil {
		mistake("the query cannot be read")
	}
	files := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		values := query[name]
		if name != "addr" && len(values) > 1 {
			mistake("parameter %s stands %d times, want it once", name, len(values))
		}
		value := values[0]
		switch name {
		case "accept_loss":
			if p.acceptLoss, err = strconv.ParseBool(value); err != nil {
				mistake("accept_loss is %q, want true or false", value)
			}
		case "min_replicas":
			if p.minReplicas, err = strconv.Atoi(value); err != nil || p.minReplicas < 0 {
				mistake("min_replicas is %q, want a whole number from 0", value)
			}
		case "prefix":
			p.prefix = value
			if value == "" || strings.ContainsAny(value, "{}") {
				mistake("prefix is %q, want at least one character, and no { or }", value)
			}
		case "addr":
			for _, a := range values {
				if a == "" {
					mistake("addr is empty, want host:port")
				}
				p.addresses = append(p.addresses, withPort(a))
			}
		case "ca", "cert", "key", "server_name":
			if !secure {
				mistake("parameter %s is for TLS, want the scheme rediss with it", name)
			}
			files[name] = value
		default:
			mistake("it has a parameter %q, want one of: %s", name, parameters)
		}
	}
	if p.acceptLoss && p.minReplicas > 0 {
		mistake("accept_loss and min_replicas contradict each other: want one of them")
	}
	if secure {
		if p.tls, err = secured(files, u.Hostname()); err != nil {
			wrong = append(wrong, err)
		}
	}
	return p, errors.Join(wrong...)
}

func withPort(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), "6379")
}

// secured makes the settings of TLS.
func secured(files map[string]string, host string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if name := files["server_name"]; name != "" {
		c.ServerName = name
	}
	if file := files["ca"]; file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%w: ca: %w", ErrURL, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: ca %s holds no certificate, want PEM", ErrURL, file)
		}
	}
	if cert, key := files["cert"], files["key"]; cert != "" || key != "" {
		if cert == "" || key == "" {
			return nil, fmt.Errorf("%w: cert and key belong together, want both or none", ErrURL)
		}
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("%w: cert and key: %w", ErrURL, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
