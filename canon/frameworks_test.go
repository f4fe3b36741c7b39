package canon_test

import (
	"testing"

	"idem/canon"
)

// TestWhatFrameworksSendAnewDoesNotCount holds bodies to one call that differ as frameworks, protocols and providers make
// them differ, and to two that differ in what they are about.
func TestWhatFrameworksSendAnewDoesNotCount(t *testing.T) {
	mcpRule, form := canon.Settings{Protocol: canon.MCP}, canon.Settings{Protocol: canon.Form}
	for _, f := range []family{
		{name: "OpenAI", same: []string{`{"tool":"f","args":{"x":1},"tool_call_id":"call_a"}`, `{"tool":"f","args":{"x":1},"tool_call_id":"call_b"}`},
			others: []string{`{"role":"tool","tool_call_id":"call_a","content":"1"}`, `{"role":"tool","tool_call_id":"call_b","content":"1"}`}},
		{name: "Anthropic: an id alone counts", same: []string{`{"tool":"f","args":{"x":1},"tool_use_id":"toolu_a"}`, `{"tool":"f","args":{"x":1},"tool_use_id":"toolu_b"}`},
			others: []string{`{"type":"tool_use","id":"toolu_a","name":"f","input":{"x":1}}`, `{"type":"tool_use","id":"toolu_b","name":"f","input":{"x":1}}`}},
		{name: "LangChain and LangGraph: runs in metadata, not in a config, and no thread",
			same: []string{`{"input":{"x":1},"metadata":{"run_id":"a","step":1}}`, `{"input":{"x":1},"metadata":{"run_id":"b","step":1}}`},
			others: []string{`{"input":{"x":1},"config":{"run_id":"a","tags":[]}}`, `{"input":{"x":1},"config":{"run_id":"b","tags":[]}}`,
				`{"input":{"x":1},"metadata":{"thread_id":"a","step":1}}`, `{"input":{"x":1},"metadata":{"thread_id":"b","step":1}}`}},
		{name: "CrewAI: times in a context, no task", same: []string{`{"x":1,"context":{"timestamp":1,"crew":"c"}}`, `{"x":1,"context":{"timestamp":2,"crew":"c"}}`},
			others: []string{`{"x":1,"task_id":"a"}`, `{"x":1,"task_id":"b"}`}},
		{name: "AutoGen: a call_id may be a telephone call's", same: []string{`{"tool":"f","args":{"x":1},"call_id":"a"}`},
			others: []string{`{"tool":"f","args":{"x":1},"call_id":"b"}`}},
		{name: "MCP", settings: mcpRule, same: []string{mcp("1", `{"name":"f","arguments":{"x":1},"_meta":{"progressToken":"a","traceparent":"00-a"}}`),
			mcp("2", `{"name":"f","arguments":{"x":1},"_meta":{"progressToken":"b"}}`)}, others: []string{mcp("1", `{"name":"f","arguments":{"x":1,"progressToken":"a"}}`)}},
		{name: "W3C trace context and baggage", same: []string{`{"x":1,"traceparent":"00-a","tracestate":"a=1","headers":{"baggage":"a=1","h":1}}`, `{"x":1,"traceParent":"00-b","headers":{"baggage":"b=1","h":1}}`},
			others: []string{`{"x":1,"headers":{"h":1},"baggage":"2 bags"}`}},
		{name: "CloudEvents: id, source and time say which event it is", same: []string{`{"specversion":"1.0","id":"1","source":"/a","time":"t","data":{"x":1},"traceparent":"00-a"}`, `{"specversion":"1.0","id":"1","source":"/a","time":"t","data":{"x":1},"traceparent":"00-b"}`},
			others: []string{`{"specversion":"1.0","id":"2","source":"/a","time":"t","data":{"x":1}}`, `{"specversion":"1.0","id":"1","source":"/b","time":"t","data":{"x":1}}`, `{"specversion":"1.0","id":"1","source":"/a","time":"u","data":{"x":1}}`}},
		{name: "AWS", same: []string{`{"SecretId":"s","ClientRequestToken":"a"}`, `{"SecretId":"s","ClientRequestToken":"b"}`, `{"SecretId":"s","idempotencyToken":"c"}`},
			others: []string{`{"SecretId":"s","ClientToken":"a"}`, `{"SecretId":"s","ClientToken":"b"}`}},
		{name: "Stripe", settings: form, same: []string{`amount=1200&currency=usd&customer=cus_1&Idempotency-Key=a`, `customer=cus_1&currency=usd&amount=1200&idempotency_key=b`},
			others: []string{`amount=1200&currency=usd&customer=cus_2`, `amount=12&currency=usd&customer=cus_1`}},
		{name: "PayPal", same: []string{`{"purchase_units":[{"amount":{"currency_code":"USD","value":"12.00"}}],"PayPal-Request-Id":"a"}`, `{"purchase_units":[{"amount":{"value":"12","currency_code":"usd"}}],"paypalRequestId":"b"}`},
			others: []string{`{"purchase_units":[{"amount":{"currency_code":"USD","value":"1200"}}]}`}},
		{name: "Square", same: []string{`{"idempotency_key":"a","amount_money":{"amount":1200,"currency":"USD"}}`, `{"amount_money":{"currency":"USD","amount":1200.0},"idempotency_key":"b"}`},
			others: []string{`{"amount_money":{"amount":12,"currency":"USD"}}`, `{"amount_money":{"amount":1200,"currency":"CAD"}}`}},
		{name: "Adyen: the reference counts", same: []string{`{"amount":{"value":1200,"currency":"EUR"},"reference":"r"}`, `{"reference":"r","amount":{"currency":"EUR","value":1.2e3}}`},
			others: []string{`{"amount":{"value":1200,"currency":"EUR"},"reference":"q"}`, `{"amount":{"value":1201,"currency":"EUR"},"reference":"r"}`}},
		{name: "Shopify", same: []string{`{"total_price_set":{"shop_money":{"amount":"12.00","currency_code":"USD"}}}`, `{"total_price_set":{"shop_money":{"currency_code":"USD","amount":"12.0"}}}`},
			others: []string{`{"total_price_set":{"shop_money":{"amount":"12.00","currency_code":"CAD"}}}`, `{"total_price_set":{"presentment_money":{"amount":"12.00","currency_code":"USD"}}}`}},
	} {
		f.test(t)
	}
}
