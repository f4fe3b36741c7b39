package api

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"idem/ledgerd/intent"
	"idem/ledgerd/ledger"
	"idem/ledgerd/wire"
)

// doubts is GET /api/in-doubt: the rows in doubt, oldest first.
func (a *API) doubts(w http.ResponseWriter, r *http.Request, _ string) {
	n, err := limit(r)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	list, err := a.Ledger.Doubts(r.Context(), n)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	a.reply(w, http.StatusOK, map[string][]ledger.DoubtView{"in_doubt": list})
}

// doubt is GET /api/in-doubt/{id}: the id is the attempt's.
func (a *API) doubt(w http.ResponseWriter, r *http.Request, _ string) {
	d, err := a.Ledger.Doubt(r.Context(), r.PathValue("id"))
	if err != nil {
		a.fail(w, r, err)
		return
	}
	a.reply(w, http.StatusOK, d)
}

// resolution is the body of a resolve. Released says that the call did not happen, so that it may execute again;
// committed that it did, so that its result, where one is given, is replayed.
type resolution struct {
	As     string       `json:"as"`
	Result *givenResult `json:"result"`
	Reason string       `json:"reason"`
}

// givenResult is a result as a human writes it down. At most one of the three bodies is there.
type givenResult struct {
	Status     int               `json:"status"`      // 200 where it is not given
	Headers    map[string]string `json:"headers"`     //
	JSON       jsontext.Value    `json:"json"`        // any value; content-type is application/json unless given
	Body       string            `json:"body"`        // a text
	BodyBase64 string            `json:"body_base64"` // bytes
}

// resolve is POST /api/in-doubt/{id}/resolve.
func (a *API) resolve(w http.ResponseWriter, r *http.Request, who string) {
	var body resolution
	if err := read(r, &body); err != nil {
		a.fail(w, r, err)
		return
	}
	if err := checkReason(body.Reason); err != nil {
		a.fail(w, r, err)
		return
	}
	answer := ledger.Resolution{By: who, Reason: body.Reason}
	switch body.As {
	case "released":
		answer.As = intent.Released
		if body.Result != nil {
			a.fail(w, r, &refusal{code: "malformed_request", detail: "a call that is released did not happen, so it has no result", pointer: "/result"})
			return
		}
	case "committed":
		answer.As = intent.Committed
	default:
		a.fail(w, r, &refusal{code: "malformed_request", detail: fmt.Sprintf(`as is %q: want "released" (it did not happen, and may execute again) or "committed" (it happened)`, body.As), pointer: "/as"})
		return
	}
	if body.Result != nil {
		result, err := body.Result.wire()
		if err != nil {
			a.fail(w, r, err)
			return
		}
		answer.Result = result
	}
	next := "Send the same call again: it executes."
	switch {
	case answer.Result != nil:
		next = "Send the same call again: it gets the result that was given."
	case answer.As == intent.Committed:
		next = "Send the same call again: it is told that it happened, and that there is no result (result_unavailable)."
	}
	id := r.PathValue("id")
	d, err := a.Ledger.Resolve(r.Context(), id, answer)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	a.reply(w, http.StatusOK, resolved{d, next})
}

// resolved is a call that was in doubt, and what comes of the answer for those who send it again.
type resolved struct {
	ledger.DoubtView
	Next string `json:"next"`
}

// wire gives the result as it would have come from the filter.
func (g *givenResult) wire() (*wire.Result, error) {
	result := &wire.Result{Status: g.Status, Body: []byte(g.Body)}
	if result.Status == 0 {
		result.Status = http.StatusOK
	}
	if result.Status < 200 || result.Status > 399 {
		return nil, &refusal{code: "malformed_request", detail: fmt.Sprintf("status is %d: a committed call has a success's status, 200 to 399", g.Status), pointer: "/result/status"}
	}
	given := 0
	for _, there := range []bool{len(g.JSON) > 0, g.Body != "", g.BodyBase64 != ""} {
		if there {
			given++
		}
	}
	if given > 1 {
		return nil, &refusal{code: "malformed_request", detail: "give one of json, body and body_base64", pointer: "/result"}
	}
	for name, value := range g.Headers {
		name = strings.ToLower(name)
		if !validHeader(name, value) {
			return nil, &refusal{code: "malformed_request", detail: fmt.Sprintf("%q is not the name of a header that may be stored, or its value has a control character", name), pointer: "/result/headers"}
		}
		result.Headers = append(result.Headers, [2]string{name, value})
	}
	slices.SortFunc(result.Headers, func(x, y [2]string) int { return strings.Compare(x[0], y[0]) })
	typed := slices.ContainsFunc(result.Headers, func(h [2]string) bool { return h[0] == "content-type" })
	switch {
	case len(g.JSON) > 0:
		result.Body = g.JSON
		if !typed {
			result.Headers = append(result.Headers, [2]string{"content-type", "application/json"})
		}
	case g.BodyBase64 != "":
		body, err := base64.StdEncoding.DecodeString(g.BodyBase64)
		if err != nil {
			return nil, &refusal{code: "malformed_request", detail: "body_base64 is not base64 (RFC 4648 section 4, padded)", pointer: "/result/body_base64"}
		}
		result.Body = body
	}
	return result, nil
}

// validHeader says whether a header may be stored and sent later (RFC 9110 sections 5.1 and 5.5). Those of Idem itself
// and those that frame a message are the filter's to write.
func validHeader(name, value string) bool {
	if !wire.Token(name) || wire.HopByHop(name) || strings.HasPrefix(name, "x-idem-") {
		return false
	}
	return !strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}
