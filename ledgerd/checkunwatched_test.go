package main

import (
	"os"
	"strings"
	"testing"
)

func TestCheckAndDoctorWarnWhereBrokenStreamsAreInDoubt(t *testing.T) {
	const warning = "the filter does not look on here"
	warned := func(change func(string) string) bool {
		for _, f := range examineEnvoy(envoyDocument{read: demoDump(t, change)}) {
			if strings.Contains(f.Detail, warning) {
				return f.Grade == warn && strings.Contains(f.Detail, `(rule "mcp")`)
			}
		}
		return false
	}
	without := func(old, with string) func(string) string {
		return func(text string) string { return strings.Replace(text, old, with, 1) }
	}
	if warned(nil) {
		t.Error("the shipped configuration gets a warning")
	}
	if !warned(without(`"typed_per_filter_config"`, `"metadata"`)) {
		t.Error("no route switches it on, and there is no warning")
	}
	if !warned(without(`"root_id": "idem-executions"`, `"root_id": "another"`)) {
		t.Error("the filter is not there, and there is no warning")
	}
	if warned(func(text string) string {
		return without(`"disabled": true`, `"disabled": false`)(without(`"typed_per_filter_config"`, `"metadata"`)(text))
	}) {
		t.Error("it is switched on everywhere, and there is a warning")
	}
	shipped, err := os.ReadFile("../envoy/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	command(t, "check", file(t, "envoy.yaml", strings.Replace(string(shipped), "root_id: idem-executions", "root_id: another", 1))).wants(t, 0, "warn", warning)
}
