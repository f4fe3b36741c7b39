package soak

import (
	"bytes"
	"fmt"

	"idem/e2e/envoytest"
)

// told is one caller's answer, to be held to what is promised.
type told struct {
	order *order
	run   string // empty: none
	rpcID string // of its JSON-RPC request; empty: it made none
	reply envoytest.Reply
}

// judge takes down what a caller was told and says what of it should not be.
func (b *book) judge(t told) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, outcome := b.page(t.order), t.reply.Outcome()
	b.outcomes[outcome]++
	b.knows(p, t.reply.Header.Get("x-idem-fingerprint"))
	wrong := func(what string) {
		b.complain("a caller of %v (%s), run %q: %s: %s", t.order.key(), t.order.kind.name, t.run, what, short(t.reply))
	}
	if t.rpcID != "" {
		if id, _ := rpcResponse(t.reply); string(id) != t.rpcID && t.reply.Status == 200 {
			wrong("its request's id is " + t.rpcID + ", the response's is " + string(id))
		}
	}
	switch outcome {
	case "executed", "coalesced", "replay":
		b.judgeResult(p, t, outcome, wrong)
	case "in_doubt":
		if t.reply.Header.Get("x-idem-committed") == "false" && t.reply.Status == 200 && len(t.order.kind.read(t.reply)) > 0 && t.rpcID == "" {
			b.judgeResult(p, t, outcome, wrong) // the tool's own reply
		}
	case "failed":
		if did := b.tool.look(t.order.key()); did.failed == 0 {
			wrong("the tool has not failed")
		} else if !bytes.Contains(t.reply.Body, []byte(t.order.id)) {
			wrong("the failure is not that of its order")
		}
	case "held":
		if t.reply.HoldID() == "" && t.rpcID == "" {
			wrong("it is not told the hold's id")
		}
	case "denied":
		if p.denied == 0 {
			wrong("nobody denied it")
		}
	case "in_flight", "not_sent", "unavailable":
	case "refused":
		if !p.unread || t.reply.Problem().Code != "result_unavailable" {
			wrong("nothing was wrong with the call")
		}
	default:
		wrong("the outcome is none that the README lists")
	}
}

// judgeResult holds a result to the deeds of the caller's own order. The caller holds mu.
func (b *book) judgeResult(p *page, t told, outcome string, wrong func(string)) {
	k, result := t.order.kind, t.order.kind.read(t.reply)
	number := b.tool.whose(k, t.order.key(), result)
	for i := 0; number == 0 && i < len(p.lenders); i++ {
		number = b.tool.whose(k, p.lenders[i].key(), result)
	}
	if number == 0 {
		wrong("the result is of no deed of its order")
		return
	}
	if outcome == "executed" {
		if p.executed[number]++; p.executed[number] > 1 {
			wrong(fmt.Sprintf("deed %d is told as executed for the %dth time", number, p.executed[number]))
		}
	}
	if t.run == "" || outcome == "in_doubt" {
		return
	}
	if was, again := p.byRun[t.run]; again && was != number {
		wrong(fmt.Sprintf("its run was given deed %d before, and now %d", was, number))
	}
	p.byRun[t.run] = number
}

// short is a reply without what makes it long.
func short(r envoytest.Reply) string {
	if len(r.Body) > 300 {
		r.Body = append(r.Body[:300:300], "..."...)
	}
	return r.String()
}
