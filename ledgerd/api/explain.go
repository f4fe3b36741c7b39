package api

import (
	"net/http"

	"idem/ledgerd/explain"
)

// Explainer says what the canonical form of calls is, and by which rules; *explain.Explainer does.
type Explainer interface {
	Rules() []explain.Rule
	Explain(a explain.Call) (explain.Report, error)
	Compare(a, b explain.Call) (explain.Report, error)
}

// rules is GET /api/rules: the rules that calls can be explained by, in the order in which they are tried.
func (a *API) rules(w http.ResponseWriter, _ *http.Request, _ string) {
	a.reply(w, http.StatusOK, map[string][]explain.Rule{"rules": a.Explainer.Rules()})
}

// explain is POST /api/explain: {"a": call} or {"a": call, "b": call}, a call being {"body": "…"} with method, host,
// path and headers where they matter. The body is a text: what is explained is how it was written.
func (a *API) explain(w http.ResponseWriter, r *http.Request, _ string) {
	var body struct {
		A *explain.Call `json:"a"`
		B *explain.Call `json:"b"`
	}
	if err := read(r, &body); err != nil {
		a.fail(w, r, err)
		return
	}
	if body.A == nil {
		a.fail(w, r, &refusal{code: "malformed_request", detail: `want {"a": {"body": "…"}}, and beside it "b" to compare`, pointer: "/a"})
		return
	}
	var report explain.Report
	var err error
	if body.B == nil {
		report, err = a.Explainer.Explain(*body.A)
	} else {
		report, err = a.Explainer.Compare(*body.A, *body.B)
	}
	if err != nil {
		a.fail(w, r, &refusal{code: "malformed_request", detail: err.Error()})
		return
	}
	a.reply(w, http.StatusOK, report)
}
