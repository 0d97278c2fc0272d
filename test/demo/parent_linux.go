package main

import "syscall"

// dieWithParent has the kernel end this program in good order when make, which started it, is killed.
func dieWithParent() {
	// It can only fail for a signal that does not exist.
	syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0)
}
