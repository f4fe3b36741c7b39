package envoytest

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the program when the test binary dies, by a timeout's panic for example, where
// no cleanup runs.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
