//go:build unix && !linux

package main

import "syscall"

// endWithParent does nothing where the kernel has no such thing.
func endWithParent(*syscall.SysProcAttr) {}
