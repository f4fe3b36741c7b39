package ledger

import "sync/atomic"

// count is one of the ledger's counters.
type count int

// What the ledger counts since it started. What an arrival was told is counted by its outcome; what became of the
// execution is counted once, when it happens.
const (
	countArrivals      count = iota // reserves that were decided
	countGranted                    // arrivals that were told to execute
	countCoalesced                  // arrivals that wait for another's execution
	countReplays                    // arrivals that got a stored result
	countHeld                       // arrivals that a human is asked about
	countDenied                     // arrivals that a human said no to
	countInDoubt                    // arrivals that were told that it may have happened
	countRefused                    // arrivals and waits that a limit, their time or their attempt refused
	countExecuted                   // executions that succeeded
	countFailed                     // executions that the tool answered with a failure
	countNotSent                    // executions that surely never reached the tool
	countUnknown                    // executions of which the filter does not know the end
	countLeases                     // executions that fell silent
	countFenced                     // reports of attempts that are not the row's
	countFencedCommits              // commits among them: something may have been executed twice
	countExtends                    // signs of life
	countHoldAnswers                // human answers to holds
	countResolutions                // human answers to rows in doubt
	countExpired                    // rows whose term or retention ended
	countConflicts                  // writes that another node's write forestalled
	countUnknownWrites              // writes of which the store did not say whether they happened
	countUnavailable                // operations that were not decided
	counts
)

var countNames = [counts]string{
	"arrivals", "granted", "coalesced", "replays", "held", "denied", "in_doubt", "refused", "executed", "failed",
	"not_sent", "unknown", "leases_expired", "fenced", "fenced_commits", "extends", "hold_answers", "resolutions",
	"expired", "conflicts", "unknown_writes", "unavailable",
}

type counters [counts]atomic.Int64

func (c *counters) add(n count, by int64) { c[n].Add(by) }

// Counters gives what the ledger did since it started, by name.
func (l *Ledger) Counters() map[string]int64 {
	m := make(map[string]int64, counts)
	for i, name := range countNames {
		m[name] = l.counts[i].Load()
	}
	return m
}
