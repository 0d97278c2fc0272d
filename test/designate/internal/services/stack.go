//go:build linux

package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/designate-pools/designate-pool-operator/test/designate/running"
	"github.com/designate-pools/designate-pool-operator/test/internal/debian"
)

// Stack is what is brought up.
type Stack struct {
	// Dir holds, all made once: root, the root file system; prepared, the databases and keys that a new stack begins
	// with; versions.json, the packages.
	Dir string
	// Logs is the folder of the services' logs.
	Logs string
	// Progress is told what is going on.
	Progress io.Writer `json:"-"`

	seed       Seed
	stack      *running.Stack
	supervisor *supervisor
}

func (s *Stack) root() string     { return filepath.Join(s.Dir, "root") }
func (s *Stack) prepared() string { return filepath.Join(s.Dir, "prepared") }
func (s *Stack) seedFile() string { return filepath.Join(s.prepared(), "seed.json") }

// VersionsFile is where the packages of the root are listed.
func (s *Stack) VersionsFile() string { return filepath.Join(s.Dir, "versions.json") }

// Run brings the stack up, runs a command in it and returns the command's exit code. What it has started goes on running:
// it ends with these namespaces.
func (s *Stack) Run(ctx context.Context, command []string) (int, error) {
	begin := time.Now()
	if err := s.up(ctx); err != nil {
		return 0, err
	}
	description := filepath.Join(s.root(), configDir, "stack.json")
	if err := writeJSON(description, s.stack); err != nil {
		return 0, err
	}
	fmt.Fprintf(s.Progress, "Designate is up after %.1f s.\n", time.Since(begin).Seconds())
	return s.run(ctx, description, command)
}

func (s *Stack) up(ctx context.Context) error {
	if err := readJSON(s.seedFile(), &s.seed); err != nil {
		return err
	}
	if err := s.begin(false); err != nil {
		return err
	}
	for _, name := range []string{"mariadb", "keystone"} {
		if err := copyTree(ctx, filepath.Join(s.prepared(), name), filepath.Join(s.root(), "run")); err != nil {
			return err
		}
	}
	return s.startAll(ctx)
}

// begin makes these namespaces ready for the services.
func (s *Stack) begin(writable bool) error {
	if err := enter(s.root(), writable); err != nil {
		return err
	}
	if err := prepareNetwork(s.seed.Servers); err != nil {
		return err
	}
	if err := writeConfig(s.root(), s.seed); err != nil {
		return err
	}
	if err := s.describe(); err != nil {
		return err
	}
	s.supervisor = newSupervisor(s.root(), s.Logs)
	return serveControl(s.supervisor)
}

func (s *Stack) describe() error {
	var packages []debian.Unpacked
	if err := readJSON(s.VersionsFile(), &packages); err != nil {
		return err
	}
	versions := map[string]string{}
	for _, name := range reported {
		for _, unpacked := range packages {
			if unpacked.Name == name {
				versions[name] = unpacked.Version
			}
		}
	}
	s.stack = &running.Stack{
		URL: apiURL, NoAuthURL: noAuthURL, KeystoneURL: keystoneURL, ControlURL: controlURL,
		Admin: s.seed.Admin, Member: s.seed.Member, Application: s.seed.Application,
		Servers: s.seed.Servers, Root: s.root(), Logs: s.Logs, Versions: versions,
	}
	return nil
}

// startAll starts everything, as much as possible at the same time.
func (s *Stack) startAll(ctx context.Context) error {
	steps := []func(context.Context) error{
		func(ctx context.Context) error { return s.supervisor.start(ctx, rabbitMQ) },
		func(ctx context.Context) error {
			if err := s.supervisor.start(ctx, s.mariaDB()); err != nil {
				return err
			}
			// They wait for RabbitMQ by themselves.
			return s.startEach(ctx, central, noAuthAPI, api, worker, keystone, mdns, producer)
		},
	}
	for _, server := range s.seed.Servers {
		steps = append(steps, func(ctx context.Context) error { return s.supervisor.start(ctx, named(server)) })
	}
	if err := together(ctx, steps...); err != nil {
		return err
	}
	// Only now it is sure that central answers.
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	answers := answersHTTP(noAuthURL+"/v2/pools", noAuthHeaders, 200)
	return running.Await(ctx, func() error { return answers(ctx, logFile{}) })
}

func (s *Stack) startEach(ctx context.Context, all ...service) error {
	steps := make([]func(context.Context) error, 0, len(all))
	for _, one := range all {
		steps = append(steps, func(ctx context.Context) error { return s.supervisor.start(ctx, one) })
	}
	return together(ctx, steps...)
}

func (s *Stack) mariaDB() service {
	return mariaDB(func(ctx context.Context) error {
		_, err := s.stack.SQL(ctx, "mysql", "SELECT 1")
		return err
	})
}

// together runs steps at the same time and waits for all. The first error ends the others.
func together(ctx context.Context, steps ...func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for _, step := range steps {
		group.Go(func() {
			if err := step(ctx); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// run runs a command of this machine, not of the root, until it ends or a service does.
func (s *Stack) run(ctx context.Context, description string, args []string) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-s.supervisor.died:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Env = append(os.Environ(), running.Environment+"="+description)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := command.Run()
	if cause := context.Cause(ctx); cause != nil {
		return 0, cause
	}
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		if !exit.Exited() {
			return 0, fmt.Errorf("%s: %w", args[0], err)
		}
		return exit.ExitCode(), nil
	}
	return 0, err
}

// copyTree copies a folder into another one, with owners and modes.
func copyTree(ctx context.Context, from, into string) error {
	if output, err := exec.CommandContext(ctx, "cp", "--archive", from, into).CombinedOutput(); err != nil {
		return fmt.Errorf("copying: %w: %s", err, output)
	}
	return nil
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func writeJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
