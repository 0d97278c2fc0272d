//go:build linux

// Command cluster brings up a whole Kubernetes cluster of one node, with real containers, in namespaces of its own, runs
// a command in it and takes all of it down again.
//
//	go run ./test/cluster                  a shell
//	go run ./test/cluster -- COMMAND...    a command
//	go run ./test/cluster --designate ...  the same, with an image of Designate
//	cluster stop|start PROGRAM             within the cluster: stops or starts a program of the node
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/designate-pools/designate-pool-operator/test/cluster/internal/node"
	"github.com/designate-pools/designate-pool-operator/test/internal/sandbox"
)

// The parts that this program plays in processes that it starts itself.
const (
	initCommand  = "init"
	nodeCommand  = "node"
	sweepCommand = "sweep"
)

func main() {
	// The kernel kills the sandbox when the thread that has started it ends. The main thread never does.
	runtime.LockOSThread()
	code, err := dispatch(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		code = 2
	case err != nil:
		fmt.Fprintln(os.Stderr, "cluster:", err)
		code = 1
	}
	os.Exit(code)
}

func dispatch(args []string) (code int, err error) {
	var command string
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case initCommand:
		return sandbox.Init(append([]string{nodeCommand}, args[1:]...))
	case nodeCommand:
		return runNode(args[1:])
	case sweepCommand:
		return 0, sweep(args[1:])
	case node.Stop, node.Start:
		if len(args) != 2 {
			return 0, fmt.Errorf("usage: cluster %s PROGRAM", command)
		}
		return 0, node.Control(context.Background(), command, args[1])
	default:
		return runCluster(args)
	}
}

// runCluster is what people call.
func runCluster(args []string) (int, error) {
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "usage: cluster [--designate] [-- COMMAND...]\n\n"+
			"Brings up a cluster of one node, runs COMMAND in it, or a shell, and takes all down again.\n")
		flags.PrintDefaults()
	}
	designate := flags.Bool("designate", false, "give the cluster an image of Designate, too")
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	// Whoever started this and is gone cannot stop it any more. SIGTERM takes the way out that cleans up.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0); err != nil {
		return 0, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The first signal lets what helps to understand a failure be kept; the second one ends everything at once.
	context.AfterFunc(ctx, stop)
	cluster, err := newCluster()
	if err != nil {
		return 0, err
	}
	cluster.designate = *designate
	return cluster.run(ctx, flags.Args())
}
