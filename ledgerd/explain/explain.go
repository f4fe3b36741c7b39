package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"idem/canon"
	"idem/ledgerd/wire"
)

// Call is one request as a person writes it down.
type Call struct {
	Rule    string            `json:"rule,omitempty"`    // the rule's name; empty: the one that matches
	Method  string            `json:"method,omitempty"`  // POST
	Host    string            `json:"host,omitempty"`    //
	Path    string            `json:"path,omitempty"`    // /, with the query
	Headers map[string]string `json:"headers,omitempty"` //
	Body    string            `json:"body"`              // exactly as it is sent
}

// Form is a call's canonical form, or why it has none.
type Form struct {
	Rule        string         `json:"rule,omitempty"` // the rule that read it
	Tool        string         `json:"tool,omitempty"`
	Run         string         `json:"run,omitempty"`
	Fingerprint string         `json:"fingerprint,omitempty"`
	Intent      string         `json:"intent,omitempty"`
	Shared      bool           `json:"shared_intent"` // customer and amount were found: other calls can be of the same intent
	Customer    jsontext.Value `json:"customer,omitempty"`
	Amount      jsontext.Value `json:"amount,omitempty"`
	Canonical   jsontext.Value `json:"canonical,omitempty"`
	Changes     []Step         `json:"changes"`
	Problem     *Problem       `json:"problem,omitempty"`
}

// Step is one thing that the canonical form did to the call, and why.
type Step struct {
	Pointer string `json:"pointer"`
	Part    string `json:"part,omitempty"` // of the call, where it is none of the body: endpoint
	Rule    string `json:"rule"`
	From    string `json:"from"`
	To      string `json:"to"`
	Why     string `json:"why"`
	Setting string `json:"setting,omitempty"` // which setting of the rule would read it otherwise
}

// Problem is why a call cannot be read; the filter would refuse it with the same code.
type Problem struct {
	Code    string `json:"code"`
	Pointer string `json:"pointer,omitempty"`
	Offset  int64  `json:"offset"` // bytes into the body; -1: does not apply
	Detail  string `json:"detail"`
}

// Difference is one place where two calls differ.
type Difference struct {
	Written
	Part    string `json:"part,omitempty"` // of the call, where it is none of the body: endpoint/path, scope, …
	Counts  bool   `json:"counts"`         // it makes two calls of them
	Why     string `json:"why"`
	Setting string `json:"setting,omitempty"` // which setting of the rule would make it not count
}

// Report is one call explained, or two compared.
type Report struct {
	A           Form         `json:"a"`
	B           *Form        `json:"b,omitempty"`
	Same        bool         `json:"same"`            // both have one fingerprint
	SameIntent  bool         `json:"same_intent"`     // both have one intent, and so may be near-duplicates
	Verdict     string       `json:"verdict"`         // what the two are to each other, in one sentence
	Differences []Difference `json:"differences"`     // first what counts, then what is written differently and does not
	Keyed       bool         `json:"keyed"`           // the fingerprints are those that the filter makes
	Notes       []string     `json:"notes,omitempty"` // what the reading takes for granted, a sentence each
}

// Explain explains a alone.
func (x *Explainer) Explain(a Call) (Report, error) { return x.report(a, nil) }

// Compare explains a and b and says what they are to each other.
func (x *Explainer) Compare(a, b Call) (Report, error) { return x.report(a, &b) }

// report's error is for calls that no rule reads and for rules that cannot be chosen; a call that a rule reads and
// refuses has its Problem in the report.
func (x *Explainer) report(a Call, b *Call) (Report, error) {
	r := Report{Differences: []Difference{}, Keyed: x.keyed}
	first, err := x.read(a)
	if err != nil {
		return r, err
	}
	r.A, r.Notes = first.form, first.Notes
	if b == nil {
		r.Verdict = alone(r.A)
		return r, nil
	}
	second, err := x.read(*b)
	if err != nil {
		return r, err
	}
	r.B = &second.form
	for _, note := range second.Notes {
		if !slices.Contains(r.Notes, note) {
			r.Notes = append(r.Notes, note)
		}
	}
	if r.A.Problem == nil && r.B.Problem == nil {
		r.Same = r.A.Fingerprint == r.B.Fingerprint
		r.SameIntent = r.A.Intent == r.B.Intent
		for _, d := range canon.Compare(first.action, second.action) {
			r.Differences = append(r.Differences, difference(d, first, second))
		}
	}
	r.Verdict = together(r, [2]wire.Rule{first.Terms, second.Terms})
	return r, nil
}

