package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// act is a route's handler. who names the operator, for the audit.
type act func(w http.ResponseWriter, r *http.Request, who string)

// route is one method of a path of the admin API.
type route struct {
	method, path string
	needs        role
	act          act
}

// routes is the admin API. /metrics stands here too: what it tells is for viewers.
func (a *API) routes() []route {
	return []route{
		{"GET", "/api/state", viewer, a.state},
		{"GET", "/api/holds", viewer, a.holds},
		{"GET", "/api/holds/{id}", viewer, a.hold},
		{"POST", "/api/holds/{id}/release", operator, a.answerHold("release")},
		{"POST", "/api/holds/{id}/duplicate", operator, a.answerHold("duplicate")},
		{"POST", "/api/holds/{id}/deny", operator, a.answerHold("deny")},
		{"POST", "/api/release", operator, a.release},
		{"GET", "/api/in-doubt", viewer, a.doubts},
		{"GET", "/api/in-doubt/{id}", viewer, a.doubt},
		{"POST", "/api/in-doubt/{id}/resolve", operator, a.resolve},
		{"GET", "/api/rows/{attempt}", viewer, a.row},
		{"GET", "/api/events", viewer, a.events},
		{"GET", "/api/rules", viewer, a.rules},
		{"POST", "/api/explain", viewer, a.explain},
		{"POST", "/api/reset", operator, a.reset},
		{"GET", "/metrics", viewer, func(w http.ResponseWriter, r *http.Request, _ string) {
			promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
		}},
	}
}

// Admin gives the admin API, the console at /, and /healthz and /readyz, which are open.
func (a *API) Admin() http.Handler {
	guarded := http.NewServeMux()
	methods := map[string][]string{}
	for _, rt := range a.routes() {
		h := a.allow(rt.needs, rt.act)
		if rt.method == "POST" {
			h = a.jsonOnly(h)
		}
		guarded.Handle(rt.method+" "+rt.path, h)
		methods[rt.path] = append(methods[rt.path], rt.method)
	}
	for path, has := range methods {
		guarded.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(has, ", "))
			a.refuse(w, r, "method_not_allowed", fmt.Sprintf("%s takes %s", path, strings.Join(has, ", ")))
		})
	}
	guarded.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		a.refuse(w, r, "not_found", "the admin API has no such path")
	})
	if a.Pages != nil {
		guarded.Handle("/", a.Pages)
	} else {
		guarded.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			a.refuse(w, r, "not_found", "there is no such page")
		})
	}
	mux := http.NewServeMux()
	a.open(mux) // before the Host is judged: probes come by address
	mux.Handle("/", a.local(a.sameOrigin(guarded)))
	return a.measured("admin", ending(plain(mux)))
}

// reply writes a JSON reply. What the ledger keeps of a call is as its caller wrote it: it is passed on even where it
// would not be written so today.
func (a *API) reply(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err != nil {
		a.log.Error("a reply cannot be written as JSON", "error", err)
		status, body = http.StatusInternalServerError, []byte(`{"code":"internal"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client may be gone
}

// read reads a request's JSON body into v, strictly: a member that is not known might have been meant to matter. A body
// that is not there is an empty object.
func read(r *http.Request, v any) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return bodyError(r, err)
	}
	if len(body) == 0 {
		return nil
	}
	err = json.Unmarshal(body, v, json.RejectUnknownMembers(true))
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return &refusal{code: "malformed_request", detail: "the body is not one JSON object: " + syntax.Err.Error(), pointer: string(syntax.JSONPointer), offset: syntax.ByteOffset}
	case errors.As(err, &meaning):
		return &refusal{code: "malformed_request", detail: meaningOf(meaning), pointer: string(meaning.JSONPointer), offset: meaning.ByteOffset}
	}
	return &refusal{code: "malformed_request", detail: err.Error()}
}

func meaningOf(err *json.SemanticError) string {
	if err.JSONPointer == "" {
		return "the body is not an object with the members that this request takes"
	}
	if errors.Is(err, json.ErrUnknownName) {
		return "there is no such member: " + string(err.JSONPointer)
	}
	return fmt.Sprintf("the member %s has a value of another kind than it takes", err.JSONPointer)
}

// limit reads ?limit=, how many of a list are wanted.
func limit(r *http.Request) (int, error) {
	const otherwise, most = 100, 1000
	text := r.URL.Query().Get("limit")
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, &refusal{code: "malformed_request", detail: fmt.Sprintf("limit=%q: want a number from 1 to %d", text, most)}
	}
	return n, nil
}
