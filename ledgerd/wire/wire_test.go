package wire

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	intent1 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	finger1 = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"
)

// everyOp has each operation, whole and as small as it can be.
func everyOp() []Op {
	rule := Rule{Name: "refunds «1»", WindowMS: 0, HorizonMS: 1, HoldTermMS: 2, ApprovalTermMS: 3, LeaseMS: 4, WaitMS: 5,
		ExecutionMS: 6, RetentionMS: 7, MaxResultBytes: 8, OnNewRun: PolicyJoin, OnSameIntent: PolicyExecute,
		OnAbsentRun: PolicyHold, RetryInDoubt: true}
	def := DefaultRule()
	result := &Result{Status: 201, Headers: [][2]string{{"content-type", "a/b"}, {"x", ""}, {"x", "st\xe9phane"}},
		Body: []byte("{\"\x00\xff\n\"}")}
	return []Op{
		{Kind: OpReserve, Attempt: "a-1", Intent: intent1, Fingerprint: finger1},
		{Kind: OpReserve, Attempt: "a-1", Intent: intent1, Fingerprint: finger1, Rule: &def},
		{Kind: OpReserve, Attempt: strings.Repeat("~", MaxID), Intent: intent1, Fingerprint: finger1,
			Also: []Identity{{finger1, intent1}, {intent1, intent1}}, Run: "läuft \"\\\n\t\u2028", Tool: "refund",
			Action: []byte(`{"a":{"b":[1.0,null,"é\n"]}}`), Rule: &rule, NotAfter: MaxMomentMS},
		{Kind: OpExtend, Attempt: "a-1", Intent: intent1},
		{Kind: OpCommit, Attempt: "a-1", Intent: intent1, Result: result},
		{Kind: OpCommit, Attempt: "a-1", Intent: intent1, Result: &Result{Status: 204}},
		{Kind: OpCommit, Attempt: "a-1", Intent: intent1, Result: &Result{Status: 200}, Missing: MissingTooLarge},
		{Kind: OpFail, Attempt: "a-1", Intent: intent1, Class: ClassNotSent},
		{Kind: OpFail, Attempt: "a-1", Intent: intent1, Class: ClassDefinite, Result: result},
		{Kind: OpFail, Attempt: "a-1", Intent: intent1, Class: ClassUnknown},
		{Kind: OpAwait, Attempt: "a-1", Intent: intent1, WaitMS: 30000},
		{Kind: OpAwait, Hold: "h-1", Intent: intent1},
		{Kind: OpFetch, Attempt: "a-1", Intent: intent1},
	}
}

// everyAnswer has each kind of answer with each member somewhere.
func everyAnswer() []Answer {
	result := &Result{Status: 500, Headers: [][2]string{{"x", "y"}}, Body: []byte("no")}
	return []Answer{
		{Kind: AnswerExecute, Now: 1, Attempt: "a-1", LeaseMS: 15000, ApprovedBy: "h-1"},
		{Kind: AnswerInFlight, Now: MaxMomentMS, Intent: finger1, Attempt: "a-1", Since: 5},
		{Kind: AnswerReplay, Now: 1, Attempt: "a-1", Result: result},
		{Kind: AnswerReplay, Now: 1, Attempt: "a-1", Fetch: true},
		{Kind: AnswerReplay, Now: 1, Attempt: "a-1", Missing: MissingErased},
		{Kind: AnswerHeld, Now: 1, Hold: &Hold{ID: "h-1", Reason: "new_run", Of: "a-0", Version: 1 << 62}},
		{Kind: AnswerDenied, Now: 1, Hold: &Hold{ID: "h-1"}},
		{Kind: AnswerInDoubt, Now: 1, Attempt: "a-1", Since: 5},
		{Kind: AnswerRefused, Now: 1, Code: CodeOverloaded, Detail: "full", RetryAfterMS: 1000},
		{Kind: AnswerOK}, {Kind: AnswerFenced, Now: 1}, {Kind: AnswerAnswered, Now: 1}, {Kind: AnswerGone, Now: 1},
		{Kind: AnswerResult, Now: 1, Result: &Result{Status: 204}},
		{Kind: AnswerFailed, Now: 1, Class: ClassDefinite, Result: result},
		{Kind: AnswerError, Now: 1, Code: CodeInvalid, Field: "also[1].intent", Detail: "is \"wrong\""},
	}
}

