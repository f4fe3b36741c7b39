// Package pgtest runs a real PostgreSQL server for tests: the one that `make tools` brings, in a folder of its own, on
// a free port of 127.0.0.1, and gone when the test binary is.
//
// It promises the durability that production has (fsync, full_page_writes and synchronous_commit are on), so that a
// test may kill the server with [Server.Kill9] and look at what is left. It uses no root: the server refuses to be root,
// so for root it runs as the user nobody. A server that is not installed fails the test and names the make target that
// brings it.
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
//
//	func TestSomething(t *testing.T) {
//		url := pgtest.Shared(t).URL(pgtest.NewSchema())
//	}
//
// Tests share one server, each in a schema of its own; what stops, kills or reconfigures a server starts its own with
// [Start].
package pgtest

import "context"

// TB is what the package needs of a test. *testing.T and *testing.B have it; a program that is no test can bring its
// own.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}
