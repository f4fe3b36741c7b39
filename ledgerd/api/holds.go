package api

import (
	"fmt"
	"net/http"

	"idem/ledgerd/explain"
	"idem/ledgerd/intent"
	"idem/ledgerd/ledger"
)

// heldCall is a hold with what its call writes differently from the call that it may repeat. Where bodies are not
// stored there is nothing to compare.
type heldCall struct {
	ledger.HoldView
	Differences []explain.Written `json:"differences"`
}

func compared(h ledger.HoldView) heldCall {
	c := heldCall{HoldView: h, Differences: []explain.Written{}}
	if len(h.Action) > 0 && len(h.OfAction) > 0 {
		c.Differences = explain.Differences(h.OfAction, h.Action)
	}
	return c
}

// holds is GET /api/holds: the open holds, oldest first.
func (a *API) holds(w http.ResponseWriter, r *http.Request, _ string) {
	n, err := limit(r)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	list, err := a.Ledger.Holds(r.Context(), n)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	held := make([]heldCall, 0, len(list))
	for _, h := range list {
		held = append(held, compared(h))
	}
	a.reply(w, http.StatusOK, map[string][]heldCall{"holds": held})
}

// hold is GET /api/holds/{id}.
func (a *API) hold(w http.ResponseWriter, r *http.Request, _ string) {
	h, err := a.Ledger.Hold(r.Context(), r.PathValue("id"))
	if err != nil {
		a.fail(w, r, err)
		return
	}
	a.reply(w, http.StatusOK, compared(h))
}

// holdAnswer is the body of an answer to a hold; all of it is optional. A version makes sure that what is answered is
// what was looked at.
type holdAnswer struct {
	Version int64  `json:"version"`
	Reason  string `json:"reason"`
}

// answerHold is POST /api/holds/{id}/release, …/duplicate and …/deny.
func (a *API) answerHold(decision intent.Decision) act {
	return func(w http.ResponseWriter, r *http.Request, who string) {
		var body holdAnswer
		if err := read(r, &body); err != nil {
			a.fail(w, r, err)
			return
		}
		a.decide(w, r, r.PathValue("id"), decision, body, who)
	}
}

// release is POST /api/release {"id": …}: the same as POST /api/holds/{id}/release.
func (a *API) release(w http.ResponseWriter, r *http.Request, who string) {
	var body struct {
		ID      string `json:"id"`
		Version int64  `json:"version"`
		Reason  string `json:"reason"`
	}
	if err := read(r, &body); err != nil {
		a.fail(w, r, err)
		return
	}
	if body.ID == "" {
		a.fail(w, r, &refusal{code: "malformed_request", detail: `want the hold's id: {"id": "…"}`, pointer: "/id"})
		return
	}
	a.decide(w, r, body.ID, intent.Release, holdAnswer{body.Version, body.Reason}, who)
}

// answeredCall is a hold that was answered, and what comes of it for those who send the call again.
type answeredCall struct {
	heldCall
	Next string `json:"next"`
}

// checkReason wants a reason that the audit keeps whole.
func checkReason(reason string) error {
	if len(reason) <= intent.MaxReason {
		return nil
	}
	return &refusal{code: "malformed_request", detail: fmt.Sprintf("the reason has %d bytes: want at most %d", len(reason), intent.MaxReason), pointer: "/reason"}
}

var afterHold = map[intent.Decision]string{
	intent.Release:   "Send the same call again: it executes once.",
	intent.Duplicate: "Send the same call again: it gets the stored result.",
	intent.Deny:      "The same call is refused from now on (denied).",
}

func (a *API) decide(w http.ResponseWriter, r *http.Request, id string, decision intent.Decision, body holdAnswer, who string) {
	if err := checkReason(body.Reason); err != nil {
		a.fail(w, r, err)
		return
	}
	h, err := a.Ledger.AnswerHold(r.Context(), id, ledger.HoldAnswer{Decision: decision, Version: body.Version, By: who, Reason: body.Reason})
	if err != nil {
		a.fail(w, r, err)
		return
	}
	a.reply(w, http.StatusOK, answeredCall{compared(h), afterHold[decision]})
}