func TestWhatIsWrittenIsReadBackEqual(t *testing.T) {
	for _, op := range everyOp() {
		line := AppendOp(nil, &op)
		got, err := ReadOp(line)
		if err != nil || !reflect.DeepEqual(got, op) {
			t.Errorf("%s reads as %+v, %v; was %+v", line, got, err, op)
		}
	}
	for _, a := range everyAnswer() {
		line := AppendAnswer(nil, &a)
		got, err := ReadAnswer(line)
		if err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("%s reads as %+v, %v; was %+v", line, got, err, a)
		}
	}
}

func TestEveryLineIsOneLine(t *testing.T) {
	for _, op := range everyOp() {
		op.Action = []byte("{\n\"a\" :\r\n [ 1.0 , \"x\\ny\" ]\n}")
		line := AppendOp(nil, &op)
		if bytes.Count(line, []byte("\n")) != 1 || line[len(line)-1] != '\n' || bytes.Contains(line, []byte("\r")) {
			t.Errorf("not one line: %q", line)
		}
		if !bytes.Contains(line, []byte(`"action":{"a":[1.0,"x\ny"]}`)) {
			t.Errorf("the action is not kept as written: %s", line)
		}
	}
}

func TestWhatIsNoActionIsLeftOut(t *testing.T) {
	for _, action := range []string{`[1]`, `{"a":1`, `{"a":1,"a":2}`, `null`, "{\"a\":\"\xff\"}", `{} {}`} {
		op := everyOp()[0]
		op.Action = []byte(action)
		if got, err := ReadOp(AppendOp(nil, &op)); err != nil || got.Action != nil {
			t.Errorf("action %q: reads as %q, %v", action, got.Action, err)
		}
	}
}

func TestAbsentMembersAreNotWritten(t *testing.T) {
	def := DefaultRule()
	op := Op{Kind: OpReserve, Attempt: "a", Intent: intent1, Fingerprint: finger1, Rule: &def}
	want := `{"op":"reserve","attempt":"a","intent":"` + intent1 + `","fingerprint":"` + finger1 + `","rule":{}}` + "\n"
	if got := string(AppendOp(nil, &op)); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if got := string(AppendAnswer(nil, &Answer{Kind: AnswerOK})); got != `{"answer":"ok","now":0}`+"\n" {
		t.Errorf("got %s", got)
	}
}

// documented gives the example lines of the package comment.
func documented(t testing.TB) (ops, answers []string) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(doc)) {
		line = strings.TrimSpace(line)
		if s, ok := strings.CutPrefix(line, "//\t{\"op\""); ok {
			ops = append(ops, `{"op"`+s)
		} else if s, ok := strings.CutPrefix(line, "//\t{\"answer\""); ok {
			answers = append(answers, `{"answer"`+s)
		}
	}
	return ops, answers
}

