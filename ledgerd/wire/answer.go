package wire

// AnswerKind is the member "answer" of an answer's line.
type AnswerKind string

// The answers. The operations that get them stand behind each.
const (
	AnswerExecute  AnswerKind = "execute"   // reserve: granted; Attempt, LeaseMS, ApprovedBy
	AnswerInFlight AnswerKind = "in_flight" // reserve: wait for Attempt, which runs since Since; await: the wait is over
	AnswerReplay   AnswerKind = "replay"    // reserve: Result, or Fetch, or Missing; Attempt is the one that made it
	AnswerHeld     AnswerKind = "held"      // reserve: Hold; await of a hold: the wait is over
	AnswerInDoubt  AnswerKind = "in_doubt"  // reserve, await: it may have happened; Attempt, Since
	AnswerDenied   AnswerKind = "denied"    // reserve: a human said no; Hold
	AnswerRefused  AnswerKind = "refused"   // reserve: Code, Detail, RetryAfterMS; nothing was reserved
	AnswerOK       AnswerKind = "ok"        // extend, commit, fail: durable
	AnswerFenced   AnswerKind = "fenced"    // extend, commit, fail: the attempt is not the row's, or has ended
	AnswerResult   AnswerKind = "result"    // await, fetch: Result, or (await) Fetch, or Missing
	AnswerFailed   AnswerKind = "failed"    // await: the attempt failed; Class, and Result where the tool said something
	AnswerAnswered AnswerKind = "answered"  // await of a hold: reserve anew
	AnswerGone     AnswerKind = "gone"      // await: nothing is known of it; reserve anew. fetch: no such result
	AnswerError    AnswerKind = "error"     // any: the operation is wrong (Field, Detail) or could not be done (Code)
)

// Codes of a refused reserve and of an error.
const (
	CodeOverloaded  = "overloaded"         // refused: a limit of the ledger; RetryAfterMS
	CodeLate        = "past_not_after"     // refused: the reserve came after its not_after
	CodeEnded       = "attempt_ended"      // refused: the attempt has ended; reserve with a new one
	CodeInvalid     = "invalid_operation"  // error: the operation is malformed; Field and Detail say where
	CodeUnavailable = "ledger_unavailable" // error: the store could not do it; nothing is known of the effect
)

// Why a committed row has no result to give (member "missing").
const (
	MissingTooLarge = "too_large" // over the rule's max_result_bytes
	MissingErased   = "erased"    // an operator or a reset removed it
	MissingResolved = "resolved"  // a human resolved the row as committed without one
)

// Answer is what the ledger says to one operation. Now is always there.
type Answer struct {
	Kind AnswerKind
	Now  int64 // the store's clock, Unix ms
	// Intent is the record that decided a reserve, where it is not the one that was asked: a former configuration's
	// row (also) decides instead. What follows (extend, commit, fail, await, fetch) must name it. Empty: the one asked.
	Intent       string
	Fingerprint  string // execute: the row's, where it is not the one that was asked; provider keys are made of it
	Attempt      string
	LeaseMS      int64
	Since        int64  // Unix ms
	ApprovedBy   string // execute: the id of the hold whose release allows it; empty: none
	Hold         *Hold
	Result       *Result
	Fetch        bool   // the result is large: ask for it by OpFetch
	Missing      string // the row is committed, but there is no result: one of the Missing… words
	Class        Class
	Code         string
	Field        string
	Detail       string
	RetryAfterMS int64
}

// Hold is a question to a human, as callers are told of it.
type Hold struct {
	ID      string
	Reason  string // new_run, same_intent, in_doubt, absent_run
	Of      string // the attempt or hold that it may repeat
	Version int64  // an answer to the hold may name it
}
