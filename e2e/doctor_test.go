package e2e_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// judged is one of doctor's findings.
type judged struct{ Grade, What, Detail string }

// doctor gives what ledgerd doctor finds in an Envoy that runs, beside what is well.
func doctor(t *testing.T, s *envoytest.Stack) (found []judged) {
	t.Helper()
	out, err := exec.Command(envoytest.Artifact(t, "bin/ledgerd"), "doctor", "--json", "--data-dir", t.TempDir(), // of a store that is not the running one's
		"--server", "http://"+s.Ledgerd.Admin, "--data-server", "http://"+s.Ledgerd.Address, "--envoy-admin", s.Admin).Output()
	var all []judged
	if json.Unmarshal(out, &all) != nil {
		t.Fatalf("doctor gave %v and %s", err, out)
	}
	seenEnvoy := false
	for _, f := range all {
		seenEnvoy = seenEnvoy || f.What == "failure policy" // the first that it says of Envoy
		if seenEnvoy && f.Grade != "ok" && f.What != "fingerprint key" {
			found = append(found, f)
		}
	}
	if !seenEnvoy {
		t.Fatalf("doctor said nothing of Envoy: %s", out)
	}
	return found
}

func TestDoctorFindsTheRunningDemoWell(t *testing.T) {
	if found := doctor(t, demoStack(t)); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// An Envoy takes each of these settings, and calls would be executed twice, unguarded or in doubt by them.
func TestDoctorAndCheckNameTheSameOfAnEnvoyThatRuns(t *testing.T) {
	written := filepath.Join(t.TempDir(), "envoy.json")
	s := envoytest.StartStack(t, envoytest.Options{
		Plugin: plugin(`{"name":"inline","match":{"path_prefix":"/inline/"},"execution":"inline"}`, `{"name":"tools","match":{"path_prefix":"/tools/"}}`,
			`{"name":"open","match":{"path_prefix":"/open/"}}`),
		Edit: func(b envoytest.Bootstrap) {
			b.AddRoutes("idem", `[{"match":{"prefix":"/inline/"},"route":{"cluster":"tool","timeout":"5s","retry_policy":{"retry_on":"5xx"},
				"request_mirror_policies":[{"cluster":"tool"}]}},
				{"match":{"prefix":"/open/"},"route":{"cluster":"tool"},"typed_per_filter_config":{"idem":
				{"@type":"type.googleapis.com/envoy.config.route.v3.FilterConfig","disabled":true}}}]`)
			b.AddRoutes("idem-execute", `[{"match":{"prefix":"/open/"},"route":{"cluster":"ledgerd-admin","timeout":"900s"}},
				{"match":{"prefix":"/tools/"},"route":{"cluster":"tool"}}]`)
			b.Listener("idem")["per_connection_buffer_limit_bytes"] = 1024
			b.Manager("idem")["stream_idle_timeout"] = "20s"
			delete(b.Cluster("tool"), "typed_extension_protocol_options")
			text, err := json.Marshal(b)
			if err == nil {
				err = os.WriteFile(written, text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	})
	check, err := exec.Command(envoytest.Artifact(t, "bin/ledgerd"), "check", written).Output()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 1 {
		t.Errorf("check ended with %v, want 1:\n%s", err, check)
	}
	found := doctor(t, s)
	for _, f := range found {
		if !strings.Contains(string(check), f.Detail) {
			t.Errorf("doctor says %q, and check does not:\n%s", f.Detail, check)
		}
	}
	for _, want := range []string{
		`routes[0] prefix /inline/, retry_policy: {"retry_on":"5xx"`, `routes[0] prefix /inline/, request_mirror_policies: [{"cluster":"tool"`,
		`routes[0] prefix /inline/, timeout is 5s`, `the filter is disabled: rule "open" guards /open/`,
		`leads /open/, which rule "open" guards, to cluster ledgerd-admin`, "routes[1] prefix /tools/, timeout is not set, so that Envoy's 15s hold",
		"per_connection_buffer_limit_bytes is 1024", "listener idem, stream_idle_timeout is 20s", "cluster tool: common_http_protocol_options.idle_timeout is not set",
	} {
		named := false
		for _, f := range found {
			named = named || strings.Contains(f.Detail, want)
		}
		if !named {
			t.Errorf("doctor does not name %q:\n%+v", want, found)
		}
	}
}
