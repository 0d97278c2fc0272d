package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// patience is for a step on a busy machine.
const (
	patience     = time.Minute
	pollInterval = 200 * time.Millisecond
)

// console types kubectl commands for somebody who watches.
type console struct {
	out        io.Writer
	kubectl    string
	kubeconfig string
	dir        string
	// healthy tells whether all programs behind the API are still there.
	healthy func() error
}

// say explains what comes.
func (c *console) say(format string, args ...any) {
	fmt.Fprintf(c.out, "\n# "+format+"\n", args...)
}

// run shows a command and its output, and fails when the command does.
func (c *console) run(ctx context.Context, args ...string) (string, error) {
	c.show(args)
	output, err := c.quietly(ctx, args...)
	c.print(output)
	if err != nil {
		return output, fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
	}
	return output, nil
}

// difference shows what applying a file would change, and fails when that is nothing.
func (c *console) difference(ctx context.Context, file string) error {
	args := []string{"diff", "-f", file}
	c.show(args)
	output, err := c.quietly(ctx, args...)
	c.print(output)
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return fmt.Errorf("applying %s would change nothing", file)
	case failed && exit.ExitCode() == 1:
		return nil
	default:
		return fmt.Errorf("kubectl diff: %w", err)
	}
}

// refused shows a command that must fail with a message that has all of these words.
func (c *console) refused(ctx context.Context, words []string, args ...string) error {
	c.show(args)
	output, err := c.quietly(ctx, args...)
	c.print(output)
	if _, failed := errors.AsType[*exec.ExitError](err); !failed {
		return errors.Join(fmt.Errorf("kubectl %s was not refused", strings.Join(args, " ")), err)
	}
	return wants(output, words...)
}

// eventually repeats a command unseen until its output passes, then shows it with that output.
func (c *console) eventually(ctx context.Context, check func(output string) error, args ...string) error {
	var output string
	err := c.until(ctx, func(ctx context.Context) (err error) {
		if output, err = c.quietly(ctx, args...); err != nil {
			return err
		}
		return check(output)
	})
	c.show(args)
	c.print(output)
	if err != nil {
		return fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// until tries until there is no error, patience ends or a program has died.
func (c *console) until(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not so after %s", patience))
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err, c.healthy())
		case <-time.After(pollInterval):
		}
		if dead := c.healthy(); dead != nil {
			return dead
		}
	}
}

func (c *console) quietly(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, c.kubectl, args...)
	command.Dir = c.dir
	command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	output, err := command.CombinedOutput()
	return string(output), err
}

func (c *console) show(args []string) {
	quoted := make([]string, 0, len(args))
	for _, arg := range args {
		if strings.ContainsAny(arg, " {}'\"\\$*") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		quoted = append(quoted, arg)
	}
	fmt.Fprintf(c.out, "\n$ kubectl %s\n", strings.Join(quoted, " "))
}

func (c *console) print(output string) {
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	fmt.Fprint(c.out, output)
}

// wants is an error when an output lacks one of these words.
func wants(output string, words ...string) error {
	for _, word := range words {
		if !strings.Contains(output, word) {
			return fmt.Errorf("the output has no %q", word)
		}
	}
	return nil
}
