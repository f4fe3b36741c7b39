package wire

// OpKind is what an operation asks for: the member "op" of its line.
type OpKind string

// The operations of the data API.
const (
	OpReserve OpKind = "reserve" // may this call execute? joins, replays or holds it otherwise
	OpExtend  OpKind = "extend"  // the attempt still runs: its lease starts anew
	OpCommit  OpKind = "commit"  // the attempt succeeded; Result is stored
	OpFail    OpKind = "fail"    // the attempt ended otherwise; Class says how
	OpAwait   OpKind = "await"   // wait for an attempt to end or a hold to be answered
	OpFetch   OpKind = "fetch"   // the stored result of an attempt
)

// Class is what is known of an execution that did not succeed (member "class").
type Class string

// The classes of a failure. Package intent says what each does to the row.
const (
	ClassNotSent  Class = "not_sent" // the request surely never reached the tool
	ClassDefinite Class = "definite" // the tool answered, and its answer was a failure
	ClassUnknown  Class = "unknown"  // it may have happened
)

// Op is one operation. Kind decides which members count:
//
//	reserve  Attempt, Intent, Fingerprint, Also, Run, Tool, Action, Rule, NotAfter
//	extend   Attempt, Intent
//	commit   Attempt, Intent, Result; Missing where the result was too large to send: then Result has the status alone
//	fail     Attempt, Intent, Class, Result (the tool's own failure; absent where there was none)
//	await    Attempt or Hold, Intent, WaitMS
//	fetch    Attempt, Intent
type Op struct {
	Kind        OpKind
	Attempt     string     // the attempt's id: chosen at random by the filter, compared for equality
	Hold        string     // await: the hold's id
	Intent      string     // 64 hex digits: the record that the row lives in
	Fingerprint string     // reserve: 64 hex digits
	Also        []Identity // reserve: what former configurations would have called this call
	Run         string     // reserve: the caller's run; empty: absent
	Tool        string     // reserve: the tool's name, for people
	Action      []byte     // reserve: a JSON object for people: the call as written, or nil
	Rule        *Rule      // reserve: the rule's settings; nil: DefaultRule
	NotAfter    int64      // reserve: Unix ms of the store's clock; past it the reserve is refused. 0: no bound
	Class       Class      // fail
	Result      *Result    // commit, fail
	Missing     string     // commit: MissingTooLarge where Result has the status alone
	WaitMS      int64      // await: how long to wait, ms
}

// Identity names a call in a record: a row's fingerprint and the intent whose record holds it.
type Identity struct {
	Intent, Fingerprint string
}

// Result is the tool's reply: status, headers in their order, body. The filter has already removed the headers that
// are not stored.
type Result struct {
	Status  int
	Headers [][2]string
	Body    []byte
}
