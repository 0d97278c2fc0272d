//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/designate-pools/designate-pool-operator/test/controlplane/assets"
	"github.com/designate-pools/designate-pool-operator/test/designate/internal/services"
	"github.com/designate-pools/designate-pool-operator/test/internal/debian"
	"github.com/designate-pools/designate-pool-operator/test/internal/folder"
	"github.com/designate-pools/designate-pool-operator/test/internal/sandbox"
)

// layout is to be raised when the root, the databases or what is in them are made in another way.
const layout = "1"

// atOnce is how many stacks of one clone may run at the same time.
const atOnce = 9

// run is one run of the stack.
type run struct {
	toolsDir string
	// logs is a folder for this run alone.
	logs     string
	lock     *os.File
	progress io.Writer
}

func newRun() (*run, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("namespaces need root: run this as root")
	}
	root, err := assets.Root()
	if err != nil {
		return nil, err
	}
	r := &run{toolsDir: filepath.Join(root, ".tools"), progress: os.Stderr}
	if err := r.takeLogs(filepath.Join(root, ".artifacts", "designate")); err != nil {
		return nil, err
	}
	return r, folder.Tidy(r.toolsDir)
}

// takeLogs takes the first folder that no other run is using, and empties it. The kernel lifts the lock when this process
// ends.
func (r *run) takeLogs(first string) error {
	if err := os.MkdirAll(filepath.Dir(first), 0o755); err != nil {
		return err
	}
	for i := range atOnce {
		r.logs = first
		if i > 0 {
			r.logs = fmt.Sprintf("%s-%d", first, i+1)
		}
		var err error
		if r.lock, err = os.Create(r.logs + ".lock"); err != nil {
			return err
		}
		err = syscall.Flock(int(r.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return r.emptyLogs()
		}
		r.lock.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
	}
	return fmt.Errorf("%d stacks of this clone are running already", atOnce)
}

func (r *run) emptyLogs() error {
	if err := os.RemoveAll(r.logs); err != nil {
		return err
	}
	return os.Mkdir(r.logs, 0o755)
}

func (r *run) run(ctx context.Context, command []string) (int, error) {
	dir, err := r.prepare(ctx)
	if err != nil {
		return 0, err
	}
	return r.inSandbox(ctx, task{Stack: &services.Stack{Dir: dir, Logs: r.logs}, Command: command})
}

// prepare makes everything that stacks begin with, unless it is there, and returns its folder.
func (r *run) prepare(ctx context.Context) (string, error) {
	dir := filepath.Join(r.toolsDir, "designate-"+folder.Key(append([]string{layout, runtime.GOARCH}, services.Packages...)...))
	return dir, folder.Make(ctx, dir, "Designate from Debian's packages", r.progress, r.make)
}

// make fills a folder with everything that stacks begin with.
func (r *run) make(ctx context.Context, dir string) error {
	aptLog, err := os.Create(filepath.Join(r.logs, "apt.log"))
	if err != nil {
		return err
	}
	defer aptLog.Close()
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	stack := &services.Stack{Dir: dir, Logs: r.logs}
	apt := &debian.APT{Progress: r.progress, Log: aptLog}
	packages, err := apt.MakeRoot(ctx, root, services.Packages...)
	if err != nil {
		return err
	}
	if err := services.FinishRoot(root); err != nil {
		return err
	}
	text, err := json.MarshalIndent(packages, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(stack.VersionsFile(), text, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(r.progress, "%d packages are unpacked; filling the databases.\n", len(packages))
	code, err := r.inSandbox(ctx, task{Stack: stack})
	if err == nil && code != 0 {
		err = fmt.Errorf("preparing the databases: exit code %d (see %s)", code, r.logs)
	}
	return err
}

func (r *run) inSandbox(ctx context.Context, t task) (int, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return 0, err
	}
	return sandbox.Sandbox{InitArgs: []string{initCommand, string(text)}}.Run(ctx)
}
