package envoytest

import (
	"os"
	"strconv"
)

// Setting reads a whole number from the environment: how long a test of chance runs, and its seed.
func Setting(t TB, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q, want a whole number", name, text)
	}
	return n
}
