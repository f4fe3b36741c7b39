package intent

import (
	"encoding/json"
	"time"
)

// Limits of one record, beside those of its bytes in budget.go. What happens at each is said where it is kept.
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
	Rows     []Row      // in the order in which they were made
	Ended    []Ended    // ended attempts that have no row, tombstones among them
	Past     time.Time  // attempts without a row whose NotAfter is before this count as ended
	Marks    []Mark     // fingerprints that are decided in another record
	Evidence []Evidence // fenced commits
	Fenced   int64      // how many fenced commits there were
	Grants   int64      // how many attempts were granted
}

// Row is one fingerprint's execution, or the question whether to execute, and the runs that belong to it.
type Row struct {
	Fingerprint string
	State       State
	Since       time.Time // since when it is in State
	Arrived     time.Time // the first arrival: window and horizon count from it
	Attempt     string    // what was granted; empty: nothing yet
	ApprovedBy  string    // the hold whose release allowed the attempt
	Grant       int64     // which grant of the record it was: a greater one is newer
	Granted     time.Time // when
	NotAfter    time.Time // of the reserve that was granted; zero: it may come whenever
	Renewed     time.Time // the attempt's last sign of life: the lease counts from it
	End         End       // how the attempt ended; empty: it has not
	Class       Class     // of the failure that ended it
	Result      *Result   // Committed: what replays
	Failure     *Result   // Released: the tool's own failure, for those who waited
	AliasOf     string    // Alias: the attempt of the committed row that it replays
	Question    *Question // HeldRow, and whatever became of it
	Runs        []string  // as RecordedRun gives them; the empty string is the run of all calls without one
	Tool        string
	Action      json.RawMessage // the call as written, for people
	Rule        Rule
	Audit       []Answer // human answers, append-only: one to the hold, one to the doubt
	History     []Event  // how its state changed
}

// Question is a hold: what a human is asked, and what became of it.
type Question struct {
	ID      string
	Reason  string // ReasonNewRun and the like
	Of      string // the attempt, or the hold that had none yet, that the row may repeat
	Version int64  // grows with each change of what is asked: answered, or the row Of changed
	Opened  time.Time
	Until   time.Time // HeldRow: then it is denied. Approved: then the approval is over
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
	At     time.Time
	By     string
	What   string // release, duplicate, deny, committed, released
	Reason string
}

// Event is one change of a row's state.
type Event struct {
	At    time.Time
	State State
	Why   Why
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
	Attempt string
	End     End
	Class   Class
	Until   time.Time
	Bound   bool // Until is known from its reserve, not assumed
}

// Mark says that a fingerprint is decided in another record.
type Mark struct {
	Fingerprint string
	To          Identity
	Met         time.Time // when it was left, or met last (it is renewed from half its term on)
	Until       time.Time // when it goes unless it is met
}

// Evidence is a fenced commit: a second execution of something, it may be (Verdict.Why says what is known).
type Evidence struct {
	At      time.Time // the first time that it came
	Attempt string
	Result  Result
	Until   time.Time
}
