package intent

// State is the state of a row.
type State string

// The states of a row. See the diagram in the package comment.
const (
	Reserved  State = "reserved"  // an attempt was granted and has not been heard of since
	InFlight  State = "in_flight" // its attempt has shown a sign of life
	Committed State = "committed" // it happened; the result replays until retention ends
	Released  State = "released"  // it did not happen: as if the row were not there, kept for those who waited
	InDoubt   State = "in_doubt"  // it may have happened; not executed again by itself
	HeldRow   State = "held"      // a human is asked
	Approved  State = "approved"  // a human said: once more
	Alias     State = "alias"     // a human said: the same as that committed row
	DeniedRow State = "denied"    // a human said no, or nothing in time
)

// live says that an attempt executes.
func (s State) live() bool { return s == Reserved || s == InFlight }

// counts says that a row in this state may have happened or may happen yet by an attempt of its own.
func (s State) counts() bool { return s.live() || s == InDoubt || s == Committed }

// End is how an attempt ended. An ended attempt is never granted again and extends nothing.
type End string

// The ends of an attempt. The empty End means that it has not ended: it executes, or its silence put the row in doubt.
const (
	ByCommit   End = "commit"     // it brought a result
	ByFailure  End = "failure"    // it reported a failure, of whatever class
	ByAnswer   End = "resolved"   // a human resolved its row
	ByRetry    End = "superseded" // a retry under the same provider key was committed instead
	ByEviction End = "evicted"    // its row made room
)
