package e2e_test

import (
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// A configuration that does not say what it means is refused by Envoy at start, and the log says where and what would
// be right: a guard that guards nothing must not run. Each mistake is told without an Envoy, by
// TestWasmBadConfigurationIsRefusedWithThePointer.
func TestBadConfigurationIsRefusedWithThePointer(t *testing.T) {
	for name, c := range map[string]struct {
		plugin string
		log    []string
	}{
		"several mistakes": {
			plugin(`{"match":{"path":"/a"},"wait":"soon","lease":"4s"}`, `{"match":{},"mode":"on","retention_time":"24h","protocol":"grpc"}`),
			[]string{"/calls/0/wait", "soon", "30s", "/calls/0/lease", "/calls/1/match", "/calls/1/mode", "/calls/1/retention_time", "/calls/1/protocol", "mcp"},
		},
		"no JSON": {`calls: none`, []string{"JSON"}},
	} {
		t.Run(name, func(t *testing.T) {
			log := envoytest.Refused(t, envoytest.Options{Plugin: c.plugin})
			for _, want := range c.log {
				if !strings.Contains(log, want) {
					t.Errorf("the log does not say %s:\n%s", want, log)
				}
			}
		})
	}
}
