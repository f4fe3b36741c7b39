package linearizable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"idem/ledgerd/intent"
	"idem/ledgerd/ledger"
	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// Process is a ledgerd of its own, asked over its APIs. Crash ends it as kill -9 does and starts it again; it returns once
// it can be asked.
//
// Histories of processes are made without an injected clock, so their rules have terms that do not end, and moments are
// not compared; and without faults between ledgerd and its store, which only ledgerd could see. What is not known is what
// was under way when a process crashed.
type Process struct {
	Data, Admin string // addresses, ip:port
	Crash       func()
}

// desk is what clients call: a ledger in this process, or one elsewhere.
type desk interface {
	Do(ctx context.Context, ops []wire.Op) []wire.Answer
	AnswerHold(ctx context.Context, id string, a ledger.HoldAnswer) (ledger.HoldView, error)
	Resolve(ctx context.Context, attempt string, r ledger.Resolution) (ledger.DoubtView, error)
}

// Do implements desk.
func (p Process) Do(ctx context.Context, ops []wire.Op) []wire.Answer {
	var body []byte
	for i := range ops {
		body = wire.AppendOp(body, &ops[i])
	}
	answers := make([]wire.Answer, len(ops))
	text, _, err := p.post(ctx, "http://"+p.Data+"/v1/ops", "application/x-ndjson", body)
	for i := range answers {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		if answers[i], text = failed(err), rest; err == nil {
			if a, bad := wire.ReadAnswer(line); bad == nil {
				answers[i] = a
			} else {
				answers[i] = failed(bad)
			}
		}
	}
	return answers
}

// errNotSent says that a request surely reached nobody.
var errNotSent = errors.New("nobody listens")

// failed is the answer of a process that gave none: it may have happened, or surely has not.
func failed(err error) wire.Answer {
	if errors.Is(err, errNotSent) {
		return wire.Answer{Kind: wire.AnswerError, Code: wire.CodeOverloaded, Detail: err.Error()}
	}
	return wire.Answer{Kind: wire.AnswerError, Code: wire.CodeUnavailable, Detail: fmt.Sprint(err)}
}

// AnswerHold implements desk.
func (p Process) AnswerHold(ctx context.Context, id string, a ledger.HoldAnswer) (v ledger.HoldView, err error) {
	err = p.people(ctx, "/api/holds/"+url.PathEscape(id)+"/"+string(a.Decision), map[string]any{"version": a.Version})
	return v, err
}

// Resolve implements desk.
func (p Process) Resolve(ctx context.Context, attempt string, r ledger.Resolution) (v ledger.DoubtView, err error) {
	say := map[string]any{"as": r.As, "reason": "looked"}
	if r.Result != nil && r.As == intent.Committed { // a call that did not happen has none
		say["result"] = map[string]any{"status": r.Result.Status, "body": string(r.Result.Body)}
	}
	err = p.people(ctx, "/api/in-doubt/"+url.PathEscape(attempt)+"/resolve", say)
	return v, err
}

// people sends a human's answer. The errors are those that a ledger gives.
func (p Process) people(ctx context.Context, path string, say any) error {
	body, err := json.Marshal(say)
	if err != nil {
		return err
	}
	text, status, err := p.post(ctx, "http://"+p.Admin+path, "application/json", body)
	switch {
	case errors.Is(err, errNotSent):
		return fmt.Errorf("%w: %w", store.ErrOverloaded, err)
	case err != nil:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	case status == http.StatusConflict:
		return &ledger.ConflictError{Why: string(text)}
	case status == http.StatusNotFound:
		return ledger.ErrNotFound
	case status >= 300:
		return fmt.Errorf("%w: status %d: %s", store.ErrUnavailable, status, text)
	}
	return nil
}

func (p Process) post(ctx context.Context, url, kind string, body []byte) (text []byte, status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(request)
	var failed *net.OpError
	if errors.As(err, &failed) && failed.Op == "dial" {
		return nil, 0, fmt.Errorf("%w: %w", errNotSent, err)
	}
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	return text, response.StatusCode, err
}
