package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"idem/canon"
)

// writtenConfig is what a plugin configuration says in so many words of which package policy gives only the meaning.
type writtenConfig struct {
	Fingerprint struct {
		KeyEnv string `json:"key_env"`
	} `json:"fingerprint"`
	Calls []struct {
		Run  []writtenSource `json:"run"`
		Args *writtenSource  `json:"args"`

		Scope json.RawMessage `json:"scope"`
	} `json:"calls"`
}

// writtenSource says where a value of a call comes from.
type writtenSource struct {
	Pointer  *string  `json:"pointer"`
	Header   string   `json:"header"`
	Cookie   string   `json:"cookie"`
	Value    string   `json:"value"`
	Metadata []string `json:"metadata"`

	Certificate string `json:"certificate"`
}

// readWritten reads a document. Where it is not as it should be, policy.Parse says so.
func readWritten(document []byte) (w writtenConfig) {
	_ = json.Unmarshal(document, &w)
	return w
}

// args gives the pointer to the args that a rule names; empty: it names none.
func (w writtenConfig) args(rule int) string {
	if rule < len(w.Calls) && w.Calls[rule].Args != nil && w.Calls[rule].Args.Pointer != nil {
		return *w.Calls[rule].Args.Pointer
	}
	return ""
}

// scope gives the sources of a rule's scope that are written down; none: it has the default, or "none".
func (w writtenConfig) scope(rule int) (sources []writtenSource) {
	if rule < len(w.Calls) {
		_ = json.Unmarshal(w.Calls[rule].Scope, &sources) // where it is no list, it names no source
	}
	return sources
}

// run says where a rule reads the run, and whether that is the default.
func (w writtenConfig) run(rule int, protocol canon.Protocol) (text string, byDefault bool) {
	if rule >= len(w.Calls) || w.Calls[rule].Run == nil {
		if protocol == canon.MCP {
			return "header x-idem-run", true
		}
		return "header x-idem-run, else /runId or /run_id beside /args", true
	}
	var from []string
	for _, s := range w.Calls[rule].Run {
		from = append(from, s.String())
	}
	return strings.Join(from, ", else "), false
}

func (s writtenSource) String() string {
	switch {
	case s.Pointer != nil:
		return *s.Pointer
	case s.Header != "":
		return "header " + strings.ToLower(s.Header)
	case s.Cookie != "":
		return "cookie " + s.Cookie
	case len(s.Metadata) > 0:
		return "metadata " + strings.Join(s.Metadata, "/")
	case s.Certificate != "":
		return "certificate " + s.Certificate
	default:
		return fmt.Sprintf("always %q", s.Value)
	}
}
