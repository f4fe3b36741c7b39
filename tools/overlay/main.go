// Command overlay writes what `go build -overlay` takes to build the filter with: the Go runtime's own file for WASI with
// one function answered in the module.
//
// The Go runtime asks the host by poll_oneoff whether anything has happened to its files and sleeps, and ends the program
// where the host has no such function. Envoy 1.37 and 1.38 have none (ENOSYS, and a trap while the host allocates), so that
// the filter would trap there with the first garbage collection after the first timer. Envoy from 1.39 answers that
// nothing has happened. That is the answer here too: a filter has no files, and its callbacks do not sleep.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// imported and answered are the declaration in the Go runtime, as of Go 1.26, and what takes its place.
const (
	imported = `//go:wasmimport wasi_snapshot_preview1 poll_oneoff
//go:noescape
func poll_oneoff(in *subscription, out *event, nsubscriptions size, nevents *size) errno
`
	answered = `func poll_oneoff(in *subscription, out *event, nsubscriptions size, nevents *size) errno {
	*nevents = 0
	return 0
}
`
)

func main() {
	goroot := flag.String("goroot", "", "the `folder` of the Go toolchain that builds (go env GOROOT)")
	out := flag.String("o", "", "the `folder` to write overlay.json and the changed file to")
	flag.Parse()
	if err := write(*goroot, *out); err != nil {
		fmt.Fprintln(os.Stderr, "overlay:", err)
		os.Exit(1)
	}
}

func write(goroot, out string) error {
	file := filepath.Join(goroot, "src", "runtime", "os_wasip1.go")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if bytes.Count(text, []byte(imported)) != 1 {
		return fmt.Errorf("%s does not declare poll_oneoff as Go 1.26 does: look at it, and change tools/overlay", file)
	}
	out, err = filepath.Abs(out)
	if err != nil {
		return err
	}
	changed := filepath.Join(out, "os_wasip1.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(changed, bytes.Replace(text, []byte(imported), []byte(answered), 1), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "overlay.json"), overlay, 0o644)
}
