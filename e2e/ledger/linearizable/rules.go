package linearizable

import (
	"math/rand/v2"

	"idem/ledgerd/wire"
)

// rules are what the calls of one history are made under. Their terms are short enough that everything ends within the
// history, and long enough that most of it is still there; all of the history's time is less than an outage takes.
type rules struct {
	retention int64
	retry     bool // calls carry a provider key
	execute   bool // some rules let new runs execute again
	endless   bool // no term ends
}

// span is how much time may pass in one history, ms: less than what a ledger takes for an outage.
const span = 5500

func newRules(o Options, r *rand.Rand) rules {
	if len(o.Processes) > 0 {
		return rules{retention: 24 * 3_600_000, retry: false, endless: true}
	}
	return rules{
		retention: []int64{1200, 60_000, 60_000, 60_000}[r.IntN(4)],
		retry:     r.IntN(5) == 0,
		execute:   r.IntN(4) == 0,
	}
}

// pick gives the rule of one arrival.
func (o rules) pick(r *rand.Rand) *wire.Rule {
	rule := wire.DefaultRule()
	rule.WindowMS, rule.HorizonMS, rule.HoldTermMS, rule.ApprovalTermMS = 300, 1500, 1500, 800
	rule.LeaseMS, rule.WaitMS, rule.ExecutionMS, rule.RetentionMS = 700, 100, 200, o.retention
	if o.endless {
		const hour = 3_600_000
		rule.WindowMS, rule.HorizonMS, rule.HoldTermMS, rule.ApprovalTermMS = hour, hour, hour, hour
		rule.LeaseMS, rule.WaitMS, rule.ExecutionMS = hour, hour, hour
	}
	rule.OnNewRun = one(r, wire.PolicyHold, wire.PolicyHold, wire.PolicyJoin)
	if o.execute {
		rule.OnNewRun = one(r, wire.PolicyHold, wire.PolicyExecute)
	}
	rule.OnSameIntent = one(r, wire.PolicyHold, wire.PolicyExecute)
	rule.OnAbsentRun = one(r, wire.PolicyExecute, wire.PolicyHold)
	rule.RetryInDoubt = o.retry && r.IntN(2) == 0
	return &rule
}

func one[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
