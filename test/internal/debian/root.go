package debian

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// documentation is what programs do not need.
var documentation = []string{"./usr/share/doc/*", "./usr/share/man/*", "./usr/share/locale/*"}

// Unpacked is one package of a root.
type Unpacked struct {
	Name, Version string
}

// MakeRoot fills a folder with a root file system that holds packages and all that they depend on, and tells what it has
// unpacked, in the order of names. This machine stays as it is: nothing is installed, and no maintainer script runs, so
// there are no users but Debian's own, and no service is started.
func (a *APT) MakeRoot(ctx context.Context, dir string, packages ...string) ([]Unpacked, error) {
	if err := a.refresh(ctx); err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "debian-root-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	files, err := a.downloadClosure(ctx, scratch, packages)
	if err != nil {
		return nil, err
	}
	if err := mergeUsr(dir); err != nil {
		return nil, err
	}
	var unpacked []Unpacked
	for _, file := range files {
		extract := func(tarball io.Reader) error { return untar(ctx, tarball, dir) }
		if err := Unpack(ctx, file, extract); err != nil {
			return nil, err
		}
		name, version, err := describe(ctx, file)
		if err != nil {
			return nil, err
		}
		unpacked = append(unpacked, Unpacked{Name: name, Version: version})
	}
	return unpacked, copyUsers(dir)
}

// downloadClosure downloads packages as if nothing were installed, and thus with all that they depend on.
func (a *APT) downloadClosure(ctx context.Context, scratch string, packages []string) ([]string, error) {
	status, archives := filepath.Join(scratch, "status"), filepath.Join(scratch, "archives")
	if err := os.WriteFile(status, nil, 0o644); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(archives, "partial"), 0o755); err != nil {
		return nil, err
	}
	args := []string{
		"--option=Dir::State::status=" + status, "--option=Dir::Cache::archives=" + archives,
		// As root, apt hands downloads to a user who may not write here.
		"--option=APT::Sandbox::User=root",
		"install", "--yes", "--no-install-recommends", "--download-only",
	}
	if err := a.run(ctx, "", append(args, packages...)...); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(archives, "*.deb"))
	slices.Sort(files)
	return files, err
}

// mergeUsr makes the links that Debian's installer makes. Packages expect them, and do not bring them.
func mergeUsr(dir string) error {
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := os.MkdirAll(filepath.Join(dir, "usr", name), 0o755); err != nil {
			return err
		}
		if err := os.Symlink("usr/"+name, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func untar(ctx context.Context, tarball io.Reader, dir string) error {
	args := []string{"--extract", "--directory", dir, "--keep-directory-symlink"}
	for _, pattern := range documentation {
		args = append(args, "--exclude="+pattern)
	}
	command := exec.CommandContext(ctx, "tar", args...)
	command.Stdin = tarball
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}

func describe(ctx context.Context, file string) (name, version string, err error) {
	output, err := exec.CommandContext(ctx, "dpkg-deb", "--show", "--showformat=${Package} ${Version}", file).Output()
	if err != nil {
		return "", "", fmt.Errorf("asking %s for its version: %w", filepath.Base(file), err)
	}
	name, version, _ = strings.Cut(string(output), " ")
	return name, version, nil
}

// copyUsers does what the installation of base-passwd does.
func copyUsers(dir string) error {
	for _, name := range []string{"passwd", "group"} {
		text, err := os.ReadFile(filepath.Join(dir, "usr", "share", "base-passwd", name+".master"))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "etc", name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
