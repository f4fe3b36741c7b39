package wire

import "strconv"

// member is a set of members of an operation's line.
type member uint32

const (
	mAttempt member = 1 << iota
	mHold
	mIntent
	mFingerprint
	mAlso
	mRun
	mTool
	mAction
	mRule
	mNotAfter
	mClass
	mStatus
	mHeaders
	mBody
	mMissing
	mWait
)

// memberNames is the members' names, in the order of their bits.
var memberNames = [...]string{"attempt", "hold", "intent", "fingerprint", "also", "run", "tool", "action", "rule",
	"not_after", "class", "status", "headers", "body", "missing", "wait_ms"}

// shapes says which members an operation must and may have.
var shapes = map[OpKind]struct{ must, may member }{
	OpReserve: {mAttempt | mIntent | mFingerprint, mAlso | mRun | mTool | mAction | mRule | mNotAfter},
	OpExtend:  {mAttempt | mIntent, 0},
	OpCommit:  {mAttempt | mIntent | mStatus, mHeaders | mBody | mMissing},
	OpFail:    {mAttempt | mIntent | mClass, mStatus | mHeaders | mBody},
	OpAwait:   {mIntent, mAttempt | mHold | mWait},
	OpFetch:   {mAttempt | mIntent, 0},
}

// ReadOp reads one operation's line. The error is an *OpError; the operation then is as far as it was read, for logs
// only. What it gives shares no memory with line.
func ReadOp(line []byte) (Op, error) {
	var (
		op     Op
		result Result
		seen   member
	)
	err := readLine(line, func(r *reader, name string) (err *OpError) {
		switch name {
		case "op":
			var kind string
			kind, err = r.string()
			op.Kind = OpKind(kind)
			return err
		case "attempt":
			seen |= mAttempt
			op.Attempt, err = r.checked(checkID)
		case "hold":
			seen |= mHold
			op.Hold, err = r.checked(checkID)
		case "intent":
			seen |= mIntent
			op.Intent, err = r.checked(checkDigest)
		case "fingerprint":
			seen |= mFingerprint
			op.Fingerprint, err = r.checked(checkDigest)
		case "also":
			seen |= mAlso
			op.Also, err = r.identities()
		case "run":
			seen |= mRun
			op.Run, err = r.checked(checkText)
		case "tool":
			seen |= mTool
			op.Tool, err = r.checked(checkText)
		case "action":
			seen |= mAction
			op.Action, err = r.raw()
		case "rule":
			seen |= mRule
			op.Rule, err = r.rule()
		case "not_after":
			seen |= mNotAfter
			op.NotAfter, err = r.integer(0, MaxMomentMS)
		case "class":
			seen |= mClass
			op.Class, err = r.class()
		case "status":
			seen |= mStatus
			result.Status, err = r.status()
		case "headers":
			seen |= mHeaders
			result.Headers, err = r.headers(checkHeader)
		case "body":
			seen |= mBody
			result.Body, err = r.base64()
		case "missing":
			seen |= mMissing
			op.Missing, err = r.missing()
		case "wait_ms":
			seen |= mWait
			op.WaitMS, err = r.integer(0, MaxDurationMS)
		default:
			err = unknownMember()
		}
		return err
	})
	if seen&mStatus != 0 {
		op.Result = &result
	}
	if err == nil {
		err = checkShape(&op, seen)
	}
	if err != nil {
		return op, err
	}
	return op, nil
}

// checkShape wants the members that the operation must have and no others than it may have.
func checkShape(op *Op, seen member) *OpError {
	shape, known := shapes[op.Kind]
	if !known {
		return &OpError{Field: "op", Detail: "must be one of reserve, extend, commit, fail, await, fetch, is " + quoted(string(op.Kind))}
	}
	for i, name := range memberNames {
		m := member(1) << i
		switch {
		case shape.must&m != 0 && seen&m == 0:
			return &OpError{Field: name, Detail: "must be there in " + string(op.Kind)}
		case (shape.must|shape.may)&m == 0 && seen&m != 0:
			return &OpError{Field: name, Detail: "does not belong to " + string(op.Kind)}
		}
	}
	switch {
	case op.Kind == OpAwait && (seen&mAttempt == 0) == (seen&mHold == 0):
		return &OpError{Field: "attempt", Detail: "await must have either attempt or hold"}
	case seen&(mHeaders|mBody) != 0 && seen&mStatus == 0:
		return &OpError{Field: "status", Detail: "must be there where headers or body are"}
	case seen&mMissing != 0 && seen&(mHeaders|mBody) != 0:
		return &OpError{Field: "missing", Detail: "must not be there where headers or body are"}
	}
	return nil
}

