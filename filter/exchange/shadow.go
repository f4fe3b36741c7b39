package exchange

import (
	"crypto/sha256"
	"encoding/hex"

	"idem/filter/policy"
	"idem/ledgerd/wire"
)

// Mode "shadow": every call goes on to the tool as if there were no rule, and what would have become of it is counted
// (shadow.<outcome>). The ledger keeps shadow calls in records of their own, so that nothing that was only watched, a
// hold that nobody answered for one, decides about a call once the rule is enforced.

// shadows says whether the call is only watched.
func (c *Call) shadows() bool { return c.Rule.Mode == policy.Shadow }

// standInShadow moves the call to the shadow's records.
func (c *Call) standInShadow() {
	c.answered = true // nobody waits for an answer
	c.Action.Intent = inShadow(c.Action.Intent)
	c.Action.Fingerprint = inShadow(c.Action.Fingerprint)
	for i, former := range c.Also {
		c.Also[i] = wire.Identity{Intent: inShadow(former.Intent), Fingerprint: inShadow(former.Fingerprint)}
	}
}

func inShadow(id string) string {
	sum := sha256.Sum256([]byte("shadow " + id))
	return hex.EncodeToString(sum[:])
}

// wouldBe is what an enforcing rule would have told the caller, by the ledger's answer.
var wouldBe = map[wire.AnswerKind]string{
	wire.AnswerExecute:  outcomeExecuted,
	wire.AnswerInFlight: outcomeCoalesced,
	wire.AnswerReplay:   outcomeReplay,
	wire.AnswerHeld:     outcomeHeld,
	wire.AnswerInDoubt:  outcomeInDoubt,
	wire.AnswerDenied:   outcomeDenied,
	wire.AnswerRefused:  outcomeRefused,
}

// shadowed counts what would have been done. A grant is followed to its end, so that later calls are judged rightly.
func (w *Worker) shadowed(c *Call, a wire.Answer, ok bool) {
	outcome := wouldBe[a.Kind]
	if !ok || outcome == "" {
		outcome = outcomeUnavailable
		w.abandon(c.attempt, c.intent)
	}
	w.host.Count("shadow."+outcome, 1)
	if a.Kind == wire.AnswerExecute {
		w.granted(c, a)
	}
}
