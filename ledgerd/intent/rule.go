package intent

import "time"

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

// kept is the rule as it stands in a row.
func (r Rule) kept() Rule {
	r.Name = cut(r.Name, MaxName)
	return r
}
