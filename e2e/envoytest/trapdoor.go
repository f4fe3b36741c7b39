package envoytest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
)

// trapdoorFile is laid over the filter's own files.
const trapdoorFile = "e2e/testdata/trapdoor/trapdoor.go"

// BuildTrapdoor builds the filter with a way to make it trap, which no other module has: for a request with the header
// "trap" it does, "here" or at the next "tick". It gives the module's file.
func BuildTrapdoor(t TB) (wasm string) {
	t.Helper()
	source := Artifact(t, trapdoorFile)
	dir := filepath.Dir(Artifact(t, "go.mod"))
	text, err := os.ReadFile(Artifact(t, overlayFile))
	var overlay struct{ Replace map[string]string }
	if err == nil {
		err = json.Unmarshal(text, &overlay)
	}
	if err != nil {
		t.Fatalf("%s: %v", overlayFile, err)
	}
	overlay.Replace[filepath.Join(dir, "filter", "trapdoor.go")] = source
	if text, err = json.Marshal(overlay); err != nil {
		t.Fatalf("%v", err)
	}
	file, wasm := filepath.Join(t.TempDir(), "overlay.json"), filepath.Join(t.TempDir(), "trapdoor.wasm")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w",
		"-overlay", file, "-o", wasm, "./filter")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the filter with a trapdoor: %v\n%s", err, said)
	}
	return wasm
}
