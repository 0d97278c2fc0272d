package image

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/designate-pools/designate-pool-operator/test/internal/debian"
	"github.com/designate-pools/designate-pool-operator/test/internal/folder"
)

// Designate is the name of the image of Designate and of everything that it needs.
const Designate = "localhost/designate:15"

// preparedDir is where the image has the databases and keys that a new Designate can begin with.
const preparedDir = "var/lib/prepared"

// WriteDesignate makes the image of Designate, unless there is one, and returns its path. It holds what
// test/designate/stack runs: the root file system with whatever Python has compiled, and databases that are filled.
func WriteDesignate(ctx context.Context, root, toolsDir string, apt *debian.APT) (string, error) {
	stack, err := prepareStack(ctx, root)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(toolsDir, "designate-image-"+folder.Key(layerVersion, filepath.Base(stack)))
	err = folder.Make(ctx, dir, "the image of Designate", apt.Progress, func(_ context.Context, dir string) error {
		return writeDesignate(filepath.Join(dir, "designate.tar"), stack)
	})
	return filepath.Join(dir, "designate.tar"), err
}

// prepareStack has test/designate/stack make what it begins with, unless it is there, and returns the folder.
func prepareStack(ctx context.Context, root string) (string, error) {
	command := exec.CommandContext(ctx, "go", "run", "./test/designate/stack", "--prepare")
	command.Dir, command.Stderr = root, os.Stderr
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("preparing Designate: %w", err)
	}
	return strings.TrimSpace(string(output)), nil
}

func writeDesignate(file, stack string) error {
	config := Config{Env: []string{"PATH=/usr/sbin:/usr/bin", "LANG=C.UTF-8", "PYTHONWARNINGS=ignore"}}
	return Write(file, Designate, config, func(layer *Layer) error {
		if err := layer.AddTree("", filepath.Join(stack, "root")); err != nil {
			return err
		}
		return layer.AddTree(preparedDir, filepath.Join(stack, "prepared"))
	})
}
