//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/designate-pools/designate-pool-operator/test/cluster/internal/node"
	"github.com/designate-pools/designate-pool-operator/test/internal/sandbox"
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
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return task.Node.Run(ctx, task.Command)
}

// sweep is the part of the process that cleans up after all others have ended.
func sweep(args []string) error {
	if len(args) != 1 {
		return errors.New("this part is played by the cluster itself")
	}
	return sandbox.Sweep(os.Stdin, args[0])
}
