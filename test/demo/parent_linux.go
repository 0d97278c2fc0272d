package main

import (
	"fmt"
	"os"
	"syscall"
)

// dieWithParent has the kernel end this program in good order when make, which started it, is killed.
func dieWithParent() {
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0)
	if errno != 0 {
		fmt.Fprintln(os.Stderr, "This demo will outlive a killed make:", errno)
	}
}
