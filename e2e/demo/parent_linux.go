package main

import "syscall"

// endWithParent has the kernel ask a program to end when the demo was killed and could not ask itself.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
