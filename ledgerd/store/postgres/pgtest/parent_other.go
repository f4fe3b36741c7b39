//go:build unix && !linux

package pgtest

import "syscall"

// dieWithParent does nothing where the kernel has no such thing.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
