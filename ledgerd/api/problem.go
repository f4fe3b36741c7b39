package api

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"idem/ledgerd/ledger"
	"idem/ledgerd/store"
	"idem/ledgerd/wire"
)

// problem is a refusal as RFC 9457 has it. Its members are those that the filter's refusals have too.
type problem struct {
	Type         string `json:"type"`
	Title        string `json:"title"`
	Status       int    `json:"status"`
	Detail       string `json:"detail"`
	Code         string `json:"code"`
	Retryable    bool   `json:"retryable"`
	RetryAfterMS int64  `json:"retry_after_ms,omitzero"`
	Pointer      string `json:"pointer,omitzero"`
	Offset       *int64 `json:"offset,omitzero"`
}

// The codes of the admin and data API's refusals, each with its status and title.
var problems = map[string]struct {
	status int
	title  string
}{
	"malformed_request":      {http.StatusBadRequest, "The request cannot be read"},
	"unauthorized":           {http.StatusUnauthorized, "A token is needed"},
	"forbidden":              {http.StatusForbidden, "Not allowed"},
	"cross_origin":           {http.StatusForbidden, "Refused: the request comes from another site"},
	"host_not_allowed":       {http.StatusForbidden, "Refused: unknown Host"},
	"reset_not_allowed":      {http.StatusForbidden, "Resetting is switched off"},
	"not_found":              {http.StatusNotFound, "There is no such thing"},
	"method_not_allowed":     {http.StatusMethodNotAllowed, "Not with this method"},
	"conflict":               {http.StatusConflict, "It is no longer open to this answer"},
	"body_too_large":         {http.StatusRequestEntityTooLarge, "The body is too large"},
	"unsupported_media_type": {http.StatusUnsupportedMediaType, "The content type is not right"},
	"overloaded":             {http.StatusTooManyRequests, "Too much at once"},
	"internal":               {http.StatusInternalServerError, "ledgerd failed"},
	"ledger_unavailable":     {http.StatusServiceUnavailable, "The ledger's store does not answer"},
}

// refusal is an error that already knows which problem it is.
type refusal struct {
	code    string
	detail  string
	pointer string
	offset  int64
	after   time.Duration
}

func (r *refusal) Error() string { return r.detail }

// refuse writes a problem. code must be one of the table's.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, code, detail string) {
	a.fail(w, r, &refusal{code: code, detail: detail})
}

// fail writes the problem that err is. Every error of the ledger gets its status here and nowhere else. What went
// wrong inside is for the log: the caller is told the kind only.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	if p.Status >= 500 {
		if missed, due := a.failed.Due(time.Now()); due {
			a.log.Error("request failed", "method", r.Method, "route", r.Pattern, "code", p.Code, "error", err, "more_since_last", missed)
		}
	}
	h := w.Header()
	if p.RetryAfterMS > 0 {
		h.Set("Retry-After", strconv.FormatInt((p.RetryAfterMS+999)/1000, 10))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="idem"`)
	}
	h.Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.MarshalWrite(w, p) // the client may be gone
}

func problemOf(err error) problem {
	var known *refusal
	var conflict *ledger.ConflictError
	switch {
	case errors.As(err, &known):
	case errors.As(err, &conflict):
		known = &refusal{code: "conflict", detail: conflict.Why, after: conflict.RetryAfter}
	case errors.Is(err, ledger.ErrNotFound), errors.Is(err, store.ErrNotFound):
		known = &refusal{code: "not_found", detail: "the ledger knows no such id; it may have been answered and forgotten since"}
	case errors.Is(err, store.ErrOverloaded):
		known = &refusal{code: "overloaded", detail: "too many writes are waiting for the store", after: time.Second}
	case errors.Is(err, store.ErrUnavailable):
		known = &refusal{code: "ledger_unavailable", detail: storeTrouble(err) + "; whether the request took effect is not known", after: time.Second}
	default:
		known = &refusal{code: "internal", detail: "an error inside ledgerd; its log says which"}
	}
	kind := problems[known.code]
	p := problem{
		Type: "urn:idem:problem:" + known.code, Title: kind.title, Status: kind.status, Detail: known.detail,
		Code: known.code, RetryAfterMS: wire.WaitMS(known.after), Pointer: known.pointer,
	}
	p.Retryable = p.RetryAfterMS > 0
	if known.offset > 0 {
		p.Offset = &known.offset
	}
	return p
}
