package main

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// parentVariable holds the process id of a parent that this program must not outlive.
const parentVariable = "EXIT_WITH_PARENT"

// exitWithParent has the kernel kill this program when the parent named by the environment dies, so that a test run
// that is killed leaves no server behind. Started by anything but that parent, the program lives on its own.
func exitWithParent() {
	parent, err := strconv.Atoi(os.Getenv(parentVariable))
	if err != nil || parent != os.Getppid() {
		return
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "asking to be killed with the parent process:", err)
		os.Exit(1)
	}
	if os.Getppid() != parent {
		// The parent died before the kernel knew what to do about it.
		os.Exit(1)
	}
}
