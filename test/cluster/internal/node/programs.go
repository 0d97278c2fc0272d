//go:build linux

package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/designate-pools/designate-pool-operator/test/controlplane/assets"
)

// systemPath is where Debian's packages put their programs.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// linkPrograms puts Kubernetes and whatever else is to be on the PATH into binDir.
func linkPrograms(kubernetes string, others []string) error {
	// Mounted and not linked: not everybody may enter the folder where it is.
	binary := filepath.Join(binDir, "kubernetes")
	if err := os.WriteFile(binary, nil, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount(kubernetes, binary, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting %s: %w", kubernetes, err)
	}
	for _, name := range assets.KubernetesPrograms {
		if err := os.Symlink("kubernetes", filepath.Join(binDir, name)); err != nil {
			return err
		}
	}
	for _, path := range others {
		if err := os.Symlink(path, filepath.Join(binDir, filepath.Base(path))); err != nil {
			return err
		}
	}
	return nil
}

// lookUp finds a program of the node.
func lookUp(name string) (string, error) {
	for dir := range strings.SplitSeq(binDir+":"+systemPath, ":") {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %s", name)
}