// missing reads why a commit brings no result. The filter knows of one reason; the others are the ledger's.
func (r *reader) missing() (string, *OpError) {
	s, err := r.string()
	if err == nil && s != MissingTooLarge {
		err = &OpError{Detail: "must be " + quoted(MissingTooLarge) + ", is " + quoted(s)}
	}
	return s, err
}

// ReadAnswer reads one answer's line. The error is an *OpError. What it gives shares no memory with line.
func ReadAnswer(line []byte) (Answer, error) {
	var (
		a                  Answer
		result             Result
		now, status, parts bool
	)
	err := readLine(line, func(r *reader, name string) (err *OpError) {
		switch name {
		case "answer":
			a.Kind, err = r.answerKind()
		case "now":
			now = true
			a.Now, err = r.integer(0, MaxMomentMS)
		case "intent":
			a.Intent, err = r.checked(checkDigest)
		case "fingerprint":
			a.Fingerprint, err = r.checked(checkDigest)
		case "attempt":
			a.Attempt, err = r.checked(checkID)
		case "lease_ms":
			a.LeaseMS, err = r.integer(0, MaxDurationMS)
		case "since":
			a.Since, err = r.integer(0, MaxMomentMS)
		case "approved_by":
			a.ApprovedBy, err = r.checked(checkID)
		case "hold":
			a.Hold, err = r.hold()
		case "status":
			status = true
			result.Status, err = r.status()
		case "headers":
			parts = true
			result.Headers, err = r.headers(nil) // whatever was stored before there were checks
		case "body":
			parts = true
			result.Body, err = r.base64()
		case "fetch":
			a.Fetch, err = r.bool()
		case "missing":
			a.Missing, err = r.string()
		case "class":
			a.Class, err = r.class()
		case "code":
			a.Code, err = r.string()
		case "field":
			a.Field, err = r.string()
		case "detail":
			a.Detail, err = r.string()
		case "retry_after_ms":
			a.RetryAfterMS, err = r.integer(0, MaxDurationMS)
		default:
			err = unknownMember()
		}
		return err
	})
	if status {
		a.Result = &result
	}
	switch {
	case err != nil:
	case a.Kind == "":
		err = &OpError{Field: "answer", Detail: "must be there"}
	case !now:
		err = &OpError{Field: "now", Detail: "must be there"}
	case parts && !status:
		err = &OpError{Field: "status", Detail: "must be there where headers or body are"}
	}
	if err != nil {
		return a, err
	}
	return a, nil
}

func (r *reader) answerKind() (AnswerKind, *OpError) {
	s, err := r.string()
	if err != nil {
		return "", err
	}
	switch kind := AnswerKind(s); kind {
	case AnswerExecute, AnswerInFlight, AnswerReplay, AnswerHeld, AnswerInDoubt, AnswerDenied, AnswerRefused, AnswerOK,
		AnswerFenced, AnswerResult, AnswerFailed, AnswerAnswered, AnswerGone, AnswerError:
		return kind, nil
	}
	return "", &OpError{Detail: "is an answer that is not known: " + quoted(s)}
}

func (r *reader) identities() ([]Identity, *OpError) {
	var out []Identity
	err := r.array(func(i int) *OpError {
		if i >= MaxAlso {
			return &OpError{Detail: "is too many: there may be " + strconv.Itoa(MaxAlso)}
		}
		var id Identity
		err := r.object(func(r *reader, name string) (err *OpError) {
			switch name {
			case "intent":
				id.Intent, err = r.checked(checkDigest)
			case "fingerprint":
				id.Fingerprint, err = r.checked(checkDigest)
			default:
				err = unknownMember()
			}
			return err
		})
		switch {
		case err != nil:
		case id.Intent == "":
			err = &OpError{Field: "intent", Detail: "must be there"}
		case id.Fingerprint == "":
			err = &OpError{Field: "fingerprint", Detail: "must be there"}
		}
		out = append(out, id)
		return err
	})
	return out, err
}

