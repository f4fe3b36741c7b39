package nodes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"idem/ledgerd/wire"
)

// call is a call that executes once, under its name as attempt.
type call struct{ name, digest string }

func newCall(what string, n int) call {
	name := fmt.Sprint(what, "-", n)
	sum := sha256.Sum256([]byte(name))
	return call{name, hex.EncodeToString(sum[:])}
}

func (c call) reserve(attempt string) wire.Op {
	return wire.Op{Kind: wire.OpReserve, Attempt: attempt, Intent: c.digest, Fingerprint: c.digest, Run: attempt}
}

func (c call) execute() wire.Op { return c.reserve(c.name) }
func (c call) join() wire.Op    { return c.reserve(c.name + "-again") }

func (c call) commit() wire.Op {
	return wire.Op{Kind: wire.OpCommit, Attempt: c.name, Intent: c.digest, Result: &wire.Result{Status: 200, Body: []byte("done")}}
}

func (c call) fail() wire.Op {
	return wire.Op{Kind: wire.OpFail, Attempt: c.name, Intent: c.digest, Class: wire.ClassNotSent}
}

func (c call) await(wait time.Duration) wire.Op {
	return wire.Op{Kind: wire.OpAwait, Attempt: c.name, Intent: c.digest, WaitMS: wait.Milliseconds()}
}
