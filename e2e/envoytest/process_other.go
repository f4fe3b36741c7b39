//go:build !linux

package envoytest

import "os/exec"

// dieWithParent does nothing where the kernel has no such thing.
func dieWithParent(*exec.Cmd) {}
