//go:build linux

package sandbox

import (
	"bufio"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestTheFirstProcessIsToldBeforeItIsKilled(t *testing.T) {
	tests := map[string]struct {
		script string
		grace  time.Duration
		want   syscall.WaitStatus
	}{
		"what ends when told ends in its own way": {
			script: `trap 'exit 7' TERM; echo ready; while true; do sleep 0.1; done`,
			grace:  time.Minute,
			want:   7 << 8,
		},
		"what does not end in time is killed": {
			script: `trap '' TERM; echo ready; exec sleep 60`,
			grace:  10 * time.Millisecond,
			want:   syscall.WaitStatus(syscall.SIGKILL),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			command := exec.Command("sh", "-c", test.script)
			stdout, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				// How it ended is in ProcessState.
				_ = command.Wait()
				close(ended)
			}()
			Sandbox{Grace: test.grace}.end(command.Process, ended)
			<-ended
			if got := command.ProcessState.Sys(); got != test.want {
				t.Errorf("ended with %v, want %v", got, test.want)
			}
		})
	}
}
