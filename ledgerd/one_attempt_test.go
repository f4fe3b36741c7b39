package main

import (
	"strings"
	"testing"

	"idem/ledgerd/store/redis/redistest"
)

// A filter that gives two calls one attempt id (it must not) loses no result that was answered ok, over any store.
func TestOneAttemptIDInTwoIntentsLosesNoResult(t *testing.T) {
	for kind, flags := range map[string]func(t *testing.T) []string{
		"sqlite":   func(t *testing.T) []string { return []string{"--data-dir", t.TempDir()} },
		"postgres": func(t *testing.T) []string { return []string{"--store", madeStore(t)} },
		"redis": func(t *testing.T) []string {
			url := redistest.Start(t).URL()
			command(t, "migrate", "--store", url).wants(t, 0, "Made a new, empty store")
			return []string{"--store", url}
		},
	} {
		t.Run(kind, func(t *testing.T) {
			flags := flags(t)
			x := strings.NewReplacer(strings.Repeat("5", 64), strings.Repeat("6", 64), "ZG9uZQ==", "b3RoZXI=").Replace
			first := startProcess(t, flags...)
			if status, text := first.ops(t, reserveOp("a1"), x(reserveOp("a1")), commitOp("a1"), x(commitOp("a1"))); status != 200 || strings.Count(text, `"ok"`) != 2 {
				t.Fatalf("%d %s", status, text)
			}
			first.stop(t)
			second := startProcess(t, flags...)
			if status, text := second.ops(t, reserveOp("a2")); status != 200 || !strings.Contains(text, "ZG9uZQ==") {
				t.Errorf("the first: %d %s", status, text)
			}
			if status, text := second.ops(t, x(reserveOp("a2"))); status != 200 || !strings.Contains(text, "b3RoZXI=") {
				t.Errorf("the second: %d %s", status, text)
			}
		})
	}
}