func (r *reader) hold() (*Hold, *OpError) {
	var h Hold
	err := r.object(func(r *reader, name string) (err *OpError) {
		switch name {
		case "id":
			h.ID, err = r.checked(checkID)
		case "reason":
			h.Reason, err = r.string()
		case "of":
			h.Of, err = r.checked(checkID)
		case "version":
			h.Version, err = r.integer(0, 1<<62)
		default:
			err = unknownMember()
		}
		return err
	})
	if err == nil && h.ID == "" {
		err = &OpError{Field: "id", Detail: "must be there"}
	}
	return &h, err
}

func (r *reader) class() (Class, *OpError) {
	s, err := r.string()
	if err != nil {
		return "", err
	}
	switch c := Class(s); c {
	case ClassNotSent, ClassDefinite, ClassUnknown:
		return c, nil
	}
	return "", &OpError{Detail: "must be one of not_sent, definite, unknown, is " + quoted(s)}
}

func (r *reader) status() (int, *OpError) {
	n, err := r.integer(100, 999)
	return int(n), err
}

func (r *reader) headers(check func(name, value string) *OpError) ([][2]string, *OpError) {
	var out [][2]string
	err := r.array(func(int) *OpError {
		var part [3]string
		n := 0
		if err := r.array(func(i int) (err *OpError) {
			if i >= len(part) {
				return &OpError{Detail: `is too many: a header is [name, value] or [name, value, "base64"]`}
			}
			part[i], err = r.string()
			n = i + 1
			return err
		}); err != nil {
			return err
		}
		switch {
		case n < 2 || part[0] == "":
			return &OpError{Detail: `must be [name, value] or [name, value, "base64"]`}
		case n == 3 && part[2] != "base64":
			return &OpError{Field: "[2]", Detail: `must be "base64", is ` + quoted(part[2])}
		case n == 3:
			value, err := unbase64([]byte(part[1]))
			if err != nil {
				return within("[1]", err)
			}
			part[1] = string(value)
		}
		if check != nil {
			if err := check(part[0], part[1]); err != nil {
				return err
			}
		}
		out = append(out, [2]string{part[0], part[1]})
		return nil
	})
	return out, err
}

func (r *reader) rule() (*Rule, *OpError) {
	rule := DefaultRule()
	err := r.object(func(r *reader, name string) (err *OpError) {
		switch name {
		case "name":
			rule.Name, err = r.checked(checkText)
		case "window_ms":
			rule.WindowMS, err = r.integer(0, MaxDurationMS)
		case "horizon_ms":
			rule.HorizonMS, err = r.integer(0, MaxDurationMS)
		case "hold_term_ms":
			rule.HoldTermMS, err = r.integer(1, MaxDurationMS)
		case "approval_term_ms":
			rule.ApprovalTermMS, err = r.integer(1, MaxDurationMS)
		case "lease_ms":
			rule.LeaseMS, err = r.integer(1, MaxDurationMS)
		case "wait_ms":
			rule.WaitMS, err = r.integer(0, MaxDurationMS)
		case "execution_timeout_ms":
			rule.ExecutionMS, err = r.integer(1, MaxDurationMS)
		case "retention_ms":
			rule.RetentionMS, err = r.integer(1, MaxDurationMS)
		case "max_result_bytes":
			rule.MaxResultBytes, err = r.integer(0, 1<<40)
		case "on_new_run":
			rule.OnNewRun, err = r.policy(PolicyHold, PolicyJoin, PolicyExecute)
		case "on_same_intent":
			rule.OnSameIntent, err = r.policy(PolicyHold, PolicyExecute)
		case "on_absent_run":
			rule.OnAbsentRun, err = r.policy(PolicyExecute, PolicyHold)
		case "retry_in_doubt":
			rule.RetryInDoubt, err = r.bool()
		default:
			err = unknownMember()
		}
		return err
	})
	return &rule, err
}

func (r *reader) policy(takes ...Policy) (Policy, *OpError) {
	s, err := r.string()
	if err == nil {
		err = checkPolicy(Policy(s), takes...)
	}
	return Policy(s), err
}

func unknownMember() *OpError { return &OpError{Detail: "is not a member that is known here"} }
