//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Init is what the first process of the sandbox does: it runs this program with other arguments, takes leave of all
// orphans on its way, as every first process must, and returns the exit code of what it ran. It passes SIGTERM on, and
// leaves it to what it runs what to make of SIGINT, which a terminal sends to both.
func Init(args []string) (code int, err error) {
	// Nothing that is mounted from here on shows outside.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return 0, fmt.Errorf("making mounts private: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return 0, fmt.Errorf("mounting /proc: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	main, err := os.StartProcess(self, append([]string{self}, args...), &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return 0, err
	}
	go func() {
		for received := range signals {
			if received == syscall.SIGTERM {
				_ = main.Signal(received)
			}
		}
	}()
	return reapUntil(main.Pid)
}

func reapUntil(main int) (code int, err error) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR) || pid != main && err == nil:
			continue
		case err != nil:
			return 0, fmt.Errorf("waiting for process %d: %w", main, err)
		case status.Signaled():
			return 0, fmt.Errorf("process %d: %s", main, status.Signal())
		default:
			return status.ExitStatus(), nil
		}
	}
}
