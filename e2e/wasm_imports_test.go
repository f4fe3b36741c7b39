package e2e_test

import (
	"os"
	"testing"

	"github.com/tetratelabs/wazero"

	"idem/e2e/envoytest"
)

// Envoy 1.37 and 1.38 have no poll_oneoff, and Go's runtime ends the program where it asks for it in vain: the module as
// it is built asks nobody (tools/overlay).
func TestWasmTheModuleNeverPollsItsHost(t *testing.T) {
	module, err := os.ReadFile(envoytest.Artifact(t, "bin/idem.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	runtime := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer func() { _ = runtime.Close(t.Context()) }()
	compiled, err := runtime.CompileModule(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	imports := 0
	for _, f := range compiled.ImportedFunctions() {
		imports++
		if from, name, _ := f.Import(); name == "poll_oneoff" {
			t.Errorf("the module imports %s.%s: build it by `make build`", from, name)
		}
	}
	if imports == 0 {
		t.Error("the module imports nothing: it is no filter")
	}
}
