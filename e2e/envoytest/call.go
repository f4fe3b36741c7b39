package envoytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Call is one request of a caller. The zero value of each member means its default.
type Call struct {
	Method string            // POST
	Path   string            // /api/invoke
	Host   string            // the Host header; Envoy's address
	Run    string            // the x-idem-run header; none
	Type   string            // the content type; application/json. "-": none
	Header map[string]string // more headers
	Body   string
}

// Reply is what the caller got.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	Took   time.Duration
	Err    error // there was no reply
}

// client takes a new connection for each call, as unrelated callers have: and the standard client repeats some requests
// by itself on connections that it had before.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Call sends a call through Envoy and fails the test where there is no reply at all.
func (e *Envoy) Call(t TB, c Call) Reply {
	t.Helper()
	r := e.Try(t.Context(), c)
	if r.Err != nil {
		t.Fatalf("%s %s: %v", c.Method, c.Path, r.Err)
	}
	return r
}

// Try sends a call through Envoy. A context that ends makes the caller leave.
func (e *Envoy) Try(ctx context.Context, c Call) Reply {
	request, err := c.Request(ctx, e.URL)
	if err != nil {
		return Reply{Err: err}
	}
	return Send(client, request)
}

// Request is the call's request to a server.
func (c Call) Request(ctx context.Context, url string) (*http.Request, error) {
	method, path := c.Method, c.Path
	if method == "" {
		method = http.MethodPost
	}
	if path == "" {
		path = "/api/invoke"
	}
	request, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(c.Body))
	if err != nil {
		return nil, err
	}
	switch c.Type {
	case "":
		request.Header.Set("content-type", "application/json")
	case "-":
	default:
		request.Header.Set("content-type", c.Type)
	}
	request.Host = c.Host
	if c.Run != "" {
		request.Header.Set("x-idem-run", c.Run)
	}
	for name, value := range c.Header {
		request.Header.Set(name, value)
	}
	return request, nil
}

// Send sends a request by a client of the caller's own.
func Send(client *http.Client, request *http.Request) Reply {
	began := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return Reply{Err: err, Took: time.Since(began)}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return Reply{response.StatusCode, response.Header, body, time.Since(began), err}
}

// Outcome is what the caller was told, by the header.
func (r Reply) Outcome() string { return r.Header.Get("x-idem-outcome") }

// Problem is a refusal as callers read it.
type Problem struct {
	Type, Title, Detail, Code, Outcome, Fingerprint, Pointer string

	Status       int
	Retryable    bool
	Offset       *int64
	RetryAfterMS int64 `json:"retry_after_ms"`
	Hold         struct{ ID, Reason, Of string }
}

// Problem reads the reply as a refusal. A reply that is none gives the zero Problem.
func (r Reply) Problem() Problem {
	var p Problem
	if r.Header.Get("content-type") != "application/problem+json" || json.Unmarshal(r.Body, &p) != nil {
		return Problem{}
	}
	return p
}

// HoldID is the id of the hold that the reply tells of, in any of its forms; empty: none.
func (r Reply) HoldID() string {
	p := r.Problem()
	var result struct {
		Result struct {
			Meta struct {
				Problem Problem `json:"idem/problem"`
			} `json:"_meta"`
		}
	}
	if p.Hold.ID == "" && json.Unmarshal(r.Body, &result) == nil {
		p = result.Result.Meta.Problem
	}
	return p.Hold.ID
}

// Envelope is a reply in envelope mode.
type Envelope struct {
	Outcome, Fingerprint string
	Coalesced, Replay    bool
	Result               json.RawMessage
}

// Envelope reads the reply as an envelope. A reply that is none gives the zero Envelope.
func (r Reply) Envelope() Envelope {
	var e Envelope
	if json.Unmarshal(r.Body, &e) != nil {
		return Envelope{}
	}
	return e
}

// String is the reply for a test's message.
func (r Reply) String() string {
	if r.Err != nil {
		return "no reply: " + r.Err.Error()
	}
	return fmt.Sprintf("%d, outcome %q: %s", r.Status, r.Outcome(), bytes.TrimSpace(r.Body))
}
