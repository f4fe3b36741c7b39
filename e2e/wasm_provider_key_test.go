package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"idem/e2e/envoytest"
)

// A call in doubt that is executed again carries the key that its provider has seen, also after the fingerprint key was
// rotated or the rule renamed: to the provider the two are one.
func TestWasmProviderKeyOutlastsTheConfiguration(t *testing.T) {
	const rule = `{"name":"refunds","match":{"path":"/api/invoke"},"execution_timeout":"5s","provider_key":{"header":"idempotency-key","on_in_doubt":"retry"}}`
	renamed := strings.Replace(rule, "refunds", "payments", 1)
	rotated := func(fingerprint, rule string) string {
		return strings.Replace(plugin(rule), `"calls"`, `"fingerprint":`+fingerprint+`,"calls"`, 1)
	}
	for name, after := range map[string]setup{
		"the same configuration": {plugin: plugin(rule)},
		"another key":            {plugin: rotated(`{"key_env":"KEY","previous":[{"key_env":null}]}`, rule), env: map[string]string{"KEY": strings.Repeat("k", 32)}},
		"another name":           {plugin: rotated(`{"previous":[{"calls":[`+rule+`]}]}`, renamed)},
	} {
		inWorld(t, setup{plugin: plugin(rule)}, func(t *testing.T, w *world) {
			lost := refundBy("worker-a")
			lost.Header = map[string]string{envoytest.BehaviourHeader: string(envoytest.Reset), "idempotency-key": "the caller's own"}
			expectProblem(t, name+": the first", w.call(lost), http.StatusGatewayTimeout, "in_doubt")
			expectProblem(t, name+": a retry that comes too soon", w.call(refundBy("worker-a")), http.StatusConflict, "in_doubt")
			w.pass(6 * time.Second)
			later := w.another(after)
			expect(t, name+": the retry", later.call(refundBy("worker-a")), http.StatusOK, "executed")
			w.count(2)
			first, second := w.tool.calls[0].Header.Values("idempotency-key"), w.tool.calls[1].Header.Values("idempotency-key")
			if len(first) != 1 || len(second) != 1 || len(first[0]) != 64 || first[0] != second[0] {
				t.Errorf("%s: the provider was given the keys %v and %v", name, first, second)
			}
		})
	}
}
