package envoytest

import (
	"os"
	"path/filepath"
	"sync"
)

// What make builds and brings, from the repository's root.
const (
	wasmFile    = "bin/idem.wasm"
	overlayFile = "bin/overlay/overlay.json" // that the module is built with
	ledgerdFile = "bin/ledgerd"
	envoyFile   = ".tools/bin/envoy"
	nodeFile    = ".tools/mcp/node/node"
	pythonFile  = ".tools/mcp/python/bin/python"
	configFile  = "envoy/demo.yaml"
)

// targets names the make target that brings each file.
var targets = map[string]string{
	wasmFile:    "make build",
	overlayFile: "make build",
	ledgerdFile: "make build",
	envoyFile:   "make tools",
	nodeFile:    "make tools",
	pythonFile:  "make tools",
	configFile:  "git checkout " + configFile,
}

// root is the repository's root: the nearest folder upwards that has a go.mod.
var root = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", os.ErrNotExist
		}
		dir = up
	}
	return "", err
})

// envoyVariable names another Envoy than the one of `make tools` that tests run with, absolute or from the repository's
// root.
const envoyVariable = "IDEM_ENVOY"

// Artifact gives the absolute path of a file of the repository, named from its root, and fails the test with the
// target to run where it is missing. For Envoy it gives the one that IDEM_ENVOY names, where that is set.
func Artifact(t TB, file string) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatalf("no go.mod in this folder or above it: run the tests inside the repository (%v)", err)
	}
	path := filepath.Join(dir, file)
	if other := os.Getenv(envoyVariable); file == envoyFile && other != "" {
		if path = other; !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("%s=%s: there is no such file; `make test-matrix` brings other Envoys", envoyVariable, other)
		}
		return path
	}
	if _, err := os.Stat(path); err != nil {
		target := targets[file]
		if target == "" {
			target = "git checkout " + file
		}
		t.Fatalf("%s is missing: run `%s`", file, target)
	}
	return path
}
