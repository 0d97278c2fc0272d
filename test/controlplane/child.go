package controlplane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// child is a program that runs until it is stopped.
type child struct {
	name   string
	log    string
	cmd    *exec.Cmd
	exited chan struct{}
}

func startChild(path string, args []string, log *os.File) (*child, error) {
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = dieWithParent()
	c := &child{name: filepath.Base(path), log: log.Name(), cmd: cmd, exited: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.name, err)
	}
	go func() {
		defer close(c.exited)
		// How it ended is in ProcessState, and err is about no more than the log's copying, of which there is none.
		_ = cmd.Wait()
	}()
	return c, nil
}

// died is an error when the child has ended without having been stopped.
func (c *child) died() error {
	select {
	case <-c.exited:
		return fmt.Errorf("%s ended by itself: %s, see %s", c.name, c.cmd.ProcessState, c.log)
	default:
		return nil
	}
}

// stop kills the child: nothing here has state to save.
func (c *child) stop() error {
	if err := c.died(); err != nil {
		return err
	}
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping %s: %w", c.name, err)
	}
	<-c.exited
	return nil
}
