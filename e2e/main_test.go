package e2e_test

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"idem/e2e/envoytest"
)

// TestMain lets parallel tests be many, unless the command line says how many: they wait for windows to pass and for
// slow tools, and leave the processors idle. Tests that start an Envoy of their own are not parallel: each start takes
// seconds of two processors. What needs no configuration of its own takes demoStack.
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
	os.Exit(shared.Tests(m))
}

// shared starts and ends what tests share.
var shared = envoytest.NewProgram("e2e", "")

// demoStack gives a stack with the demo's configuration, which the first test that asks starts, as it is new. Tests that
// share it are not parallel: each begins with a ledger and a tool that know nothing.
func demoStack(t *testing.T) *envoytest.Stack {
	t.Helper()
	s := startDemoStack()
	s.Fresh(t)
	return s
}

var startDemoStack = sync.OnceValue(func() *envoytest.Stack { return envoytest.StartStack(shared, envoytest.Options{}) })
