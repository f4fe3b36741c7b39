// Ledgerd is the ledger beside Idem's Envoy filter: it decides which call executes, keeps what was executed, and asks
// people where a call may be a repetition.
//
// This package is the program: its commands, where its settings come from, and how its parts are put together. What is
// decided is decided in the packages below it. A command's error is one line for a person, and its exit code says what
// kind it is (see [exitCode]).
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// version is stamped by the build: -ldflags "-X main.version=…".
var version = "unknown"

// surroundings is what a command has from the process that it runs in.
type surroundings struct {
	in       io.Reader
	out, err io.Writer
	environ  []string // NAME=value
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], surroundings{os.Stdin, os.Stdout, os.Stderr, os.Environ()}))
}

// run runs one command and gives its exit code.
func run(ctx context.Context, args []string, s surroundings) int {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !isSilent(err) {
		fmt.Fprintln(s.err, "ledgerd: "+err.Error())
	}
	return exitCode(err)
}
