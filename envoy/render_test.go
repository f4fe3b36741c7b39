package envoy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"idem/envoy"
)

// demoAddresses is what demo.yaml says of its own, and a configuration with all settings put in must not.
var demoAddresses = []string{
	`"port_value": 10000`, `"port_value": 9901`, `"port_value": 7411`, `"port_value": 7412`, `"port_value": 7413`,
	`bin/idem.wasm`, `envelope`,
}

func TestEverySettingReplacesTheDemos(t *testing.T) {
	out, err := envoy.Render("demo.yaml", envoy.Settings{
		Listen: "127.0.0.1:20001", Admin: "127.0.0.1:20002", Ledger: "127.0.0.1:20003",
		LedgerAdmin: "127.0.0.1:20004", Tool: "127.0.0.1:20005", Wasm: "other.wasm", Plugin: []byte(`{"calls":[]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range demoAddresses {
		if bytes.Contains(out, []byte(gone)) {
			t.Errorf("rendered configuration still says %s", gone)
		}
	}
	for _, want := range []string{"20001", "20002", "20003", "20004", "20005", "other.wasm", `{\"calls\":[]}`} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("rendered configuration does not say %s", want)
		}
	}
	if bytes.Contains(out, []byte("host_rewrite")) {
		t.Error("the admin API is sent another Host than the caller's, which its list of allowed hosts is there to see")
	}
}

func TestNoSettingsLeaveTheFile(t *testing.T) {
	out, err := envoy.Render("demo.yaml", envoy.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range demoAddresses {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("rendered configuration does not say %s", want)
		}
	}
}

func TestEveryMistakeIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "empty.yaml")
	if err := os.WriteFile(file, []byte("static_resources: {clusters: [{name: tool}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := envoy.Render(file, envoy.Settings{Listen: "127.0.0.1:1", Ledger: "127.0.0.1:2", Tool: "localhost", Wasm: "x"})
	if err == nil {
		t.Fatal("rendered a configuration that has no place for the settings")
	}
	for _, want := range []string{file, `listeners: there is none named "idem"`, `clusters: there is none named "ledgerd"`,
		`cluster tool: address "localhost": want ip:port`, "vm_config"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %s: %v", want, err)
		}
	}
}
