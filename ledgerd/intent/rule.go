package intent

import (
	"encoding/json"
	"time"
)

// Rule is the settings that a call was made under. What concerns a row's own life (lease, terms, retention) is read
// from the rule of the call that made the row; what concerns an arrival (window, horizon, policies) from the arrival's.
type Rule struct {
	Name             string        // for people and metrics
	Window           time.Duration // so long after the first arrival of a committed row other runs join it
	Horizon          time.Duration // so long another fingerprint of the intent is a near-duplicate
	HoldTerm         time.Duration // an unanswered hold is denied after it
	ApprovalTerm     time.Duration // an unused approval goes after it
	Lease            time.Duration // how long an attempt may stay silent
	Wait             time.Duration // how long a caller waits
	ExecutionTimeout time.Duration // how long an execution may take
	Retention        time.Duration // how long a committed row replays, from its commit
	OnNewRun         Policy        // line 9: Hold (or empty), Join, Execute
	OnSameIntent     Policy        // line 11: Hold (or empty), Execute
	OnAbsentRun      Policy        // line 11 without a run: Execute (or empty), Hold
	RetryInDoubt     bool          // a row in doubt may execute again under the same provider key
}

// horizon is how far back line 11 looks.
func (r Rule) horizon() time.Duration { return min(r.Horizon, r.Retention) }

// keep is how long released rows stay, and ended attempts whose reserve had no NotAfter: whoever waited for them has
// heard by then.
func (r Rule) keep() time.Duration { return r.Wait + r.ExecutionTimeout + r.Lease }

// storedRule is a Rule in a record: durations are nanoseconds, what is usual is left out.
type storedRule struct {
	Name             string `json:"name,omitempty"`
	Window           int64  `json:"win,omitempty"`
	Horizon          int64  `json:"hor,omitempty"`
	HoldTerm         int64  `json:"hold,omitempty"`
	ApprovalTerm     int64  `json:"appr,omitempty"`
	Lease            int64  `json:"lease,omitempty"`
	Wait             int64  `json:"wait,omitempty"`
	ExecutionTimeout int64  `json:"exec,omitempty"`
	Retention        int64  `json:"ret,omitempty"`
	OnNewRun         Policy `json:"new,omitempty"`
	OnSameIntent     Policy `json:"same,omitempty"`
	OnAbsentRun      Policy `json:"absent,omitempty"`
	RetryInDoubt     bool   `json:"retry,omitempty"`
}

// MarshalJSON writes the rule for the store. It is written by hand because JSON libraries disagree on durations.
func (r Rule) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedRule{
		Name: r.Name, Window: int64(r.Window), Horizon: int64(r.Horizon), HoldTerm: int64(r.HoldTerm),
		ApprovalTerm: int64(r.ApprovalTerm), Lease: int64(r.Lease), Wait: int64(r.Wait),
		ExecutionTimeout: int64(r.ExecutionTimeout), Retention: int64(r.Retention), OnNewRun: r.OnNewRun,
		OnSameIntent: r.OnSameIntent, OnAbsentRun: r.OnAbsentRun, RetryInDoubt: r.RetryInDoubt,
	})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Rule) UnmarshalJSON(data []byte) error {
	var s storedRule
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*r = Rule{
		Name: s.Name, Window: time.Duration(s.Window), Horizon: time.Duration(s.Horizon),
		HoldTerm: time.Duration(s.HoldTerm), ApprovalTerm: time.Duration(s.ApprovalTerm),
		Lease: time.Duration(s.Lease), Wait: time.Duration(s.Wait),
		ExecutionTimeout: time.Duration(s.ExecutionTimeout), Retention: time.Duration(s.Retention),
		OnNewRun: s.OnNewRun, OnSameIntent: s.OnSameIntent, OnAbsentRun: s.OnAbsentRun, RetryInDoubt: s.RetryInDoubt,
	}
	return nil
}
