package canon

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// Version is the version of the canonical form. It is hashed: what another version made is another fingerprint.
const Version = 1

// Key is the deployment's fingerprint key. A zero Key means plain SHA-256.
type Key struct {
	ID     string // default: 8 hex digits of the secret's SHA-256
	Secret []byte
}

// Call is one HTTP request.
type Call struct {
	Method, Host string
	Path         string                     // the request target: path and query
	Header       func(name string) []string // the values of a header by lower-case name; nil: there are none
	Metadata     func(path []string) string // dynamic metadata; nil: there is none
	Certificate  func(part string) string   // of the peer's certificate; nil: there is none
	Body         []byte
}

// Action is a call in canonical form.
type Action struct {
	Tool        string
	Run         string   // empty: absent
	Args        []byte   // the args as they were written, a part of Call.Body (form bodies: as a JSON object of strings)
	Canonical   []byte   // what is hashed, as JSON for people; only from Explain
	Fingerprint string   // 64 hex digits
	Intent      string   // 64 hex digits; equal to Fingerprint where customer or amount is missing
	Customer    []byte   // the canonical customer; nil: missing
	Amount      []byte   // the canonical amount; nil: missing
	Dropped     string   // a digest of the values that were dropped, to count matches that differ in them; empty: none
	Changes     []Change // only from Explain

	// For Compare, only from Explain: the body as JSON, and where in it the args and what stands beside them are.
	body             []byte
	argsAt, besideAt string
	hasArgs          bool
}

// The codes of an Error.
const (
	codeMalformed   = "malformed_body"
	codeUnsupported = "unsupported_media_type"
	codeUnstable    = "unstable_scope"
)

// Error says why a call cannot be read. Nothing of such a call may be reserved.
type Error struct {
	Code    string // malformed_body, unsupported_media_type, body_too_large, unstable_scope
	Pointer string // RFC 6901 into the body, where it applies
	Offset  int64  // bytes into the body; -1: does not apply
	Detail  string // what is wrong, and what would have been right
}

// Error gives code, detail and place in one line.
func (e *Error) Error() string {
	text := e.Code + ": " + e.Detail
	if e.Pointer != "" {
		text += ", at " + e.Pointer
	}
	if e.Offset >= 0 {
		text += ", byte " + itoa(int(e.Offset))
	}
	return text
}

// Canonicalizer reads the calls of one rule under one key. It is immutable, and many goroutines may use it at once.
type Canonicalizer struct {
	rule     *rule
	secret   []byte
	tail     []byte // the key's id as a member of what is hashed: "key":"…",
	readings sync.Pool
}

// New checks the settings. Its error joins a *SettingError for every mistake.
func New(s Settings, key Key) (*Canonicalizer, error) {
	r, err := compile(s, key)
	if err != nil {
		return nil, err
	}
	if key.ID == "" && len(key.Secret) > 0 {
		sum := sha256.Sum256(key.Secret)
		key.ID = hex.EncodeToString(sum[:4])
	}
	c := &Canonicalizer{rule: r, secret: append([]byte(nil), key.Secret...)}
	if key.ID != "" {
		c.tail = append(appendOpaque(append(c.tail, `"key":`...), key.ID), ',')
	}
	return c, nil
}

// Read gives the action of a call. Its error is an *Error.
func (c *Canonicalizer) Read(call Call) (Action, error) {
	r := c.reading()
	defer c.release(r)
	action, err := r.read(&call, false)
	if err != nil {
		return Action{}, err
	}
	return action, nil
}

// Explain gives the action of a call as Read does, and besides what is hashed and what was changed for it.
func (c *Canonicalizer) Explain(call Call) (Action, error) {
	r := c.reading()
	defer c.release(r)
	action, err := r.read(&call, true)
	if err != nil {
		return Action{}, err
	}
	return action, nil
}
