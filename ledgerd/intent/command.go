package intent

import "time"

// Command is one thing that happens to a record: a call arrives, an attempt reports, a human answers, time passes.
type Command interface{ command() }

// Arrive is a call that asks to execute.
type Arrive struct {
	Attempt     string // what the grant will be called, should there be one
	HoldID      string // what a hold will be called, should one be opened; random, from the caller of Step
	Fingerprint string
	Run         string // empty: absent
	Tool        string
	Action      []byte // for people: the call as written (a JSON object), or nil
	Rule        Rule
	NotAfter    time.Time // zero: no bound

	// MovesTo says that this record and fingerprint are what a former configuration called the call, and how it is
	// called now. A row that counts here decides; where none does, a mark is left and the verdict is Moved.
	MovesTo *Identity
	// Stay decides here even where a mark says that the fingerprint has moved, and removes that mark. It is for marks
	// that lead in a circle (a configuration that was taken back): every node must then stay in the same record of
	// the circle, by convention the one with the least key.
	Stay bool
}

// Extend is a sign of life of an attempt.
type Extend struct{ Attempt string }

// Commit is an attempt's success.
type Commit struct {
	Attempt string
	Result  Result // Step fills in the member Attempt
}

// Fail is an attempt's end without success.
type Fail struct {
	Attempt string
	Class   Class
	Failure *Result // the tool's own failure, where there was one; kept only for Definite. Step fills in Attempt
}

// AnswerHold is a human's answer to a hold.
type AnswerHold struct {
	Hold     string
	Version  int64 // 0: whatever its version is
	Decision Decision
	By       string // the operator, for the audit
	Reason   string
}

// Resolve is a human's answer to a row in doubt.
type Resolve struct {
	Attempt string
	As      State   // Released or Committed
	Result  *Result // of Committed; nil: it happened, no result is known. Step fills in the member Attempt
	By      string
	Reason  string
}

// Tick lets time pass: leases, terms and retention are looked at, nothing else happens.
type Tick struct{}

func (Arrive) command()     {}
func (Extend) command()     {}
func (Commit) command()     {}
func (Fail) command()       {}
func (AnswerHold) command() {}
func (Resolve) command()    {}
func (Tick) command()       {}

// Identity names a call: a row's fingerprint and the intent whose record holds it.
type Identity struct {
	Intent      string
	Fingerprint string
}

// Decision is a human's answer to a hold.
type Decision string

// The answers to a hold.
const (
	Release   Decision = "release"   // execute once
	Duplicate Decision = "duplicate" // the same as the committed row that it was held for: replay that
	Deny      Decision = "deny"
)

// Class is what is known of an execution that did not succeed.
type Class string

// The classes of a failure.
const (
	NotSent  Class = "not_sent" // it surely did not reach the tool
	Definite Class = "definite" // the tool answered, and its answer was a failure
	Unknown  Class = "unknown"  // it may have happened
)

// Result describes stored bytes that the record names. The bytes are in the store, under Attempt.
type Result struct {
	Attempt string // the attempt's id, with a suffix where it is not the attempt's own success
	Status  int
	Size    int64
	Digest  string // of the bytes: a repeated commit is ok only if it brought the same ones
	Missing string // why there are no bytes: too_large, erased, resolved; empty: they are there
}

// MissingResolved is why a row that a human resolved as committed without a result has none.
const MissingResolved = "resolved"

// Policy is what a rule does with a near-duplicate.
type Policy string

// The policies.
const (
	Hold    Policy = "hold"
	Join    Policy = "join"
	Execute Policy = "execute"
)
