package mcp_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// The official conformance suite holds a server against the specification. It must not notice that Idem stands before
// it: neither where everything runs inline, nor where only the tools that talk back do.
func TestConformanceSuiteGivesTheSameVerdictsThroughIdem(t *testing.T) {
	s := set()
	direct := verdicts(t, "http://"+s.front.servers["conformance"]+"/mcp")
	if len(direct) < 30 {
		t.Fatalf("the suite has %d scenarios; did it run? %v", len(direct), direct)
	}
	for _, rule := range []string{"inline", "mixed"} {
		through := verdicts(t, s.through(rule, "conformance"))
		for _, scenario := range slices.Sorted(maps.Keys(direct)) {
			t.Run(rule+" "+scenario, func(t *testing.T) {
				if through[scenario] != direct[scenario] {
					t.Errorf("directly:\n%s\nthrough Idem:\n%s", direct[scenario], through[scenario])
				}
			})
		}
	}
}

// verdicts runs every scenario of the suite against a server and gives, by scenario, what each check said.
func verdicts(t *testing.T, url string) map[string]string {
	t.Helper()
	node, out := envoytest.Artifact(t, ".tools/mcp/node/node"), t.TempDir()
	suite := exec.CommandContext(t.Context(), node, "node_modules/@modelcontextprotocol/conformance/dist/index.js",
		"server", "--url", url, "--suite", "all", "-o", out)
	suite.Dir = filepath.Dir(node)
	log, err := suite.CombinedOutput()
	files, _ := filepath.Glob(filepath.Join(out, "*", "checks.json"))
	if len(files) == 0 {
		t.Fatalf("the suite did not run: %v\n%s", err, log)
	}
	said := map[string]string{}
	for _, file := range files {
		var checks []struct{ ID, Status, ErrorMessage string }
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &checks)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var lines []string
		for _, c := range checks {
			lines = append(lines, c.ID+" "+c.Status+" "+c.ErrorMessage)
		}
		said[scenarioOf(file)] = strings.Join(lines, "\n")
	}
	return said
}

var moment = regexp.MustCompile(`-\d{4}-\d\d-\d\dT.*$`)

// scenarioOf gives the scenario's name from its folder, server-NAME-MOMENT.
func scenarioOf(file string) string {
	return moment.ReplaceAllString(strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "server-"), "")
}
