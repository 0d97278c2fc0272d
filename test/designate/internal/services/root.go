//go:build linux

package services

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"text/template"

	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

//go:embed files
var files embed.FS

// perServer are the files that are templates, one for each BIND server.
const (
	namedTemplate = "named.conf"
	keyTemplate   = "rndc.key"
)

// FinishRoot adds to a root of packages what their maintainer scripts would have made, as far as it is used.
func FinishRoot(root string) error {
	for name, text := range map[string]string{
		"etc/hosts":       "127.0.0.1 localhost\n",
		"etc/resolv.conf": "",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.Symlink("gawk", filepath.Join(root, "usr", "bin", "awk"))
}

// enter makes the root ready to run programs in. What they write is in memory, unless the root itself is writable.
func enter(root string, writable bool) error {
	flags := uintptr(syscall.MS_REMOUNT | syscall.MS_BIND | syscall.MS_RDONLY)
	if writable {
		flags &^= syscall.MS_RDONLY
	}
	for _, mount := range []struct {
		source, target, kind string
		flags                uintptr
	}{
		{source: root, flags: syscall.MS_BIND},
		{flags: flags},
		{source: "tmpfs", target: "run", kind: "tmpfs"},
		{source: "tmpfs", target: "tmp", kind: "tmpfs"},
		{source: "/dev", target: "dev", flags: syscall.MS_BIND | syscall.MS_REC},
		{source: "proc", target: "proc", kind: "proc"},
	} {
		if err := syscall.Mount(mount.source, filepath.Join(root, mount.target), mount.kind, mount.flags, ""); err != nil {
			return fmt.Errorf("mounting /%s in the root file system: %w", mount.target, err)
		}
	}
	for _, dir := range []string{
		configDir, dataDir, keystoneDir, "/run/home", "/run/designate/locks", "/run/rabbitmq", "/run/named",
	} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// prepareNetwork gives each server its address.
func prepareNetwork(servers []running.Server) error {
	lines := []string{"link set lo up"}
	for _, server := range servers {
		lines = append(lines, "address add "+server.Address+"/8 dev lo")
	}
	for _, line := range lines {
		if output, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, output)
		}
	}
	return nil
}

// writeConfig writes all configuration files into the root.
func writeConfig(root string, seed Seed) error {
	entries, err := fs.ReadDir(files, "files")
	if err != nil {
		return err
	}
	write := func(name string, text []byte) error {
		return os.WriteFile(filepath.Join(root, configDir, name), text, 0o644)
	}
	for _, entry := range entries {
		text, err := files.ReadFile("files/" + entry.Name())
		if err != nil {
			return err
		}
		if err := write(entry.Name(), text); err != nil {
			return err
		}
	}
	for _, server := range seed.Servers {
		if err := os.MkdirAll(filepath.Join(root, "run", "named", server.Name), 0o755); err != nil {
			return err
		}
		for name, data := range map[string]any{namedTemplate: server, keyTemplate: seed.RNDCSecret} {
			text, err := render(name, data)
			if err != nil {
				return err
			}
			if name == namedTemplate {
				name = server.Name + ".conf"
			}
			if err := write(name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func render(name string, data any) ([]byte, error) {
	parsed, err := template.ParseFS(files, "files/"+name)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = parsed.Execute(&text, data)
	return text.Bytes(), err
}
