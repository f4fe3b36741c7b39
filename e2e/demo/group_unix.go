//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a program a process group of its own, and has it end with the demo where the kernel can do that, however
// the demo ends.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// signalGroup asks a program and all that it started to end, or ends them.
func signalGroup(cmd *exec.Cmd, kill bool) {
	s := syscall.SIGTERM
	if kill {
		s = syscall.SIGKILL
	}
	_ = syscall.Kill(-cmd.Process.Pid, s) // it may have ended already
}
