package intent

import "time"

// Verdict is what Step says to the one who sent the command.
type Verdict struct {
	Kind       VerdictKind
	Attempt    string        // the attempt that executes, executed or is in doubt
	Lease      time.Duration // Granted
	Recorded   string        // Granted: the fingerprint that the attempt's row stands under
	Since      time.Time     // Wait, Doubt: since when
	ApprovedBy string        // Granted: the id of the hold whose release allows it
	Hold       HoldRef       // Held, Denied
	Result     *Result       // Replay: the stored result (or why there is none). Failed: the tool's own failure, or nil
	Class      Class         // Failed
	RetryAfter time.Duration // Conflict, Full: when it may be tried again; 0: no matter
	Why        string        // Conflict, Full, Over, Fenced (of a commit): one sentence
	Twice      bool          // Fenced: something was executed twice, most likely
	To         Identity      // Moved: how the call is called now

	// Changed says that the record is another one than before. It must then be stored before the verdict is sent.
	Changed bool
	// Keep is the key under which the bytes that the command brought (a result, a failure) must be stored with the
	// record. Empty: the record names no new bytes.
	Keep string
	// Changes are the transitions that this step made, expiries among them, in order: for events, counters and logs.
	Changes []Change
}

// Change is one row's change of state.
type Change struct {
	Fingerprint string
	Attempt     string // empty: none was granted yet
	Hold        string // the hold's id, where the row has one
	Tool, Rule  string
	From, To    State // From is empty for a new row, To is empty for one that is gone
	Why         Why
	At          time.Time
}

// HoldRef names a hold to a caller.
type HoldRef struct {
	ID      string
	Reason  string // new_run, same_intent, in_doubt, absent_run
	Of      string // the attempt (or the hold, while it has no attempt) that it may repeat
	Version int64
}

// VerdictKind is the kind of a verdict.
type VerdictKind string

// The verdicts.
const (
	Granted  VerdictKind = "execute"
	Wait     VerdictKind = "wait" // coalesced: another attempt of this fingerprint runs
	Replay   VerdictKind = "replay"
	Held     VerdictKind = "held"
	Doubt    VerdictKind = "in_doubt"
	Denied   VerdictKind = "denied"
	Moved    VerdictKind = "moved" // the call is decided in another record: To
	Late     VerdictKind = "late"  // the arrival came after its NotAfter
	Over     VerdictKind = "ended" // the arrival's attempt has ended before
	Full     VerdictKind = "full"  // the record has no room for another row or tombstone; nothing was done
	OK       VerdictKind = "ok"
	Fenced   VerdictKind = "fenced"
	Conflict VerdictKind = "conflict" // a human's answer to something that is no longer open: HTTP 409
	Unheard  VerdictKind = "unheard"  // a human's answer to something that is not in this record

	// Verdicts of Record.Attempt and Record.HoldState only, beside those above.
	Failed   VerdictKind = "failed"   // the attempt failed: Class, Result
	Answered VerdictKind = "answered" // the hold is no longer open
	Gone     VerdictKind = "gone"     // nothing is known of it
)
