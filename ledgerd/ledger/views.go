package ledger

import (
	"encoding/json"
	"time"

	"idem/ledgerd/intent"
)

// HoldView is a hold as people see it.
type HoldView struct {
	ID          string          `json:"id"`
	Version     int64           `json:"version"`
	Reason      string          `json:"reason"`
	Of          string          `json:"of,omitempty"`
	State       string          `json:"state"` // held, approved, denied, alias, …
	Fingerprint string          `json:"fingerprint"`
	Intent      string          `json:"intent"`
	Rule        string          `json:"rule"`
	Tool        string          `json:"tool"`
	Runs        []string        `json:"runs"`
	Action      json.RawMessage `json:"action,omitempty"`    // the call as written
	OfAction    json.RawMessage `json:"of_action,omitempty"` // the call that it may repeat, as written
	Opened      time.Time       `json:"opened"`
	Expires     time.Time       `json:"expires"`
	OfState     string          `json:"of_state,omitempty"`  // of the call that it may repeat
	OfRuns      []string        `json:"of_runs,omitempty"`   //
	OfArrived   time.Time       `json:"of_arrived,omitzero"` //
	Audit       []AuditView     `json:"audit,omitempty"`
}

// AuditView is one human answer.
type AuditView struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	What   string    `json:"what"` // release, duplicate, deny, committed, released
	Reason string    `json:"reason,omitempty"`
}

// ChangeView is one change of a row's state.
type ChangeView struct {
	At    time.Time `json:"at"`
	State string    `json:"state"`
	Why   string    `json:"why"`
}

// DoubtView is a row in doubt as people see it.
type DoubtView struct {
	Attempt         string          `json:"attempt"`
	State           string          `json:"state"`
	Fingerprint     string          `json:"fingerprint"`
	Intent          string          `json:"intent"`
	Rule            string          `json:"rule"`
	Tool            string          `json:"tool"`
	Runs            []string        `json:"runs"`
	Action          json.RawMessage `json:"action,omitempty"`
	Granted         time.Time       `json:"granted"`
	Since           time.Time       `json:"since"`
	ReleasableAfter time.Time       `json:"releasable_after"`
	Audit           []AuditView     `json:"audit,omitempty"`
}

// RowView is a row as people see it, with what happened to it.
type RowView struct {
	Attempt     string          `json:"attempt,omitempty"`
	Hold        string          `json:"hold,omitempty"`
	State       string          `json:"state"`
	Fingerprint string          `json:"fingerprint"`
	Intent      string          `json:"intent"`
	Rule        string          `json:"rule"`
	Tool        string          `json:"tool"`
	Runs        []string        `json:"runs"`
	Action      json.RawMessage `json:"action,omitempty"`
	Arrived     time.Time       `json:"arrived"`
	Changed     time.Time       `json:"changed"`
	Status      int             `json:"status,omitempty"`  // of the stored result
	Missing     string          `json:"missing,omitempty"` // why there is no result: too_large, erased, resolved
	ApprovedBy  string          `json:"approved_by,omitempty"`
	AliasOf     string          `json:"alias_of,omitempty"`
	History     []ChangeView    `json:"history,omitempty"`
	Audit       []AuditView     `json:"audit,omitempty"`
	// FencedCommits is when the attempt brought a result that was not taken: it may have executed twice.
	FencedCommits []time.Time `json:"fenced_commits,omitempty"`
}

// StateView is what GET /api/state gives.
type StateView struct {
	Now      time.Time        `json:"now"`
	Counters map[string]int64 `json:"counters"` // since this ledgerd started: arrivals, executed, coalesced, replays, held, denied, in_doubt, failed, not_sent, refused, fenced_commits, …
	Rows     []RowView        `json:"rows"`     // newest first
	Holds    []HoldView       `json:"holds"`    // open ones
	InDoubt  []DoubtView      `json:"in_doubt"`
}

func holdView(e *entry, r *intent.Row) HoldView {
	v := HoldView{
		ID: r.Question.ID, Version: r.Question.Version, Reason: r.Question.Reason, Of: r.Question.Of, State: string(r.State),
		Fingerprint: r.Fingerprint, Intent: e.key, Rule: r.Rule.Name, Tool: r.Tool, Runs: r.Runs, Action: r.Action,
		Opened: r.Question.Opened, Expires: r.Question.Until, Audit: auditView(r),
	}
	if of, ok := e.Record.RowOf(*r.Question); ok {
		v.OfAction, v.OfState, v.OfRuns, v.OfArrived = of.Action, string(of.State), of.Runs, of.Arrived
	}
	return v
}

func doubtView(e *entry, r *intent.Row) DoubtView {
	return DoubtView{
		Attempt: r.Attempt, State: string(r.State), Fingerprint: r.Fingerprint, Intent: e.key, Rule: r.Rule.Name, Tool: r.Tool,
		Runs: r.Runs, Action: r.Action, Granted: r.Granted, Since: r.Since, ReleasableAfter: r.ReleasableAfter(), Audit: auditView(r),
	}
}

func rowView(e *entry, r *intent.Row) RowView {
	v := RowView{
		Attempt: r.Attempt, State: string(r.State), Fingerprint: r.Fingerprint, Intent: e.key, Rule: r.Rule.Name, Tool: r.Tool,
		Runs: r.Runs, Action: r.Action, Arrived: r.Arrived, Changed: r.Since, ApprovedBy: r.ApprovedBy, AliasOf: r.AliasOf,
		Audit: auditView(r),
	}
	if r.Question != nil {
		v.Hold = r.Question.ID
	}
	if result := r.Result; result != nil {
		v.Status, v.Missing = result.Status, result.Missing
	}
	for _, h := range r.History {
		v.History = append(v.History, ChangeView{At: h.At, State: string(h.State), Why: string(h.Why)})
	}
	for _, fenced := range e.Record.Evidence {
		if fenced.Attempt == r.Attempt {
			v.FencedCommits = append(v.FencedCommits, fenced.At)
		}
	}
	return v
}

func auditView(r *intent.Row) []AuditView {
	var list []AuditView
	for _, a := range r.Audit {
		list = append(list, AuditView(a))
	}
	return list
}
