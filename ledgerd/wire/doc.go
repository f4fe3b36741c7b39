// Package wire is the data API's vocabulary: the operations that the filter sends to ledgerd and the answers it gets,
// with their encoding as newline-delimited JSON (application/x-ndjson), one operation a line, one answer a line, in
// order.
//
// It promises that both sides read the same thing: what [AppendOp] writes, [ReadOp] reads back equal, and a line that
// is not wholly understood (an unknown member, a duplicate name, a value of the wrong kind) is an [*OpError] that names
// the member, never half an operation. It decides nothing: what an operation means is ledgerd's matter.
//
// The module is compiled into the filter too, so it uses neither encoding/json nor fmt. Lines are read by
// github.com/go-json-experiment/json/jsontext, which keeps RFC 8259 and I-JSON (RFC 7493).
//
// Units on the wire: durations are whole milliseconds in members that end in _ms; moments are Unix milliseconds of the
// store's clock; bodies are base64 (RFC 4648 section 4, padded).
//
// # Members
//
//	intent, fingerprint   64 lower-case hex digits
//	attempt, hold         1 to 128 printable ASCII characters without spaces
//	run, tool, rule.name  any text, at most 1,024 bytes
//	also                  at most 16 of {"intent", "fingerprint"}: what former configurations would have called the call
//	action                a JSON object, for people
//	not_after, now, since moments
//	status                100 to 999
//	headers               [[name, value], …] in their order; a value that is not UTF-8 is base64, and the pair says so:
//	                      [name, value, "base64"]. Of an operation: names are tokens, no hop-by-hop header, no CR, LF or NUL
//	body                  base64; absent: empty
//	class                 not_sent, definite, unknown
//	missing               too_large, erased, resolved
//
// An absent member is the zero value, in rule its default ([DefaultRule]); a member is written only where it differs.
// A member that does not belong to the operation is refused. Every duration is at most ten years.
//
// # Operations
//
// reserve, whole, and as small as it can be:
//
//	{"op":"reserve","attempt":"a-1","intent":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","fingerprint":"60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752","also":[{"intent":"fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13","fingerprint":"a4e624d686e03ed2767c0abd85c14426b0b1157d2ce81d27bb4fe4f6f01d688a"}],"run":"worker-a","tool":"refund","action":{"customer":"Ada@Example.com","amount":"$12.00"},"rule":{"name":"refunds","window_ms":2000,"horizon_ms":3600000,"hold_term_ms":7200000,"approval_term_ms":600000,"lease_ms":30000,"wait_ms":10000,"execution_timeout_ms":20000,"retention_ms":172800000,"max_result_bytes":65536,"on_new_run":"join","on_same_intent":"execute","on_absent_run":"hold","retry_in_doubt":true},"not_after":1767225605000}
//	{"op":"reserve","attempt":"a-2","intent":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","fingerprint":"60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"}
//
// extend, commit (of a result that was too large to send, too), fail (with and without the tool's own words), await (of an attempt, of a hold), fetch:
//
//	{"op":"extend","attempt":"a-1","intent":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
//	{"op":"commit","attempt":"a-1","intent":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","status":201,"headers":[["content-type","application/json"],["location","/refunds/7"]],"body":"eyJyZWZ1bmRfaWQiOjd9"}
//	{"op":"commit","attempt":"a-1","intent":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","status":200,"missing":"too_large"}
//	{"op":"fail","attempt":"a-1","intent":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","class":"definite","status":422,"headers":[["x-note","c3TpcGhhbmU=","base64"]],"body":"bm8="}
//	{"op":"fail","attempt":"a-1","intent":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","class":"not_sent"}
//	{"op":"await","attempt":"a-1","intent":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","wait_ms":30000}
//	{"op":"await","hold":"h-1","intent":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","wait_ms":5000}
//	{"op":"fetch","attempt":"a-1","intent":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
//
// # Answers
//
// Every answer has its kind and the store's now. To reserve:
//
//	{"answer":"execute","now":1767225600000,"attempt":"a-1","lease_ms":15000}
//	{"answer":"execute","now":1767225600000,"attempt":"a-1","lease_ms":15000,"approved_by":"h-1"}
//	{"answer":"execute","now":1767225600000,"intent":"1111111111111111111111111111111111111111111111111111111111111111","fingerprint":"2222222222222222222222222222222222222222222222222222222222222222","attempt":"a-1","lease_ms":15000}
//	{"answer":"in_flight","now":1767225600000,"attempt":"a-1","since":1767225598000}
//	{"answer":"replay","now":1767225600000,"attempt":"a-1","status":201,"headers":[["content-type","application/json"]],"body":"eyJyZWZ1bmRfaWQiOjd9"}
//	{"answer":"replay","now":1767225600000,"attempt":"a-1","fetch":true}
//	{"answer":"replay","now":1767225600000,"attempt":"a-1","missing":"too_large"}
//	{"answer":"held","now":1767225600000,"hold":{"id":"h-1","reason":"new_run","of":"a-1","version":3}}
//	{"answer":"in_doubt","now":1767225600000,"attempt":"a-1","since":1767225598000}
//	{"answer":"denied","now":1767225600000,"hold":{"id":"h-1","reason":"new_run","of":"a-1","version":4}}
//	{"answer":"refused","now":1767225600000,"code":"overloaded","detail":"the intent has 256 rows already","retry_after_ms":1000}
//
// Where the row that a former configuration (also) left decides, the answer to reserve names its record, and so must
// what follows:
//
//	{"answer":"in_flight","now":1767225600000,"intent":"fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13","attempt":"a-0","since":1767225598000}
//
// To extend, commit and fail:
//
//	{"answer":"ok","now":1767225600000}
//	{"answer":"fenced","now":1767225600000}
//
// To await and fetch (in_doubt and in_flight as above; held while the hold is still open):
//
//	{"answer":"result","now":1767225600000,"attempt":"a-1","status":201,"body":"eyJyZWZ1bmRfaWQiOjd9"}
//	{"answer":"result","now":1767225600000,"attempt":"a-1","fetch":true}
//	{"answer":"result","now":1767225600000,"attempt":"a-1","missing":"resolved"}
//	{"answer":"failed","now":1767225600000,"attempt":"a-1","status":422,"body":"bm8=","class":"definite"}
//	{"answer":"answered","now":1767225600000}
//	{"answer":"gone","now":1767225600000}
//
// To any operation that is wrong, or that could not be done:
//
//	{"answer":"error","now":1767225600000,"code":"invalid_operation","field":"rule.window_ms","detail":"must be an integer, is a string"}
//	{"answer":"error","now":1767225600000,"code":"ledger_unavailable","detail":"the store does not answer","retry_after_ms":1000}
package wire