func TestTheDocumentedLinesAreWhatIsReadAndWritten(t *testing.T) {
	ops, answers := documented(t)
	kinds := map[string]bool{}
	for _, line := range ops {
		op, err := ReadOp([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if again := strings.TrimSpace(string(AppendOp(nil, &op))); again != line {
			t.Errorf("documented %s\nwritten    %s", line, again)
		}
		kinds[string(op.Kind)] = true
	}
	for _, line := range answers {
		a, err := ReadAnswer([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if again := strings.TrimSpace(string(AppendAnswer(nil, &a))); again != line {
			t.Errorf("documented %s\nwritten    %s", line, again)
		}
		kinds[string(a.Kind)] = true
	}
	if len(kinds) != 6+14 {
		t.Errorf("%d kinds of lines are documented, there are 20", len(kinds))
	}
}

func TestLines(t *testing.T) {
	for body, want := range map[string][]string{
		"":               nil,
		"\n\n":           nil,
		"{}":             {"{}"},
		"{}\n{ }\n":      {"{}", "{ }"},
		"{}\r\n\r\n[]\n": {"{}", "[]"},
	} {
		var got []string
		for line := range Lines([]byte(body)) {
			got = append(got, string(line))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
	for line := range Lines([]byte("a\nb\n")) {
		if string(line) != "a" {
			t.Error("went on after the loop ended")
		}
		break
	}
}

func TestReadingKeepsNothingOfTheLine(t *testing.T) {
	for _, op := range everyOp() {
		line := AppendOp(nil, &op)
		got, err := ReadOp(line)
		for i := range line {
			line[i] = 'X'
		}
		if err != nil || !reflect.DeepEqual(got, op) {
			t.Errorf("changed with the line: %+v, %v", got, err)
		}
	}
}

func TestAWrongLineNamesItsMember(t *testing.T) {
	reserve := `{"op":"reserve","attempt":"a","intent":"` + intent1 + `","fingerprint":"` + finger1 + `"`
	commit := `{"op":"commit","attempt":"a","intent":"` + intent1 + `"`
	for _, c := range []struct{ line, field, detail string }{
		{``, "", "cut short"},
		{`{`, "", "cut short"},
		{`[]`, "", "must be an object, is an array"},
		{`{}`, "op", "must be one of"},
		{`{"op":"reverse"}`, "op", `is "reverse"`},
		{`{"op":1}`, "op", "must be a string, is a number"},
		{`{"op":"extend","attempt":"a"}`, "intent", "must be there in extend"},
		{reserve + `,"status":200}`, "status", "does not belong to reserve"},
		{reserve + `,"colour":"red"}`, "colour", "not a member"},
		{reserve + `,"attempt":"b"}`, "", `"attempt" twice`},
		{reserve + `,"\u0061ttempt":"b"}`, "", `"attempt" twice`},
		{reserve + `} {}`, "", "something after it"},
		{reserve + `}x`, "", "not strict JSON at byte"},
		{reserve + `,"run":null}`, "run", "must be a string, is null"},
		{reserve + `,"run":"` + strings.Repeat("r", MaxText+1) + `"}`, "run", "at most 1024 bytes"},
		{reserve + ",\"run\":\"\xff\"}", "run", "not strict JSON"},
		{reserve + `,"run":"\ud800"}`, "run", "not strict JSON"},
		{reserve + `,"rule":[]}`, "rule", "must be an object, is an array"},
		{reserve + `,"rule":{"window":1}}`, "rule.window", "not a member"},
		{reserve + `,"rule":{"window_ms":-1}}`, "rule.window_ms", "must be from 0"},
		{reserve + `,"rule":{"window_ms":1.5}}`, "rule.window_ms", "without fraction"},
		{reserve + `,"rule":{"window_ms":1e3}}`, "rule.window_ms", "without fraction"},
		{reserve + `,"rule":{"window_ms":"1s"}}`, "rule.window_ms", "must be an integer, is a string"},
		{reserve + `,"rule":{"lease_ms":0}}`, "rule.lease_ms", "must be from 1"},
		{reserve + `,"rule":{"retention_ms":9223372036854775807}}`, "rule.retention_ms", "must be from 1 to 316224000000"},
		{reserve + `,"rule":{"on_new_run":"maybe"}}`, "rule.on_new_run", "hold, join, execute"},
		{reserve + `,"rule":{"on_same_intent":"join"}}`, "rule.on_same_intent", "hold, execute"},
		{reserve + `,"rule":{"retry_in_doubt":1}}`, "rule.retry_in_doubt", "true or false"},
		{reserve + `,"also":[{"intent":"` + intent1 + `"}]}`, "also[0].fingerprint", "must be there"},
		{reserve + `,"also":[{"intent":"` + intent1 + `","fingerprint":"ABC"}]}`, "also[0].fingerprint", "64 lower-case hex"},
		{reserve + `,"also":{}}`, "also", "must be an array"},
		{reserve + `,"action":"{}"}`, "action", "must be an object"},
		{reserve + `,"action":{"a":1,"a":2}}`, "action", `"a" twice`},
		{reserve + `,"not_after":-1}`, "not_after", "must be from 0"},
		{reserve + `,"not_after":253402300800000}`, "not_after", "must be from 0"},
		{`{"op":"extend","attempt":"","intent":"` + intent1 + `"}`, "attempt", "1 to 128 printable"},
		{`{"op":"extend","attempt":"a b","intent":"` + intent1 + `"}`, "attempt", "without spaces"},
		{`{"op":"extend","attempt":"` + strings.Repeat("a", MaxID+1) + `","intent":"` + intent1 + `"}`, "attempt", "1 to 128"},
		{`{"op":"extend","attempt":"a","intent":"` + strings.ToUpper(intent1) + `"}`, "intent", "64 lower-case hex"},
		{commit + `}`, "status", "must be there in commit"},
		{commit + `,"status":200,"missing":"erased"}`, "missing", `must be "too_large"`},
		{commit + `,"status":200,"body":"YQ==","missing":"too_large"}`, "missing", "must not be there where headers or body are"},
		{commit + `,"status":42}`, "status", "from 100 to 999"},
		{commit + `,"status":200,"body":"YQ"}`, "body", "padded base64"},
		{commit + `,"status":200,"body":"YQ==\n"}`, "body", "padded base64"},
		{commit + `,"status":200,"body":"YR=="}`, "body", "padded base64"},
		{commit + `,"status":200,"headers":[["a"]]}`, "headers[0]", "[name, value]"},
		{commit + `,"status":200,"headers":[["a","b"],["a",1]]}`, "headers[1][1]", "must be a string"},
		{commit + `,"status":200,"headers":[["a\r\nset-cookie","b"]]}`, "headers[0][0]", "must be a header's name"},
		{commit + `,"status":200,"headers":[["a b","c"]]}`, "headers[0][0]", "must be a header's name"},
		{commit + `,"status":200,"headers":[["ü","c"]]}`, "headers[0][0]", "must be a header's name"},
		{commit + `,"status":200,"headers":[[":status","200"]]}`, "headers[0][0]", "must be a header's name"},
		{commit + `,"status":200,"headers":[["a","b"],["Transfer-Encoding","chunked"]]}`, "headers[1][0]", "belongs to one connection"},
		{commit + `,"status":200,"headers":[["a","b\r\nset-cookie: c"]]}`, "headers[0][1]", "CR, LF or NUL"},
		{commit + `,"status":200,"headers":[["a","Yg0KYzogZA==","base64"]]}`, "headers[0][1]", "CR, LF or NUL"},
		{`{"op":"fail","attempt":"a","intent":"` + intent1 + `","class":"definite","status":500,"headers":[["connection","x-a"]]}`, "headers[0][0]", "belongs to one connection"},
		{commit + `,"status":200,"headers":[["a","b","gzip"]]}`, "headers[0][2]", `must be "base64"`},
		{commit + `,"status":200,"headers":[["a","%","base64"]]}`, "headers[0][1]", "padded base64"},
		{commit + `,"status":200,"headers":[["a","b","base64","c"]]}`, "headers[0][3]", "too many"},
		{`{"op":"fail","attempt":"a","intent":"` + intent1 + `","class":"definite","body":"YQ=="}`, "status", "where headers or body"},
		{`{"op":"fail","attempt":"a","intent":"` + intent1 + `","class":"maybe"}`, "class", "not_sent, definite, unknown"},
		{`{"op":"await","intent":"` + intent1 + `"}`, "attempt", "either attempt or hold"},
		{`{"op":"await","intent":"` + intent1 + `","attempt":"a","hold":"h"}`, "attempt", "either attempt or hold"},
	} {
		_, err := ReadOp([]byte(c.line))
		var wrong *OpError
		if !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(wrong.Detail, c.detail) {
			t.Errorf("%s\n\tgot  %v\n\twant %s: …%s…", c.line, err, c.field, c.detail)
		}
	}
	for _, c := range []struct{ line, field string }{
		{`{"now":1}`, "answer"}, {`{"answer":"ok"}`, "now"}, {`{"answer":"fine","now":1}`, "answer"},
		{`{"answer":"ok","now":1,"x":2}`, "x"}, {`{"answer":"held","now":1,"hold":{}}`, "hold.id"},
		{`{"answer":"result","now":1,"body":"YQ=="}`, "status"}, {`{"answer":"replay","now":1,"fetch":"yes"}`, "fetch"},
	} {
		_, err := ReadAnswer([]byte(c.line))
		var wrong *OpError
		if !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%s: got %v, want the field %s", c.line, err, c.field)
		}
	}
}

func TestALongTextMakesNoLongError(t *testing.T) {
	long := strings.Repeat("é", 1<<16)
	for _, line := range []string{`{"` + long + `":1}`, `{"op":"` + long + `"}`, `{"attempt":"` + long + `"}`} {
		if _, err := ReadOp([]byte(line)); err == nil || len(err.Error()) > 400 {
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
	}
}

func TestAnErrorOfOneLineDoesNotSpoilTheNext(t *testing.T) {
	for _, op := range everyOp() {
		line := AppendOp(nil, &op)
		for cut := range line[:len(line)-2] {
			if _, err := ReadOp(line[:cut]); err == nil {
				t.Fatalf("%q is read as an operation", line[:cut])
			}
		}
		if got, err := ReadOp(line); err != nil || !reflect.DeepEqual(got, op) {
			t.Fatalf("%s after errors: %+v, %v", line, got, err)
		}
	}
}
