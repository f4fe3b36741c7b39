package api

import (
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// role is what a token allows.
type role int

const (
	viewer   role = iota // may look
	operator             // may answer too
)

// plain sets what every reply has: nothing of it is stored on its way, framed, or taken for another type.
func plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		next.ServeHTTP(w, r)
	})
}

// local lets only requests with an allowed Host pass. Without it a page whose name resolves to 127.0.0.1 could use a
// console that needs no token (DNS rebinding).
func (a *API) local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.hosts.allows(r.Host) {
			a.refuse(w, r, "host_not_allowed", fmt.Sprintf("the Host %q is not one of this console's: it answers to loopback names and to those given by --allow-host", r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sameOrigin refuses what a page of another site makes a browser send.
func (a *API) sameOrigin(next http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.refuse(w, r, "cross_origin", "the admin API takes requests from its own console only, and from programs that are no browsers")
	}))
	return p.Handler(next)
}

// allow lets a request pass that may do what needs a role; the name of who asks goes to the handler.
func (a *API) allow(needs role, next func(w http.ResponseWriter, r *http.Request, who string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		doors := a.doors.Load()
		if doors.Operators.Empty() && doors.Viewers.Empty() {
			next(w, r, "anyone at "+remoteHost(r))
			return
		}
		secret := bearer(r)
		who, isOperator := doors.Operators.who(secret)
		_, isViewer := doors.Viewers.who(secret)
		_, isFilter := doors.Data.who(secret)
		switch {
		case isOperator || isViewer && needs == viewer:
			next(w, r, who)
		case isViewer && doors.Operators.Empty():
			a.refuse(w, r, "forbidden", "this ledgerd has no --operator-token: it can be looked at, not answered")
		case isViewer:
			a.refuse(w, r, "forbidden", "the viewer's token may look; this needs the operator's")
		case isFilter:
			a.refuse(w, r, "unauthorized", "this is the filter's token (--token); use the operator's (--operator-token), or to look only, the viewer's")
		default:
			a.refuse(w, r, "unauthorized", "the admin API wants `Authorization: Bearer …` with ledgerd's --operator-token, or to look only, its --viewer-token")
		}
	}
}

// jsonOnly refuses a POST that is not declared as JSON. A form of another site cannot declare it.
func (a *API) jsonOnly(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		charset := params["charset"]
		if err != nil || kind != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
			a.refuse(w, r, "unsupported_media_type", "want the header content-type: application/json, on every POST, also without a body")
			return
		}
		if !a.uncoded(w, r) {
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, a.Limits.AdminBytes)
		next(w, r)
	}
}

// hostList is the Hosts that the admin face answers to, beside the loopback names.
type hostList struct {
	any   bool
	names map[string]bool
}

func newHostList(allowed []string) (hostList, error) {
	l := hostList{names: map[string]bool{}}
	for _, h := range allowed {
		name := strings.ToLower(strings.TrimSuffix(strings.Trim(h, "[]"), "."))
		switch {
		case h == "*":
			l.any = true
		case name == "" || strings.ContainsAny(name, "/@ *") || strings.Count(name, ":") == 1:
			return l, fmt.Errorf("allowed host %q: want a name or an address without scheme and port, such as idem.example.com, or * for any", h)
		default:
			l.names[name] = true
		}
	}
	return l, nil
}

func (l hostList) allows(host string) bool {
	if l.any {
		return true
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || l.names[name] {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}

func remoteHost(r *http.Request) string {
	if h, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return h
	}
	return r.RemoteAddr
}
