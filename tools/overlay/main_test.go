package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A toolchain whose runtime is written otherwise fails the build, rather than giving a filter that traps.
func TestAnUnknownRuntimeIsRefused(t *testing.T) {
	goroot, out := t.TempDir(), t.TempDir()
	file := filepath.Join(goroot, "src", "runtime", "os_wasip1.go")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"package runtime\n":                           "change tools/overlay",
		"package runtime\n\n" + imported + "\n// end": "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		err := write(goroot, out)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	changed, err := os.ReadFile(filepath.Join(out, "os_wasip1.go"))
	if err != nil || !strings.Contains(string(changed), answered) || strings.Contains(string(changed), "wasmimport") {
		t.Errorf("wrote %s, %v", changed, err)
	}
}
