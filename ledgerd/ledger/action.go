package ledger

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Keep is how much of a call is stored for people.
type Keep string

// How much of a call is stored. Identity never depends on it: fingerprints are stored in any case.
const (
	KeepFull     Keep = "full"     // the call's args as they were written
	KeepRedacted Keep = "redacted" // their shape; the values at the pointers (without pointers: all) are replaced
	KeepNone     Keep = "none"
)

// Actions says what is stored of a call.
type Actions struct {
	Keep     Keep     // default: KeepFull
	Pointers []string // KeepRedacted: RFC 6901 pointers, from the args, of values that are not stored
	MaxBytes int      // of a larger call only its size is stored. Default 16 KiB: every write of a record carries it
}

const defaultActionBytes = 16 << 10

// redactedValue stands for a value that is not stored.
const redactedValue = "(redacted)"

func (a Actions) validate() error {
	switch a.Keep {
	case "", KeepFull, KeepNone, KeepRedacted:
	default:
		return fmt.Errorf("Actions.Keep is %q, want full, redacted or none", a.Keep)
	}
	if a.MaxBytes < 0 {
		return fmt.Errorf("Actions.MaxBytes is %d, want a positive number, or 0 for %d", a.MaxBytes, defaultActionBytes)
	}
	if len(a.Pointers) > 0 && a.Keep != KeepRedacted {
		return fmt.Errorf("Actions.Pointers are there, but Actions.Keep is %q, want redacted", a.Keep)
	}
	for i, p := range a.Pointers {
		if !jsontext.Pointer(p).IsValid() || p == "" {
			return fmt.Errorf("Actions.Pointers[%d] is %q, want an RFC 6901 pointer such as /card/number", i, p)
		}
	}
	return nil
}

// stored gives what is stored of an action. An action that cannot be redacted is not stored.
func (a Actions) stored(action []byte) []byte {
	switch {
	case len(action) == 0 || a.Keep == KeepNone:
		return nil
	case len(action) > a.MaxBytes:
		return fmt.Appendf(nil, `{"(omitted)":"%d bytes, more than the %d that are stored of a call"}`, len(action), a.MaxBytes)
	case a.Keep == KeepRedacted:
		return a.redactedCall(action)
	}
	return action
}

// redactedCall redacts an action as the filter sends it: the args, and the path's query, which may hold as much as they
// do. Whatever else it holds is not known to be harmless and is left out; so is what cannot be redacted.
func (a Actions) redactedCall(action []byte) []byte {
	call := gjson.ParseBytes(action)
	out, err := sjson.SetBytes([]byte("{}"), "method", call.Get("method").Str)
	if err != nil {
		return nil
	}
	path, query, asks := strings.Cut(call.Get("path").Str, "?")
	if asks && query != "" {
		path += "?" + redactedValue
	}
	if out, err = sjson.SetBytes(out, "path", path); err != nil {
		return nil
	}
	args := call.Get("args")
	if !args.Exists() {
		return out
	}
	redacted := a.redacted([]byte(args.Raw))
	if redacted == nil {
		return nil
	}
	if out, err = sjson.SetRawBytes(out, "args", redacted); err != nil {
		return nil
	}
	return out
}

// redacted gives the args, or a value in them, without the values that are not stored.
func (a Actions) redacted(args []byte) []byte {
	var out bytes.Buffer
	dec := jsontext.NewDecoder(bytes.NewReader(args))
	enc := jsontext.NewEncoder(&out)
	for {
		kind := dec.PeekKind()
		if kind == 0 {
			break
		}
		if err := a.copyToken(dec, enc, kind); err != nil {
			return nil
		}
	}
	return bytes.TrimSpace(out.Bytes())
}

// copyToken copies what comes next in dec, or what stands for it.
func (a Actions) copyToken(dec *jsontext.Decoder, enc *jsontext.Encoder, kind jsontext.Kind) error {
	inObject, n := dec.StackIndex(dec.StackDepth())
	isName := inObject == '{' && n%2 == 0
	opensArgs := dec.StackDepth() == 0 && (kind == '{' || kind == '[')
	if isName || kind == '}' || kind == ']' || opensArgs {
		t, err := dec.ReadToken()
		if err != nil {
			return err
		}
		return enc.WriteToken(t)
	}
	if len(a.Pointers) == 0 && (kind == '{' || kind == '[') {
		t, err := dec.ReadToken()
		if err != nil {
			return err
		}
		return enc.WriteToken(t)
	}
	// The encoder's pointer is that of the value before; the decoder names the next one only once it was read.
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	at := string(dec.StackPointer())
	if len(a.Pointers) == 0 || slices.Contains(a.Pointers, at) {
		return enc.WriteToken(jsontext.String(redactedValue))
	}
	if kind != '{' && kind != '[' {
		return enc.WriteValue(v)
	}
	inner, err := a.within(at, v)
	if err != nil {
		return err
	}
	return enc.WriteValue(inner)
}

// within redacts a value whose own pointer is at.
func (a Actions) within(at string, v jsontext.Value) (jsontext.Value, error) {
	below := Actions{Keep: KeepRedacted}
	for _, p := range a.Pointers {
		if len(p) > len(at) && p[:len(at)] == at && p[len(at)] == '/' {
			below.Pointers = append(below.Pointers, p[len(at):])
		}
	}
	if len(below.Pointers) == 0 {
		return v.Clone(), nil
	}
	out := below.redacted(v)
	if out == nil {
		return nil, fmt.Errorf("ledger: the value at %s cannot be redacted", at)
	}
	return out, nil
}
