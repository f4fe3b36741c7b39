package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// The three spellings of one refund that the README shows.
const (
	refundA = `{"tool":"refund","runId":"worker-a","args":{"customer":"Ada@Example.com","amount":"$12.00","currency":"usd"}}`
	refundB = `{"args":{"currency":"USD","amount":"12.00 USD","customer":"ada@example.com"},"trace_id":"t-2","runId":"worker-b","tool":"refund"}`
	refundC = `{"tool":"refund","request_id":"q","args":{"amount":"1200 cents","customer":"ADA@example.com","currency":"USD"}}`
)

// refundBy is the refund as a run of its own asks for it.
func refundBy(run string) envoytest.Call {
	return envoytest.Call{Body: strings.Replace(refundA, "worker-a", run, 1)}
}

// spelling writes one refund in one of very many ways, as another agent, framework or model would.
func spelling(r *rand.Rand, customer string, amount int, run string) string {
	pick := func(options ...string) string { return options[r.IntN(len(options))] }
	units, cents := amount/100, amount%100
	args := []string{
		fmt.Sprintf(`%q:%q`, "customer", pick(customer, strings.ToUpper(customer), strings.ToUpper(customer[:1])+customer[1:])),
		fmt.Sprintf(`"amount":%s`, pick(
			fmt.Sprintf(`"$%d.%02d"`, units, cents), fmt.Sprintf(`"%d.%02d USD"`, units, cents),
			fmt.Sprintf(`"%d cents"`, amount), fmt.Sprintf(`%d.%02d`, units, cents), fmt.Sprintf(`"%d.%02d"`, units, cents))),
		fmt.Sprintf(`"currency":%q`, pick("usd", "USD", "Usd")),
	}
	body := []string{`"tool":"refund"`, `"args":{` + shuffled(r, args, pick(",", ", ", " ,\n\t")) + `}`}
	if run != "" {
		body = append(body, fmt.Sprintf(`%q:%q`, pick("runId", "run_id"), run))
	}
	for _, volatile := range []string{"request_id", "traceparent", "trace_id", "timestamp", "Idempotency-Key"} {
		if r.IntN(2) == 0 {
			body = append(body, fmt.Sprintf(`%q:"%x"`, volatile, r.Uint64()))
		}
	}
	return `{` + shuffled(r, body, pick(",", ", ")) + `}`
}

func shuffled(r *rand.Rand, members []string, separator string) string {
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return strings.Join(members, separator)
}

// plugin is a plugin configuration with the given rules.
func plugin(rules ...string) string {
	return `{"ledger":{"cluster":"ledgerd","timeout":"2s"},"execute":{"cluster":"idem-execute"},"calls":[` +
		strings.Join(rules, ",") + `]}`
}

// expect fails the test where a reply has another status or outcome.
func expect(t *testing.T, who string, r envoytest.Reply, status int, outcome string) {
	t.Helper()
	if r.Err != nil || r.Status != status || r.Outcome() != outcome {
		t.Fatalf("%s got %v; want %d, outcome %q", who, r, status, outcome)
	}
}

// expectProblem fails the test where a reply is no refusal with this code, and gives the refusal.
func expectProblem(t *testing.T, who string, r envoytest.Reply, status int, code string) envoytest.Problem {
	t.Helper()
	p := r.Problem()
	if r.Err != nil || r.Status != status || p.Code != code {
		t.Fatalf("%s got %v; want the problem %d %q", who, r, status, code)
	}
	if p.Type != "urn:idem:problem:"+code || p.Status != status || p.Title == "" || p.Detail == "" {
		t.Errorf("%s: the problem %s is not whole", who, r.Body)
	}
	return p
}

// refundID is the number that the tool gave to the execution whose result a reply carries.
func refundID(t *testing.T, r envoytest.Reply) string {
	t.Helper()
	var bare, enveloped struct {
		RefundID string          `json:"refund_id"`
		Result   json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(r.Body, &bare); err != nil {
		t.Fatalf("no JSON in %v", r)
	}
	if bare.RefundID != "" {
		return bare.RefundID
	}
	if err := json.Unmarshal(bare.Result, &enveloped); err != nil || enveloped.RefundID == "" {
		t.Fatalf("no refund_id in %v", r)
	}
	return enveloped.RefundID
}

// expectExecutions fails the test where the tool was reached another number of times.
func expectExecutions(t *testing.T, tool *envoytest.Tool, n int) {
	t.Helper()
	if got := tool.Count(); got != n {
		t.Fatalf("the tool ran %d times, want %d", got, n)
	}
}
