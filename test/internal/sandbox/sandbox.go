//go:build linux

// Package sandbox runs a program in namespaces of its own: network, mounts, processes, host name and IPC. When its first
// process ends, for whatever reason, the kernel ends all others and takes every mount, address and interface with them.
// Control groups alone outlive it; a sweeper, which survives the death of everybody else, removes them.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Sandbox says how to run this same program in namespaces of its own.
type Sandbox struct {
	// InitArgs are the arguments with which this program calls Init.
	InitArgs []string
	// SweepArgs are the arguments with which this program calls Sweep. Not needed without Cgroup.
	SweepArgs []string
	// Cgroup is the name of the control group that this run makes for itself at the top of every hierarchy; none when empty.
	Cgroup string
	// Grace is how long the first process has, when it is told to end, before it is killed with all others.
	Grace time.Duration
}

// Run runs the sandbox until its first process ends, and returns the exit code of that process. When ctx ends before, that
// process gets SIGTERM, and Grace.
//
// It must be called by the main goroutine of a program that has locked it to its thread: the kernel kills the sandbox
// when the thread that started it ends.
func (s Sandbox) Run(ctx context.Context) (code int, err error) {
	if s.Cgroup != "" {
		sweep, err := s.beginCgroups()
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, sweep()) }()
		if err := makeCgroups(s.Cgroup); err != nil {
			return 0, err
		}
	}

	init, err := s.command(s.InitArgs)
	if err != nil {
		return 0, err
	}
	init.Stdin, init.Stdout = os.Stdin, os.Stdout
	init.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	if err := init.Start(); err != nil {
		return 0, fmt.Errorf("starting the first process of new namespaces: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			s.end(init.Process, ended)
		case <-ended:
		}
	}()
	err = init.Wait()
	close(ended)
	runtime.KeepAlive(init)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && exit.Exited() {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// beginCgroups makes room for the control groups, and sees to it that they are removed in the end.
func (s Sandbox) beginCgroups() (sweep func() error, err error) {
	// A run that was killed may have left some.
	if err := removeCgroups(s.Cgroup); err != nil {
		return nil, err
	}
	return s.startSweeper()
}

// end ends the first process, gracefully at first.
func (s Sandbox) end(init *os.Process, ended <-chan struct{}) {
	_ = init.Signal(syscall.SIGTERM)
	select {
	case <-time.After(s.Grace):
		_ = init.Kill()
	case <-ended:
	}
}

// startSweeper starts the process that removes the control groups once this one has ended or has called the function
// that is returned.
func (s Sandbox) startSweeper() (sweep func() error, err error) {
	sweeper, err := s.command(s.SweepArgs)
	if err != nil {
		return nil, err
	}
	// A session of its own: neither Ctrl-C nor a signal to this process group reaches it.
	sweeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Nothing is ever written here. The kernel closes it when this process ends.
	lifeline, err := sweeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := sweeper.Start(); err != nil {
		return nil, fmt.Errorf("starting the sweeper: %w", err)
	}
	return func() error {
		if err := lifeline.Close(); err != nil {
			return err
		}
		if err := sweeper.Wait(); err != nil {
			return fmt.Errorf("sweeping: %w", err)
		}
		return nil
	}, nil
}

func (s Sandbox) command(args []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(self, args...)
	command.Stderr = os.Stderr
	return command, nil
}
