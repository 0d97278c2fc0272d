// Package tools builds the programs that test suites use, from Go modules.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/designate-pools/designate-pool-operator/test/internal/folder"
)

const (
	chainsawVersion = "v0.2.12"
	chainsawModule  = "github.com/kyverno/chainsaw"

	// missingMethod is what Go 1.26 asks of a program that runs tests by itself, and chainsaw lacks.
	missingMethod     = "package internal\n\nfunc (*TestDeps) ModulePath() string { return \"\" }\n"
	missingMethodFile = "pkg/runner/internal/module_path.go"
)

// Chainsaw builds chainsaw, unless it is there, and returns its path.
func Chainsaw(ctx context.Context, toolsDir string, progress io.Writer) (string, error) {
	dir := filepath.Join(toolsDir, "chainsaw-"+chainsawVersion+"-"+folder.Key(runtime.Version(), missingMethod))
	err := folder.Make(ctx, dir, "chainsaw "+chainsawVersion+" from Go modules (minutes)", progress, buildChainsaw)
	return filepath.Join(dir, "chainsaw"), err
}

func buildChainsaw(ctx context.Context, dir string) error {
	module, err := download(ctx, chainsawModule+"@"+chainsawVersion)
	if err != nil {
		return err
	}
	source := filepath.Join(dir, "source")
	// A copy, for nobody may write to the module cache.
	if err := os.CopyFS(source, os.DirFS(module)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(source, missingMethodFile), []byte(missingMethod), 0o644); err != nil {
		return err
	}
	err = GoBuild(ctx, source, filepath.Join(dir, "chainsaw"), ".", "-X "+chainsawModule+"/pkg/version.BuildVersion="+chainsawVersion)
	if err != nil {
		return err
	}
	return os.RemoveAll(source)
}

// download puts a module into the module cache and returns where it is.
func download(ctx context.Context, module string) (string, error) {
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	// Outside of any module, so that the operator's go.sum learns nothing of it.
	command.Dir, command.Stderr = os.TempDir(), os.Stderr
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("downloading %s: %w: %s", module, err, output)
	}
	var answer struct{ Dir string }
	if err := json.Unmarshal(output, &answer); err != nil {
		return "", err
	}
	return answer.Dir, nil
}

// GoBuild builds a static program, which runs on any machine and in an image with nothing else in it.
func GoBuild(ctx context.Context, dir, output, pkg string, linkerFlags ...string) error {
	flags := strings.Join(append([]string{"-s", "-w"}, linkerFlags...), " ")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", output, pkg)
	command.Dir = dir
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("building %s: %w", pkg, err)
	}
	return nil
}
