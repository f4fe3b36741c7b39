// Package envoytest runs the product for tests as its users run it: the real Envoy with the compiled filter, the real
// ledgerd as a process of its own, and a tool that counts what it was asked to do.
//
// It promises that everything listens on ports of its own on 127.0.0.1, so that tests may run beside each other and
// beside the demo; that what it gives is ready to be used; that all of it is gone when the test ends, and also when the
// test binary dies; and that the logs of a failed test are shown. It decides nothing about what is right: that is for
// the tests in the folder above.
//
// The Envoy configuration is envoy/demo.yaml, edited by idem/envoy, with another plugin configuration where a test
// wants one. Binaries are those of `make build` and `make tools`; a missing one fails the test and names the target
// that makes it. IDEM_ENVOY names another Envoy to run with, as `make test-matrix` does.
package envoytest

import "context"

// TB is what the package needs of a test. *testing.T and *testing.B have it, and so has [Program].
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	TempDir() string
	Failed() bool
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}
