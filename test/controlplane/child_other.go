//go:build !linux

package controlplane

import "syscall"

// dieWithParent has no counterpart on other systems than Linux: children of a killed test run stay behind there.
func dieWithParent() *syscall.SysProcAttr { return nil }
