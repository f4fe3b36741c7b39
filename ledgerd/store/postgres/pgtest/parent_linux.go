package pgtest

import "syscall"

// dieWithParent makes the kernel ask the server to end at once when the test binary dies, by a timeout's panic for
// example, where no cleanup runs. SIGQUIT is the server's immediate shutdown: it takes its children along.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} }
