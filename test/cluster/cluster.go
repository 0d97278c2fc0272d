//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/designate-pools/designate-pool-operator/test/cluster/internal/image"
	"github.com/designate-pools/designate-pool-operator/test/cluster/internal/node"
	"github.com/designate-pools/designate-pool-operator/test/cluster/internal/tools"
	"github.com/designate-pools/designate-pool-operator/test/controlplane/assets"
	"github.com/designate-pools/designate-pool-operator/test/internal/debian"
	"github.com/designate-pools/designate-pool-operator/test/internal/folder"
	"github.com/designate-pools/designate-pool-operator/test/internal/sandbox"
)

// packages are Debian's part of the node, and dig for whoever asks its servers.
var packages = []string{"containerd", "runc", "containernetworking-plugins", "nftables", "iproute2", "bind9-dnsutils"}

// cluster is one run.
type cluster struct {
	root      string
	toolsDir  string
	artifacts string
	progress  io.Writer
	// cgroup is different for every clone of the repository, so that they do not meet.
	cgroup string
	lock   *os.File
	// designate says whether there is to be an image of Designate, which takes long to make and seconds to import.
	designate bool
}

func newCluster() (*cluster, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("containers need root: run this as root")
	}
	root, err := assets.Root()
	if err != nil {
		return nil, err
	}
	c := &cluster{
		root: root, toolsDir: filepath.Join(root, ".tools"), artifacts: filepath.Join(root, ".artifacts", "cluster"),
		progress: os.Stderr, cgroup: "designate-pool-operator-" + folder.Key(root),
	}
	if err := c.begin(); err != nil {
		return nil, err
	}
	return c, nil
}

// begin empties the folder of artifacts and keeps it from being used twice at the same time. The kernel lifts the lock
// when this process ends.
func (c *cluster) begin() error {
	if err := os.MkdirAll(c.artifacts, 0o755); err != nil {
		return err
	}
	var err error
	if c.lock, err = os.Create(filepath.Join(filepath.Dir(c.artifacts), "cluster.lock")); err != nil {
		return err
	}
	if err := syscall.Flock(int(c.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("is there another cluster of this clone? %w", err)
	}
	if err := folder.Tidy(c.toolsDir); err != nil {
		return err
	}
	if err := os.RemoveAll(c.artifacts); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(c.artifacts, "images"), 0o755)
}

func (c *cluster) run(ctx context.Context, command []string) (code int, err error) {
	if len(command) == 0 {
		command = []string{"bash"}
		fmt.Fprintln(c.progress, "A shell in the cluster follows. kubectl, chainsaw and dig are on its PATH; leave it to end the cluster.")
	}
	n, err := c.prepare(ctx)
	if err != nil {
		return 0, err
	}
	arguments, err := encodeNode(n, command)
	if err != nil {
		return 0, err
	}
	return sandbox.Sandbox{
		InitArgs:  []string{initCommand, arguments},
		SweepArgs: []string{sweepCommand, c.cgroup},
		Cgroup:    c.cgroup,
		Grace:     node.EvidenceTimeout,
	}.Run(ctx)
}

// prepare installs, builds and makes whatever the node needs and is not there yet.
func (c *cluster) prepare(ctx context.Context) (*node.Node, error) {
	aptLog, err := os.Create(filepath.Join(c.artifacts, "apt.log"))
	if err != nil {
		return nil, err
	}
	defer aptLog.Close()
	apt := &debian.APT{Progress: c.progress, Log: aptLog}
	if err := apt.Install(ctx, packages...); err != nil {
		return nil, err
	}
	n := &node.Node{Artifacts: c.artifacts, Cgroup: c.cgroup}
	if err := assets.Build(ctx, c.root, c.progress); err != nil {
		return nil, err
	}
	if n.Kubernetes, err = assets.Kubernetes(c.root); err != nil {
		return nil, err
	}
	chainsaw, err := tools.Chainsaw(ctx, c.toolsDir, c.progress)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	n.Programs = []string{chainsaw, self}
	if n.Images, err = c.images(ctx, apt); err != nil {
		return nil, err
	}
	return n, nil
}

func (c *cluster) images(ctx context.Context, apt *debian.APT) ([]string, error) {
	bind, err := image.WriteBIND(ctx, c.toolsDir, apt)
	if err != nil {
		return nil, err
	}
	images := []string{bind}
	if c.designate {
		designate, err := image.WriteDesignate(ctx, c.root, c.toolsDir, apt)
		if err != nil {
			return nil, err
		}
		images = append(images, designate)
	}
	fmt.Fprintln(c.progress, "Making the operator's image.")
	for _, program := range []struct{ image, pkg, name string }{
		{image.Pause, "./test/cluster/pause", "pause"},
		{image.Operator, "./cmd/manager", "manager"},
	} {
		file, err := image.WriteGo(ctx, c.root, filepath.Join(c.artifacts, "images"), program.image, program.pkg, program.name)
		if err != nil {
			return nil, err
		}
		images = append(images, file)
	}
	return images, nil
}
