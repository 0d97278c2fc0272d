package assets

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/designate-pools/designate-pool-operator/test/internal/folder"
)

// Build builds whatever is missing and reports on progress, where a build takes minutes.
func Build(ctx context.Context, root string, progress io.Writer) error {
	dir, err := kubernetesDir(root)
	if err != nil {
		return err
	}
	err = folder.Make(ctx, dir, "Kubernetes and etcd from Go modules (minutes)", progress,
		func(ctx context.Context, staging string) error { return buildKubernetes(ctx, root, staging) })
	if err != nil {
		return err
	}
	return folder.Make(ctx, kwokDir(root), "kwok "+kwokVersion+" from Go modules (minutes)", progress, buildKwok)
}

func buildKubernetes(ctx context.Context, root, staging string) error {
	source := filepath.Join(root, sourceDir)
	version, err := moduleVersion(ctx, source, "k8s.io/kubernetes")
	if err != nil {
		return err
	}
	err = goCommand(ctx, source, nil, "build", "-trimpath", "-buildvcs=false", "-ldflags", linkerFlags(version),
		"-o", filepath.Join(staging, binaryName), ".")
	if err != nil {
		return err
	}
	for _, program := range KubernetesPrograms {
		if err := os.Symlink(binaryName, filepath.Join(staging, program)); err != nil {
			return err
		}
	}
	return nil
}

func buildKwok(ctx context.Context, staging string) error {
	// Outside of any module, so that the operator's go.mod has no say in the versions.
	return goCommand(ctx, staging, []string{"GOBIN=" + staging}, "install", "-trimpath", "-ldflags", "-s -w",
		"sigs.k8s.io/kwok/cmd/kwok@"+kwokVersion)
}

func moduleVersion(ctx context.Context, dir, module string) (string, error) {
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", module)
	list.Dir = dir
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("asking for the version of %s: %w", module, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// linkerFlags stamp the version of Kubernetes, without which clients and server call themselves v0.0.0.
func linkerFlags(version string) string {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, setting := range []string{
			"gitVersion=" + version, "gitMajor=" + major, "gitMinor=" + minor, "gitTreeState=clean",
			"buildDate=1970-01-01T00:00:00Z",
		} {
			flags = append(flags, "-X", pkg+"."+setting)
		}
	}
	return strings.Join(flags, " ")
}

func goCommand(ctx context.Context, dir string, env []string, args ...string) error {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	// Static binaries run on any machine and need no C compiler to build.
	command.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	return command.Run()
}
