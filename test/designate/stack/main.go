//go:build linux

// Command stack brings up a real Designate with all that it needs, in namespaces of its own, runs a command in there and
// takes all of it down again.
//
//	go run ./test/designate/stack                  a shell
//	go run ./test/designate/stack -- COMMAND...    a command
//	go run ./test/designate/stack --prepare        makes what stacks begin with, and prints its folder
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/designate-pools/designate-pool-operator/test/designate/internal/services"
	"github.com/designate-pools/designate-pool-operator/test/internal/sandbox"
)

// The parts that this program plays in processes that it starts itself.
const (
	initCommand = "init"
	taskCommand = "task"
)

func main() {
	// The kernel kills the sandbox when the thread that has started it ends. The main thread never does.
	runtime.LockOSThread()
	code, err := dispatch(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		code = 2
	case err != nil:
		fmt.Fprintln(os.Stderr, "stack:", err)
		code = 1
	}
	os.Exit(code)
}

func dispatch(args []string) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if len(args) == 2 {
		switch args[0] {
		case initCommand:
			return sandbox.Init([]string{taskCommand, args[1]})
		case taskCommand:
			return runTask(ctx, args[1])
		}
	}
	return runStack(ctx, args)
}

// task is what the process in the sandbox is told.
type task struct {
	Stack *services.Stack
	// Command is what runs in the stack. Without one, the stack is prepared for later runs.
	Command []string
}

// runTask is the part of the process in the sandbox.
func runTask(ctx context.Context, text string) (int, error) {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return 0, err
	}
	t.Stack.Progress = os.Stderr
	if len(t.Command) == 0 {
		return 0, t.Stack.Prepare(ctx)
	}
	return t.Stack.Run(ctx, t.Command)
}

// runStack is what people call.
func runStack(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("stack", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "usage: stack [--prepare] [-- COMMAND...]\n\n"+
			"Brings up a Designate, runs COMMAND beside it, or a shell, and takes all down again.\n")
		flags.PrintDefaults()
	}
	prepare := flags.Bool("prepare", false, "only make what stacks begin with, and print its folder")
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	// Whoever started this and is gone cannot stop it any more.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0); err != nil {
		return 0, err
	}
	r, err := newRun()
	if err != nil {
		return 0, err
	}
	if *prepare {
		dir, err := r.prepare(ctx)
		if err == nil {
			fmt.Println(dir)
		}
		return 0, err
	}
	command := flags.Args()
	if len(command) == 0 {
		command = []string{"bash"}
		fmt.Fprintln(os.Stderr, "A shell beside Designate follows; leave it to end the stack. $DESIGNATE_STACK says where everything is.")
	}
	return r.run(ctx, command)
}
