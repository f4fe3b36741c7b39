package intent

import (
	"encoding/json"
	"time"
)

// Limits of one record. What happens at each is said where it is kept.
const (
	MaxRows     = 256  // rows; then released rows go, oldest first, then arrivals are refused: Full
	MaxRuns     = 256  // runs of one row; further ones are answered but not recorded
	MaxFailed   = 8    // failed rows of one fingerprint; then the one that failed first goes
	MaxEnded    = 256  // ended attempts without a row, of a known NotAfter; further ones are known by Past alone
	MaxUnbound  = 1024 // those of an unknown NotAfter, tombstones above all; then what would leave another: Full
	MaxMarks    = 256  // marks of fingerprints that have moved; then arrivals that would leave another are refused: Full
	MaxEvidence = 16   // fenced commits that are kept; later ones are only counted
	MaxHistory  = 32   // events of one row; then the oldest but the first goes
)

// Record is all that is known of one intent: its rows and what is left of former ones. It is a value: Step gives a new
// one and never writes into what the old one holds. The zero Record is that of an intent never heard of.
type Record struct {
	Rows     []Row      `json:"rows,omitempty"`   // in the order in which they were made
	Ended    []Ended    `json:"ended,omitempty"`  // ended attempts that have no row, tombstones among them
	Past     time.Time  `json:"past,omitzero"`    // attempts without a row whose NotAfter is before this count as ended
	Marks    []Mark     `json:"marks,omitempty"`  // fingerprints that are decided in another record
	Evidence []Evidence `json:"evid,omitempty"`   // fenced commits
	Fenced   int64      `json:"fenced,omitempty"` // how many fenced commits there were
	Grants   int64      `json:"grants,omitempty"` // how many attempts were granted
}

// Row is one fingerprint's execution, or the question whether to execute, and the runs that belong to it.
type Row struct {
	Fingerprint string          `json:"fp"`
	State       State           `json:"state"`
	Since       time.Time       `json:"since"`              // since when it is in State
	Arrived     time.Time       `json:"arrived"`            // the first arrival: window and horizon count from it
	Attempt     string          `json:"attempt,omitempty"`  // what was granted; empty: nothing yet
	ApprovedBy  string          `json:"approved,omitempty"` // the hold whose release allowed the attempt
	Grant       int64           `json:"grant,omitempty"`    // which grant of the record it was: a greater one is newer
	Granted     time.Time       `json:"granted,omitzero"`   // when
	NotAfter    time.Time       `json:"bound,omitzero"`     // of the reserve that was granted; zero: it may come whenever
	Renewed     time.Time       `json:"renewed,omitzero"`   // the attempt's last sign of life: the lease counts from it
	End         End             `json:"end,omitempty"`      // how the attempt ended; empty: it has not
	Class       Class           `json:"class,omitempty"`    // of the failure that ended it
	Result      *Result         `json:"result,omitempty"`   // Committed: what replays
	Failure     *Result         `json:"failure,omitempty"`  // Released: the tool's own failure, for those who waited
	AliasOf     string          `json:"alias_of,omitempty"` // Alias: the attempt of the committed row that it replays
	Question    *Question       `json:"question,omitempty"` // HeldRow, and whatever became of it
	Runs        []string        `json:"runs"`               // the empty string is the run of all calls without one
	Tool        string          `json:"tool,omitempty"`
	Action      json.RawMessage `json:"action,omitempty"` // the call as written, for people
	Rule        Rule            `json:"rule"`
	Audit       []Answer        `json:"audit,omitempty"`   // human answers, append-only: one to the hold, one to the doubt
	History     []Event         `json:"history,omitempty"` // how its state changed
}

// Question is a hold: what a human is asked, and what became of it.
type Question struct {
	ID      string    `json:"id"`
	Reason  string    `json:"reason"`       // ReasonNewRun and the like
	Of      string    `json:"of,omitempty"` // the attempt, or the hold that had none yet, that the row may repeat
	Version int64     `json:"v"`            // grows with each change of what is asked: answered, or the row Of changed
	Opened  time.Time `json:"opened"`
	Until   time.Time `json:"until"` // HeldRow: then it is denied. Approved: then the approval is over
}

// Why a row is held.
const (
	ReasonNewRun     = "new_run"     // line 9: the same call, committed, from another run
	ReasonInDoubt    = "in_doubt"    // line 10: another spelling of the intent is in doubt
	ReasonSameIntent = "same_intent" // line 11: same tool, customer and amount, something else differs
	ReasonAbsentRun  = "absent_run"  // line 11, from a call without a run, where the rule wants it held
)

// Answer is one human answer, for the audit.
type Answer struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	What   string    `json:"what"` // release, duplicate, deny, committed, released
	Reason string    `json:"why,omitempty"`
}

// Event is one change of a row's state.
type Event struct {
	At    time.Time `json:"at"`
	State State     `json:"state"`
	Why   Why       `json:"why"`
}

// Why is what made a row change.
type Why string

// What makes a row change.
const (
	WhyArrived    Why = "arrived"       // a call
	WhyExtended   Why = "extended"      // a sign of life
	WhyCommitted  Why = "committed"     // its attempt's success
	WhyFailed     Why = "failed"        // its attempt's failure
	WhySilent     Why = "lease_expired" // no sign of life
	WhyAnswered   Why = "answered"      // a human's answer to the hold
	WhyResolved   Why = "resolved"      // a human's answer to the doubt
	WhyGivenBack  Why = "given_back"    // its execution failed: the approval holds again
	WhyUsed       Why = "used"          // a late commit used the approval up
	WhyRetried    Why = "retried"       // executed again while in doubt, under the same provider key
	WhySuperseded Why = "superseded"    // another attempt under the same provider key was committed
	WhyExpired    Why = "expired"       // its term or its retention is over
	WhyEvicted    Why = "evicted"       // it made room
)

// Ended is an attempt that has ended and has no row (any more): it is never granted again. From Until on its reserve is
// late, so that nothing need be remembered of it.
type Ended struct {
	Attempt string    `json:"attempt"`
	End     End       `json:"end"`
	Class   Class     `json:"class,omitempty"`
	Until   time.Time `json:"until"`
	Bound   bool      `json:"bound,omitempty"` // Until is known from its reserve, not assumed
}

// Mark says that a fingerprint is decided in another record.
type Mark struct {
	Fingerprint string    `json:"fp"`
	To          Identity  `json:"to"`
	Met         time.Time `json:"met"`   // when it was left, or met last (it is renewed from half its term on)
	Until       time.Time `json:"until"` // when it goes unless it is met
}

// Evidence is a fenced commit: a second execution of something, most likely.
type Evidence struct {
	At      time.Time `json:"at"` // the first time that it came
	Attempt string    `json:"attempt"`
	Result  Result    `json:"result"`
	Until   time.Time `json:"until"`
}