// reading is a call as its rule reads it.
type reading struct {
	Reader
	form   Form
	action canon.Action
	places places
}

func (x *Explainer) read(c Call) (reading, error) {
	reader, err := x.choose(c)
	if err != nil {
		return reading{}, err
	}
	g := reading{Reader: reader, form: Form{Rule: reader.Rule, Changes: []Step{}}, places: placesOf(reader)}
	g.action, err = reader.Form.Explain(reader.Call.Canon())
	f := &g.form
	var unreadable *canon.Error
	switch {
	case errors.As(err, &unreadable):
		f.Problem = &Problem{unreadable.Code, unreadable.Pointer, unreadable.Offset, unreadable.Detail}
		return g, nil
	case err != nil:
		return g, err
	}
	action := &g.action
	f.Tool, f.Run, f.Fingerprint, f.Intent = action.Tool, action.Run, action.Fingerprint, action.Intent
	f.Shared = action.Intent != action.Fingerprint
	f.Customer, f.Amount, f.Canonical = action.Customer, action.Amount, action.Canonical
	for _, c := range action.Changes {
		s := Step{Pointer: c.Pointer, Rule: c.Rule, From: c.From, To: c.To, Why: c.Why}
		if c.Rule == "endpoint" {
			s.Part = "endpoint"
		}
		s.Setting = settingFor(s)
		f.Changes = append(f.Changes, s)
	}
	return g, nil
}

// difference gives a difference its place in the body that has it, and the setting that would make it not count.
func difference(d canon.Difference, a, b reading) Difference {
	has := a
	if d.A == "" {
		has = b
	}
	pointer, part := has.places.inBody(d.Pointer)
	out := Difference{Written: Written{pointer, d.A, d.B}, Part: part, Counts: d.Counts, Why: d.Why}
	if !d.Counts || part != "" {
		return out
	}
	for _, s := range slices.Concat(a.form.Changes, b.form.Changes) {
		if s.Pointer == pointer && s.Setting != "" {
			out.Setting = s.Setting
		}
	}
	return out
}

// Canon gives the call as package canon reads it: a POST of JSON to / where nothing else is said.
func (c Call) Canon() canon.Call {
	headers := map[string][]string{}
	for name, value := range c.Headers {
		name = strings.ToLower(name)
		headers[name] = append(headers[name], value)
	}
	if _, there := headers["content-type"]; !there && c.Body != "" {
		headers["content-type"] = []string{"application/json"}
	}
	method, path := c.Method, c.Path
	if method == "" {
		method = "POST"
	}
	if path == "" {
		path = "/"
	}
	return canon.Call{
		Method: method, Host: c.Host, Path: path, Body: []byte(c.Body),
		Header: func(name string) []string { return headers[name] },
	}
}

func alone(f Form) string {
	switch {
	case f.Problem != nil:
		return "This call is refused: " + f.Problem.Detail + "."
	case f.Shared:
		return "Calls with this fingerprint are one; others with this customer and amount are near-duplicates of it."
	default:
		return "Calls with this fingerprint are one; it has no customer or no amount, so nothing else is a near-duplicate of it."
	}
}

func together(r Report, terms [2]wire.Rule) string {
	switch {
	case r.A.Problem != nil && r.B.Problem != nil:
		return "Both are refused, so neither executes."
	case r.A.Problem != nil:
		return "The first is refused: " + r.A.Problem.Detail + "."
	case r.B.Problem != nil:
		return "The second is refused: " + r.B.Problem.Detail + "."
	case r.Same:
		return "One call: the two have the same fingerprint. " + meeting(r, terms)
	case r.SameIntent:
		return fmt.Sprintf("Near-duplicates: same tool, customer and amount, but %s. %s", counting(r), meeting(r, terms))
	default:
		return fmt.Sprintf("Two calls: %s, so each executes.", counting(r))
	}
}

func counting(r Report) string {
	n := 0
	for _, d := range r.Differences {
		if d.Counts {
			n++
		}
	}
	switch n {
	case 0:
		return "they differ outside of what is shown"
	case 1:
		return "one thing differs"
	default:
		return fmt.Sprintf("%d things differ", n)
	}
}
