package e2e_test

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// What callers and tools send as Idem's or the proxy's own is not taken for it: by neither side, nor by Idem.
func nobodyPassesForIdem(t *testing.T, w *web) {
	pretended := map[string]string{"idempotent-replayed": "true"}
	maps.Copy(pretended, forged)
	for _, path := range []string{"/tools/refund", "/tools/h2/refund", "/tools/inline/refund"} {
		t.Run(path, func(t *testing.T) {
			w.Fresh(t)
			call := envoytest.Call{Path: path, Body: refundA, Run: "run-1", Header: maps.Clone(forged)}
			for outcome, details := range map[string]string{"executed": "no_healthy_upstream", "failed": "via_upstream"} {
				w.Fresh(t)
				w.Tool.Answer(func(rw http.ResponseWriter, _ *http.Request) {
					for name, value := range pretended {
						rw.Header().Set(name, value)
					}
					rw.Header().Set("x-idem-details", details)
					if outcome == "failed" {
						rw.WriteHeader(http.StatusServiceUnavailable)
					}
					io.WriteString(rw, "the tool's")
				})
				first := w.Call(t, call)
				if first.Outcome() != outcome || string(first.Body) != "the tool's" {
					t.Fatalf("a tool that says it was never reached: %v; want %s", first, outcome)
				}
				replies := []envoytest.Reply{first}
				if outcome == "executed" {
					replies = append(replies, w.Call(t, call))
				}
				for n, r := range replies {
					for name, value := range pretended {
						switch have := r.Header.Values(name); {
						case name == "x-idem-outcome" || name == "x-idem-fingerprint":
							if len(have) != 1 || have[0] == value {
								t.Errorf("reply %d: the caller sees %s: %v", n, name, have)
							}
						case name == "idempotent-replayed" && n == 1:
							if len(have) != 1 {
								t.Errorf("reply %d: the caller sees %s: %v", n, name, have)
							}
						case len(have) > 0:
							t.Errorf("reply %d: the caller sees %s: %v", n, name, have)
						}
					}
				}
				expectExecutions(t, w.Tool, 1)
				for name := range w.Tool.Calls()[0].Header {
					if name := strings.ToLower(name); strings.HasPrefix(name, "x-idem-") || strings.HasPrefix(name, "x-envoy-") {
						t.Errorf("the tool sees %s", name)
					}
				}
			}
			// A caller that says that its call was never sent does not turn a doubt into a second execution.
			w.Fresh(t)
			call.Header[envoytest.BehaviourHeader] = string(envoytest.Reset)
			if path == "/tools/h2/refund" {
				return // the tool cannot break one stream of a connection
			}
			if r := w.Call(t, call); r.Outcome() != "in_doubt" {
				t.Errorf("the caller whose call was lost got %v", r)
			}
			expectProblem(t, "the retry", w.Call(t, call), http.StatusConflict, "in_doubt")
			expectExecutions(t, w.Tool, 1)
		})
	}
}

// Nor is what stands in trailers, which pass with a call that is executed inline.
func noTrailersPassForIdem(t *testing.T, w *web) {
	w.Fresh(t)
	w.Tool.Answer(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Write([]byte("the tool's"))
		for name, value := range forged {
			rw.Header().Set(http.TrailerPrefix+name, value)
		}
		rw.Header().Set(http.TrailerPrefix+"idempotent-replayed", "true")
		rw.Header().Set(http.TrailerPrefix+"x-checksum", "1")
	})
	request := w.post(t, "/tools/h2/inline/refund", refundA)
	request.Trailer = http.Header{"X-Checksum": {"2"}}
	for name, value := range forged {
		request.Trailer.Set(name, value)
	}
	request.ContentLength = -1
	response, err := http2Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	if outcome := response.Header.Get("x-idem-outcome"); outcome != "executed" {
		t.Fatalf("outcome %q", outcome)
	}
	expectExecutions(t, w.Tool, 1)
	for who, trailer := range map[string]http.Header{"the caller": response.Trailer, "the tool": w.Tool.Calls()[0].Trailer} {
		maps.DeleteFunc(trailer, func(_ string, values []string) bool { return len(values) == 0 }) // announced, and not there
		if trailer.Get("x-checksum") == "" || len(trailer) != 1 {
			t.Errorf("%s sees the trailers %v", who, trailer)
		}
	}
}

// What belongs to one caller, one moment or one connection is not given to another.
func storedHeaders(t *testing.T, w *web) {
	const past = "Mon, 01 Jan 2024 00:00:00 GMT"
	answer := func(rw http.ResponseWriter, _ *http.Request) {
		for name, value := range map[string]string{
			"date": past, "server": "tool/1", "x-envoy-upstream-service-time": "7", "x-envoy-decorator-operation": "x",
			"keep-alive": "timeout=5", "proxy-authenticate": "Basic", "location": "/refunds/1", "etag": `"1"`,
			"cache-control": "no-store", "x-request-cost": "3", "connection": "x-hop", "x-hop": "this one's",
		} {
			rw.Header().Set(name, value)
		}
		rw.Header()["Set-Cookie"] = []string{"session=s3cret-of-the-first; HttpOnly", "theme=dark"}
		io.WriteString(rw, "{}")
	}
	for path, kept := range map[string]bool{"/tools/refund": false, "/tools/kept/refund": true, "/tools/inline/refund": false} {
		w.Fresh(t)
		w.Tool.Answer(answer)
		call := envoytest.Call{Path: path, Body: refundA}
		first, again := w.Call(t, call), w.Call(t, call)
		expect(t, path, first, http.StatusOK, "executed")
		expect(t, path, again, http.StatusOK, "replay")
		if n := len(first.Header.Values("set-cookie")); n != 2 {
			t.Errorf("%s: the caller that executed has %d cookies of its own, want 2", path, n)
		}
		if n := len(again.Header.Values("set-cookie")); n != 0 != kept {
			t.Errorf("%s: the replay has %d cookies", path, n)
		}
		for _, name := range []string{"keep-alive", "proxy-authenticate", "x-envoy-upstream-service-time", "x-envoy-decorator-operation"} {
			if v := again.Header.Get(name); v != "" {
				t.Errorf("%s: the replay has %s: %s", path, name, v)
			}
		}
		if v := first.Header.Get("x-hop") + again.Header.Get("x-hop"); v != "" {
			t.Errorf("%s: what the tool named by Connection was passed on: %s", path, v)
		}
		if d := again.Header.Values("date"); len(d) != 1 || d[0] == past {
			t.Errorf("%s: the replay's date is %v", path, d)
		}
		if s := again.Header.Get("server"); s == "tool/1" {
			t.Errorf("%s: the replay's server is the tool's", path)
		}
		for name, want := range map[string]string{"location": "/refunds/1", "etag": `"1"`, "cache-control": "no-store", "x-request-cost": "3"} {
			if v := again.Header.Get(name); v != want {
				t.Errorf("%s: the replay has %s: %q, want %q", path, name, v, want)
			}
		}
		expectExecutions(t, w.Tool, 1)
	}
}
