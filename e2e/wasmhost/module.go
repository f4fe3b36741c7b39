package wasmhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// Module is a compiled filter, from which any number of hosts can be started.
type Module struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
}

// Build compiles a Go main package to a filter as the product is built (GOOS=wasip1, GOARCH=wasm, -buildmode=c-shared).
// pkg is an import path or a directory that the go command understands where the process stands; dir takes the file.
func Build(ctx context.Context, dir, pkg string) ([]byte, error) {
	out := filepath.Join(dir, "filter.wasm")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("building %s: %w\n%s", pkg, err, stderr.Bytes())
	}
	return os.ReadFile(out)
}

// Compile reads a filter's bytes. It takes a second or two, so tests share a module.
func Compile(ctx context.Context, wasm []byte) (*Module, error) {
	m := &Module{runtime: wazero.NewRuntime(ctx)}
	if err := m.compile(ctx, wasm); err != nil {
		return nil, errors.Join(err, m.Close(ctx))
	}
	return m, nil
}

func (m *Module) compile(ctx context.Context, wasm []byte) (err error) {
	if _, err = wasi_snapshot_preview1.Instantiate(ctx, m.runtime); err != nil {
		return fmt.Errorf("offering WASI: %w", err)
	}
	if err = exportABI(ctx, m.runtime); err != nil {
		return fmt.Errorf("offering the proxy-wasm ABI: %w", err)
	}
	if m.compiled, err = m.runtime.CompileModule(ctx, wasm); err != nil {
		return fmt.Errorf("compiling the filter: %w", err)
	}
	exports := m.compiled.ExportedFunctions()
	for _, name := range []string{"_initialize", "proxy_abi_version_0_2_0", "proxy_on_memory_allocate"} {
		if _, ok := exports[name]; !ok {
			if _, newer := exports["proxy_abi_version_0_2_1"]; newer && name == "proxy_abi_version_0_2_0" {
				continue
			}
			return fmt.Errorf("the filter does not export %s; build it with -buildmode=c-shared and the proxy-wasm SDK", name)
		}
	}
	return nil
}

// Close frees the module and everything that was started from it.
func (m *Module) Close(ctx context.Context) error { return m.runtime.Close(ctx) }
