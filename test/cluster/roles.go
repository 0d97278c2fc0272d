//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/designate-pools/designate-pool-operator/test/cluster/internal/node"
	"github.com/designate-pools/designate-pool-operator/test/cluster/internal/sandbox"
)

// assignment is what the node's process is told.
type assignment struct {
	Node    *node.Node
	Command []string
}

func encodeNode(n *node.Node, command []string) (string, error) {
	text, err := json.Marshal(assignment{Node: n, Command: command})
	return string(text), err
}

// runNode is the part of the process in the sandbox that brings the node up.
func runNode(args []string) (int, error) {
	if len(args) != 1 {
		return 0, errors.New("this part is played by the cluster itself")
	}
	var task assignment
	if err := json.Unmarshal([]byte(args[0]), &task); err != nil {
		return 0, err
	}
	task.Node.Progress = os.Stderr
	return task.Node.Run(context.Background(), task.Command)
}

// sweep is the part of the process that cleans up after all others have ended.
func sweep(args []string) error {
	if len(args) == 0 {
		return errors.New("this part is played by the cluster itself")
	}
	errs := []error{sandbox.Sweep(os.Stdin, args[0])}
	for _, dir := range args[1:] {
		// Only if it is as empty as it was made.
		if err := syscall.Rmdir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("removing %s: %w", dir, err))
		}
	}
	return errors.Join(errs...)
}
