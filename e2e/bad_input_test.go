package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

func TestUnreadableCalls(t *testing.T) {
	s := demoStack(t)
	t.Run("malformed bodies", func(t *testing.T) { malformedBodies(t, s) })
	t.Run("other media types", func(t *testing.T) { otherMediaTypes(t, s) })
	t.Run("large bodies", func(t *testing.T) { largeBodies(t, s) })
	expectExecutions(t, s.Tool, 0)
}

// A call that cannot be read is refused with the place where reading ended, and the tool is not reached.
func malformedBodies(t *testing.T, s *envoytest.Stack) {
	for name, c := range map[string]struct {
		body    string
		offset  int64
		pointer string
	}{
		"duplicate key":         {`{"tool":"refund","args":{"amount":1,"amount":2}}`, 36, "/args/amount"},
		"duplicate key, escape": {`{"tool":"refund","args":{"a":1,"\u0061":2}}`, 31, "/args/a"},
		"bad UTF-8":             {"{\"tool\":\"refund\",\"args\":{\"a\":\"\xff\"}}", 30, "/args/a"},
		"trailing bytes":        {`{"tool":"refund"} x`, 18, ""},
		"depth 10,000":          {strings.Repeat(`[`, 10000) + strings.Repeat(`]`, 10000), -1, "*"},
		"empty":                 {"", 0, ""},
		"cut short":             {`{"tool":"refund"`, 16, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := expectProblem(t, "the caller", s.Call(t, envoytest.Call{Body: c.body}), http.StatusBadRequest, "malformed_body")
			if p.Outcome != "refused" || p.Retryable {
				t.Errorf("outcome %q, retryable %v", p.Outcome, p.Retryable)
			}
			if p.Offset == nil {
				t.Fatalf("the problem has no offset: %+v", p)
			}
			if c.offset >= 0 && *p.Offset != c.offset {
				t.Errorf("offset %d, want %d: %s", *p.Offset, c.offset, p.Detail)
			}
			if c.pointer != "*" && p.Pointer != c.pointer {
				t.Errorf("pointer %q, want %q: %s", p.Pointer, c.pointer, p.Detail)
			}
		})
	}
}

// A matched call is never let through because its body is of a kind that cannot be read.
func otherMediaTypes(t *testing.T, s *envoytest.Stack) {
	for name, call := range map[string]envoytest.Call{
		"text/plain": {Type: "text/plain", Body: refundA},
		"no type":    {Type: "-", Body: refundA},
		"gzip":       {Body: refundA, Header: map[string]string{"content-encoding": "gzip"}},
		"form":       {Type: "application/x-www-form-urlencoded", Body: "tool=refund"},
	} {
		expectProblem(t, name, s.Call(t, call), http.StatusUnsupportedMediaType, "unsupported_media_type")
	}
}

// The refusal of a body that is too large is Idem's, not Envoy's.
func largeBodies(t *testing.T, s *envoytest.Stack) {
	for _, size := range []int{1<<20 + 1, 3 << 20} {
		body := `{"tool":"refund","args":{"note":"` + strings.Repeat("x", size) + `"}}`
		expectProblem(t, "the caller", s.Call(t, envoytest.Call{Body: body}), http.StatusRequestEntityTooLarge, "body_too_large")
	}
}
