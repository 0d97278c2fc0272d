package controlplane

import "syscall"

// dieWithParent has the kernel kill a child when this process dies, however it dies. A process group of its own keeps
// an interrupt from the terminal away from the child: who started it stops it.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
