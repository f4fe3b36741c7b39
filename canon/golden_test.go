package canon_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"idem/canon"
)

var update = flag.Bool("update", false, "write testdata/golden/v1.json anew: only with a new canon.Version")

// vector is one call and what version 1 makes of it, for ever.
type vector struct {
	Name      string            `json:"name"`
	Settings  json.RawMessage   `json:"settings,omitempty"` // of canon.Settings
	Key       string            `json:"key,omitempty"`
	Method    string            `json:"method"`
	Host      string            `json:"host"`
	Path      string            `json:"path"`
	Headers   [][2]string       `json:"headers"`
	Body      string            `json:"body"`
	Canonical string            `json:"canonical"`
	Gives     map[string]string `json:"gives"`
}

func (v vector) call() canon.Call {
	return canon.Call{Method: v.Method, Host: v.Host, Path: v.Path, Body: []byte(v.Body), Header: func(name string) (values []string) {
		for _, h := range v.Headers {
			if h[0] == name {
				values = append(values, h[1])
			}
		}
		return values
	}}
}

// TestVersion1NeverChanges holds the canonical form to its golden vectors. Where it fails, rows in people's ledgers
// would not be found again: what has to change is canon.Version, and the former version stays readable.
func TestVersion1NeverChanges(t *testing.T) {
	const path = "testdata/golden/v1.json"
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(file, &vectors); err != nil {
		t.Fatal(err)
	}
	if canon.Version != 1 || len(vectors) < 20 {
		t.Fatalf("version %d, %d vectors", canon.Version, len(vectors))
	}
	for n := range vectors {
		v := &vectors[n]
		var key canon.Key
		if v.Key != "" {
			key.Secret = []byte(v.Key)
		}
		var settings canon.Settings
		if v.Settings != nil {
			if err := json.Unmarshal(v.Settings, &settings); err != nil {
				t.Fatalf("%s: %v", v.Name, err)
			}
		}
		c, err := canon.New(settings, key)
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		a := read(t, c, v.call())
		gives := map[string]string{"fingerprint": a.Fingerprint, "intent": a.Intent, "tool": a.Tool, "run": a.Run, "dropped": a.Dropped}
		if *update {
			v.Gives, v.Canonical = gives, string(a.Canonical)
			continue
		}
		if string(a.Canonical) != v.Canonical {
			t.Errorf("%s: what is hashed is\n%s, was\n%s", v.Name, a.Canonical, v.Canonical)
		}
		for name, got := range gives {
			if got != v.Gives[name] {
				t.Errorf("%s: the %s is %q, was %q", v.Name, name, got, v.Gives[name])
			}
		}
	}
	if *update {
		out := []byte("[")
		for n, v := range vectors {
			if n > 0 {
				out = append(out, ',')
			}
			var line bytes.Buffer
			encoder := json.NewEncoder(&line)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(v); err != nil {
				t.Fatal(err)
			}
			out = append(append(out, '\n'), bytes.TrimSpace(line.Bytes())...)
		}
		if err := os.WriteFile(path, append(out, "\n]\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
