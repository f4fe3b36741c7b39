package wire

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendOp appends op's line, with the newline at its end. Members that are absent (zero) or have their default are
// left out. Texts should be UTF-8: what is not, is written as U+FFFD (a header's value excepted, which is kept byte for
// byte). An Action that is no JSON object is left out, for it is only there for people.
func AppendOp(dst []byte, op *Op) []byte {
	dst = append(dst, `{"op":`...)
	dst = appendString(dst, string(op.Kind))
	dst = appendText(dst, `,"attempt":`, op.Attempt)
	dst = appendText(dst, `,"hold":`, op.Hold)
	dst = appendText(dst, `,"intent":`, op.Intent)
	dst = appendText(dst, `,"fingerprint":`, op.Fingerprint)
	for i, former := range op.Also {
		if i == 0 {
			dst = append(dst, `,"also":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"intent":`...)
		dst = appendString(dst, former.Intent)
		dst = append(dst, `,"fingerprint":`...)
		dst = appendString(dst, former.Fingerprint)
		dst = append(dst, '}')
	}
	if len(op.Also) > 0 {
		dst = append(dst, ']')
	}
	dst = appendText(dst, `,"run":`, op.Run)
	dst = appendText(dst, `,"tool":`, op.Tool)
	dst = appendAction(dst, op.Action)
	if op.Rule != nil {
		dst = appendRule(dst, op.Rule)
	}
	dst = appendNumber(dst, `,"not_after":`, op.NotAfter, 0)
	dst = appendText(dst, `,"class":`, string(op.Class))
	if op.Result != nil {
		dst = appendResult(dst, op.Result)
	}
	dst = appendText(dst, `,"missing":`, op.Missing)
	dst = appendNumber(dst, `,"wait_ms":`, op.WaitMS, 0)
	return append(dst, '}', '\n')
}

// AppendAnswer appends a's line, with the newline at its end. Members that are absent (zero) are left out.
func AppendAnswer(dst []byte, a *Answer) []byte {
	dst = append(dst, `{"answer":`...)
	dst = appendString(dst, string(a.Kind))
	dst = append(dst, `,"now":`...)
	dst = strconv.AppendInt(dst, a.Now, 10)
	dst = appendText(dst, `,"intent":`, a.Intent)
	dst = appendText(dst, `,"fingerprint":`, a.Fingerprint)
	dst = appendText(dst, `,"attempt":`, a.Attempt)
	dst = appendNumber(dst, `,"lease_ms":`, a.LeaseMS, 0)
	dst = appendNumber(dst, `,"since":`, a.Since, 0)
	dst = appendText(dst, `,"approved_by":`, a.ApprovedBy)
	if h := a.Hold; h != nil {
		dst = append(dst, `,"hold":{"id":`...)
		dst = appendString(dst, h.ID)
		dst = appendText(dst, `,"reason":`, h.Reason)
		dst = appendText(dst, `,"of":`, h.Of)
		dst = appendNumber(dst, `,"version":`, h.Version, 0)
		dst = append(dst, '}')
	}
	if a.Result != nil {
		dst = appendResult(dst, a.Result)
	}
	if a.Fetch {
		dst = append(dst, `,"fetch":true`...)
	}
	dst = appendText(dst, `,"missing":`, a.Missing)
	dst = appendText(dst, `,"class":`, string(a.Class))
	dst = appendText(dst, `,"code":`, a.Code)
	dst = appendText(dst, `,"field":`, a.Field)
	dst = appendText(dst, `,"detail":`, a.Detail)
	dst = appendNumber(dst, `,"retry_after_ms":`, a.RetryAfterMS, 0)
	return append(dst, '}', '\n')
}

func appendRule(dst []byte, r *Rule) []byte {
	def := DefaultRule()
	dst = append(dst, `,"rule":{`...)
	start := len(dst)
	dst = appendText(dst, `,"name":`, r.Name)
	dst = appendNumber(dst, `,"window_ms":`, r.WindowMS, def.WindowMS)
	dst = appendNumber(dst, `,"horizon_ms":`, r.HorizonMS, def.HorizonMS)
	dst = appendNumber(dst, `,"hold_term_ms":`, r.HoldTermMS, def.HoldTermMS)
	dst = appendNumber(dst, `,"approval_term_ms":`, r.ApprovalTermMS, def.ApprovalTermMS)
	dst = appendNumber(dst, `,"lease_ms":`, r.LeaseMS, def.LeaseMS)
	dst = appendNumber(dst, `,"wait_ms":`, r.WaitMS, def.WaitMS)
	dst = appendNumber(dst, `,"execution_timeout_ms":`, r.ExecutionMS, def.ExecutionMS)
	dst = appendNumber(dst, `,"retention_ms":`, r.RetentionMS, def.RetentionMS)
	dst = appendNumber(dst, `,"max_result_bytes":`, r.MaxResultBytes, def.MaxResultBytes)
	dst = appendPolicy(dst, `,"on_new_run":`, r.OnNewRun, def.OnNewRun)
	dst = appendPolicy(dst, `,"on_same_intent":`, r.OnSameIntent, def.OnSameIntent)
	dst = appendPolicy(dst, `,"on_absent_run":`, r.OnAbsentRun, def.OnAbsentRun)
	if r.RetryInDoubt {
		dst = append(dst, `,"retry_in_doubt":true`...)
	}
	if len(dst) > start {
		dst = append(dst[:start], dst[start+1:]...) // the first member has no comma before it
	}
	return append(dst, '}')
}

// appendResult writes the members of a reply. A header is [name, value]; a value that is not UTF-8 stands in base64,
// and the pair gets a third element that says so.
func appendResult(dst []byte, r *Result) []byte {
	dst = append(dst, `,"status":`...)
	dst = strconv.AppendInt(dst, int64(r.Status), 10)
	for i, h := range r.Headers {
		if i == 0 {
			dst = append(dst, `,"headers":[[`...)
		} else {
			dst = append(dst, `,[`...)
		}
		dst = appendString(dst, h[0])
		dst = append(dst, ',')
		if utf8.ValidString(h[1]) {
			dst = appendString(dst, h[1])
		} else {
			dst = append(dst, '"')
			dst = base64.StdEncoding.AppendEncode(dst, []byte(h[1]))
			dst = append(dst, `","base64"`...)
		}
		dst = append(dst, ']')
	}
	if len(r.Headers) > 0 {
		dst = append(dst, ']')
	}
	if len(r.Body) > 0 {
		dst = append(dst, `,"body":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, r.Body)
		dst = append(dst, '"')
	}
	return dst
}

// appendAction writes the action on one line: whitespace between its tokens goes, everything else stays as written.
func appendAction(dst, action []byte) []byte {
	if len(action) == 0 || jsontext.Value(action).Kind() != '{' {
		return dst
	}
	out, err := jsontext.AppendFormat(append(dst, `,"action":`...), action,
		jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false), jsontext.PreserveRawStrings(true))
	if err != nil {
		return dst
	}
	return out
}

func appendText(dst []byte, member, s string) []byte {
	if s == "" {
		return dst
	}
	return appendString(append(dst, member...), s)
}

func appendNumber(dst []byte, member string, n, def int64) []byte {
	if n == def {
		return dst
	}
	return strconv.AppendInt(append(dst, member...), n, 10)
}

func appendPolicy(dst []byte, member string, p, def Policy) []byte {
	if p == def {
		return dst
	}
	return appendString(append(dst, member...), string(p))
}

// appendString writes a JSON string. The error of AppendQuote only says that invalid UTF-8 was replaced.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
