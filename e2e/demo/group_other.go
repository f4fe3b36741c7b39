//go:build !unix

package main

import (
	"os"
	"os/exec"
)

// ownGroup does nothing where there are no process groups.
func ownGroup(*exec.Cmd) {}

// signalGroup asks a program to end, or ends it.
func signalGroup(cmd *exec.Cmd, kill bool) {
	if kill || cmd.Process.Signal(os.Interrupt) != nil {
		_ = cmd.Process.Kill() // it may have ended already
	}
}
