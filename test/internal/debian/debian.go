// Package debian gets software from Debian's packages.
package debian

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// APT installs and downloads packages.
type APT struct {
	// Progress is told what is done to this machine.
	Progress io.Writer
	// Log receives what the package tools say.
	Log io.Writer

	update sync.Once
	failed error
}

// Install installs those of the packages that are missing.
func (a *APT) Install(ctx context.Context, packages ...string) error {
	var missing []string
	for _, name := range packages {
		// dpkg-query fails for a package that it has never heard of, which is an answer as well.
		status, _ := exec.CommandContext(ctx, "dpkg-query", "--show", "--showformat=${db:Status-Status}", name).Output()
		if string(status) != "installed" {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return ctx.Err()
	}
	fmt.Fprintf(a.Progress, "Installing Debian packages on this machine: %s\n", strings.Join(missing, " "))
	if err := a.refresh(ctx); err != nil {
		return err
	}
	return a.run(ctx, "", append([]string{"install", "--yes", "--no-install-recommends"}, missing...)...)
}

// Download puts the .deb files of packages into a folder, without what they depend on, and returns their paths in the
// order of their names.
func (a *APT) Download(ctx context.Context, dir string, packages ...string) ([]string, error) {
	if err := a.refresh(ctx); err != nil {
		return nil, err
	}
	// As root, apt hands downloads to a user who may not write here.
	args := append([]string{"--option=APT::Sandbox::User=root", "download"}, packages...)
	if err := a.run(ctx, dir, args...); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	if len(files) != len(packages) {
		return nil, fmt.Errorf("%d packages were downloaded as %d files", len(packages), len(files))
	}
	return files, nil
}

// Unpack hands the files of a .deb to read, as a tar stream.
func Unpack(ctx context.Context, file string, read func(tarball io.Reader) error) error {
	command := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", file)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	readErr := read(stdout)
	if readErr == nil {
		// What follows the end of the archive is padding, and dpkg-deb waits for somebody to take it.
		_, readErr = io.Copy(io.Discard, stdout)
	}
	if readErr != nil {
		// Closed, so that dpkg-deb does not wait for a reader.
		_ = stdout.Close()
		_ = command.Wait()
		return fmt.Errorf("reading %s: %w", filepath.Base(file), readErr)
	}
	if err := command.Wait(); err != nil {
		return fmt.Errorf("unpacking %s: %w: %s", filepath.Base(file), err, stderr.String())
	}
	return nil
}

// refresh updates the lists of packages, once in a run.
func (a *APT) refresh(ctx context.Context) error {
	a.update.Do(func() { a.failed = a.run(ctx, "", "update") })
	return a.failed
}

func (a *APT) run(ctx context.Context, dir string, args ...string) error {
	command := exec.CommandContext(ctx, "apt-get", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C")
	var output bytes.Buffer
	command.Stdout, command.Stderr = io.MultiWriter(a.Log, &output), io.MultiWriter(a.Log, &output)
	if err := command.Run(); err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args, " "), err, output.String())
	}
	return nil
}
