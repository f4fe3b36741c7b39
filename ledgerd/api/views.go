package api

import (
	"net/http"
)

// state is GET /api/state: counters since this ledgerd started, the newest rows, open holds, rows in doubt.
func (a *API) state(w http.ResponseWriter, r *http.Request, _ string) {
	n, err := limit(r)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	s, err := a.Ledger.State(r.Context(), n)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	a.reply(w, http.StatusOK, s)
}

// row is GET /api/rows/{attempt}: one row and what happened to it.
func (a *API) row(w http.ResponseWriter, r *http.Request, _ string) {
	v, err := a.Ledger.Row(r.Context(), r.PathValue("attempt"), r.URL.Query().Get("intent"))
	if err != nil {
		a.fail(w, r, err)
		return
	}
	a.reply(w, http.StatusOK, v)
}

// reset is POST /api/reset: every record, result and hold goes. Only for demos and tests: it makes every call new.
func (a *API) reset(w http.ResponseWriter, r *http.Request, who string) {
	if !a.AllowReset {
		a.refuse(w, r, "reset_not_allowed", "this ledgerd was started without --allow-reset; a reset forgets what was executed, so that every call may execute again")
		return
	}
	if err := read(r, &struct{}{}); err != nil {
		a.fail(w, r, err)
		return
	}
	if err := a.Ledger.Reset(r.Context()); err != nil {
		a.fail(w, r, err)
		return
	}
	a.log.Warn("the ledger was reset: every call is new", "by", who)
	a.reply(w, http.StatusOK, map[string]bool{"reset": true})
}
