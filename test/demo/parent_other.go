//go:build !linux

package main

// dieWithParent does nothing where the kernel has no such service.
func dieWithParent() {}
