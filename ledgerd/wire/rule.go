package wire

// Policy is what a rule does with a near-duplicate (members on_new_run, on_same_intent, on_absent_run).
type Policy string

// The policies. Which of them a member takes is said at the member.
const (
	PolicyHold    Policy = "hold"
	PolicyJoin    Policy = "join"
	PolicyExecute Policy = "execute"
)

// Rule carries those settings of the plugin's rule that the ledger decides by. All durations are milliseconds.
type Rule struct {
	Name           string // the rule's name, for people and metrics
	WindowMS       int64  // a run that arrives so soon after the first arrival joins
	HorizonMS      int64  // how long another fingerprint of the intent is a near-duplicate
	HoldTermMS     int64  // an unanswered hold is denied after it
	ApprovalTermMS int64  // an unused approval goes after it
	LeaseMS        int64  // how long an attempt may stay silent
	WaitMS         int64  // how long a caller waits
	ExecutionMS    int64  // execution_timeout
	RetentionMS    int64  // how long a committed row replays, from its commit
	MaxResultBytes int64  // a larger result is not stored
	OnNewRun       Policy // hold, join, execute
	OnSameIntent   Policy // hold, execute
	OnAbsentRun    Policy // execute, hold
	RetryInDoubt   bool   // provider_key.on_in_doubt is retry
}

// DefaultRule gives the documented default of every setting.
func DefaultRule() Rule {
	const second, hour = 1000, 3600 * 1000
	return Rule{
		WindowMS: 5 * second, HorizonMS: 24 * hour, HoldTermMS: 24 * hour, ApprovalTermMS: hour,
		LeaseMS: 15 * second, WaitMS: 30 * second, ExecutionMS: 60 * second, RetentionMS: 24 * hour,
		MaxResultBytes: 1 << 20, OnNewRun: PolicyHold, OnSameIntent: PolicyHold, OnAbsentRun: PolicyExecute,
	}
}
