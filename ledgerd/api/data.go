package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"idem/ledgerd/ledger"
	"idem/ledgerd/wire"
)

// storeTime bounds how long operations that do not wait may take once their sender can no longer end them.
const storeTime = 30 * time.Second

// Data gives the data API: POST /v1/ops, and /healthz and /readyz, which are open.
func (a *API) Data() http.Handler {
	mux := http.NewServeMux()
	a.open(mux)
	mux.HandleFunc("POST /v1/ops", a.ops)
	mux.HandleFunc("/v1/ops", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", "POST")
		a.refuse(w, r, "method_not_allowed", "/v1/ops takes POST with application/x-ndjson, one operation a line")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.refuse(w, r, "not_found", "the data API has POST /v1/ops, GET /healthz and GET /readyz; the admin API and the console have another address (--admin-listen)")
	})
	return a.measured("data", ending(plain(mux)))
}

// ops answers one batch. Its parts, a run of operations that do not wait or a run of awaits, are answered one after
// the other and sent as soon as they are there.
func (a *API) ops(w http.ResponseWriter, r *http.Request) {
	if !a.mayOperate(w, r) {
		return
	}
	read, done, err := a.room.take(r)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	defer done()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, a.Limits.BatchBytes))
	if err != nil {
		a.fail(w, r, bodyError(r, err))
		return
	}
	read(len(body))
	batch := readBatch(body)
	if len(batch) > a.Limits.BatchOps {
		a.fail(w, r, &refusal{code: "body_too_large", detail: fmt.Sprintf("a batch may have %d operations, this one has %d; nothing of it was done", a.Limits.BatchOps, len(batch))})
		return
	}
	a.metrics.batch.Observe(float64(len(batch)))
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	flow := http.NewResponseController(w)
	// The body is read. A read deadline that passes now would end the request's context, and with it its waits.
	_ = flow.SetReadDeadline(time.Time{})
	var line []byte
	ctx := ledger.OneReply(r.Context())
	for part := range batch.parts() {
		line = line[:0]
		for i, answer := range a.answer(ctx, part) {
			a.metrics.answered(part[i], answer.Kind)
			line = wire.AppendAnswer(line, &answer)
		}
		_ = flow.SetWriteDeadline(time.Now().Add(replyTime(r)))
		// Where the reader has gone, the operations that follow are still carried out: a commit must not be lost
		// because a connection was. Only waits end, with the request's context.
		_, _ = w.Write(line)
		_ = flow.Flush()
	}
}

// replyTime is how long a reader may take for a part of the reply.
func replyTime(r *http.Request) time.Duration {
	if r.Context().Err() != nil {
		return lastReply
	}
	return storeTime
}

// mayOperate decides from the headers alone whether a batch is read at all.
func (a *API) mayOperate(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" {
		// Without a token this is what keeps a page that was made to resolve to 127.0.0.1 away from the ledger.
		a.refuse(w, r, "cross_origin", "the data API is not for browsers")
		return false
	}
	if doors := a.doors.Load(); !doors.Data.Empty() {
		secret := bearer(r)
		if _, ok := doors.Data.who(secret); !ok {
			a.refuse(w, r, "unauthorized", a.stranger(r, secret)+"the data API wants `Authorization: Bearer …` with ledgerd's --token (plugin configuration: ledger.token_env)")
			return false
		}
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-ndjson" {
		a.refuse(w, r, "unsupported_media_type", "want content-type application/x-ndjson, one operation a line")
		return false
	}
	return a.uncoded(w, r)
}

// uncoded refuses a body with a content coding: none is read.
func (a *API) uncoded(w http.ResponseWriter, r *http.Request) bool {
	coding := r.Header.Get("Content-Encoding")
	if coding == "" || strings.EqualFold(coding, "identity") {
		return true
	}
	a.refuse(w, r, "unsupported_media_type", fmt.Sprintf("the body has content-encoding %.40q: send it without one", coding))
	return false
}

// stranger tells the log, though not every time, of a request without the filter's token: a filter that has another one
// gets nothing done, and its callers are told only that there is no ledger. It gives what the sender is told of it.
func (a *API) stranger(r *http.Request, secret string) (told string) {
	doors := a.doors.Load()
	_, isOperator := doors.Operators.who(secret)
	_, isViewer := doors.Viewers.who(secret)
	what := "the token does not match"
	switch {
	case secret == "":
		what = "no token was sent"
	case isOperator:
		what, told = "the operator's token was sent", "this is the operator's token; "
	case isViewer:
		what, told = "the viewer's token was sent", "this is the viewer's token; "
	}
	if missed, due := a.strange.Due(time.Now()); due {
		a.log.Warn("a data request was refused: "+what+"; the filter's (its ledger.token_env) must be this ledgerd's --token, until then its callers get 503",
			"from", remoteHost(r), "more_since_last", missed)
	}
	return told
}

// answer gives each operation of a part its answer.
func (a *API) answer(ctx context.Context, part batch) []wire.Answer {
	if part[0].waits() {
		return a.await(ctx, part)
	}
	// What came whole is done, whether or not its sender still listens.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	good := part.good()
	var answers []wire.Answer
	if len(good) > 0 {
		a.queued.Add(int64(len(good)))
		answers = a.Ledger.Do(ctx, good)
		a.queued.Add(-int64(len(good)))
	}
	return a.stamp(ctx, part.merge(answers))
}

// await waits for all awaits of a part at once; the slowest decides.
func (a *API) await(ctx context.Context, part batch) []wire.Answer {
	good := part.good()
	a.waiting.Add(int64(len(good)))
	defer a.waiting.Add(-int64(len(good)))
	answers := make([]wire.Answer, len(good))
	var all sync.WaitGroup
	for i := range good {
		all.Go(func() { answers[i] = a.Ledger.Do(ctx, good[i:i+1])[0] })
	}
	all.Wait()
	return answers
}

// stamp gives the answers that the ledger did not make the ledger's now: every answer carries it.
func (a *API) stamp(ctx context.Context, answers []wire.Answer) []wire.Answer {
	var now int64
	for i := range answers {
		now = max(now, answers[i].Now)
	}
	for i := range answers {
		if answers[i].Now != 0 {
			continue
		}
		if now == 0 {
			t, err := a.Ledger.Now(ctx)
			if err != nil {
				return answers
			}
			now = t.UnixMilli()
		}
		answers[i].Now = now
	}
	return answers
}

// bodyError says what is wrong with a body that could not be read to its end.
func bodyError(r *http.Request, err error) error {
	var large *http.MaxBytesError
	if errors.Is(context.Cause(r.Context()), ledger.ErrStopping) {
		return &refusal{code: "ledger_unavailable", after: time.Second,
			detail: "ledgerd is stopping and has not got the whole body: nothing of it was done; ask another node, or this one once it is back"}
	}
	if errors.As(err, &large) {
		return &refusal{code: "body_too_large", detail: fmt.Sprintf("at most %d bytes are read", large.Limit)}
	}
	return &refusal{code: "malformed_request", detail: "the body ended before its announced length, or came too slowly"}
}
