package e2e_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain lets parallel tests be many, unless the command line says how many: they wait for windows to pass and for
// slow tools, and leave the processors idle. Tests that start an Envoy of their own are not parallel: each start takes
// seconds of two processors.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", "32"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}
