//go:build linux

// Package node brings up a whole cluster of one node within the namespaces that it is called in: etcd, the API server,
// the controller manager, the scheduler, containerd, the kubelet and kube-proxy.
package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// Node is what a cluster is made of.
type Node struct {
	// Kubernetes is the path of the binary of test/kubernetes.
	Kubernetes string
	// Programs are paths of further programs for the PATH.
	Programs []string
	// Images are paths of image archives.
	Images []string
	// Artifacts is the folder that receives what helps to understand a failure. It outlives the node.
	Artifacts string
	// Cgroup is the control group, at the top of every hierarchy, below which pods run.
	Cgroup string
	// Progress is told what is going on.
	Progress io.Writer `json:"-"`

	components *components
	client     kubernetes.Interface
}

// Run brings the cluster up, runs a command in it and returns the command's exit code. What it has started goes on
// running: it ends with these namespaces. When the command fails, or ctx ends before it, evidence is kept.
func (n *Node) Run(ctx context.Context, command []string) (int, error) {
	begin := time.Now()
	err := n.up(ctx)
	if err != nil {
		n.keepEvidence(ctx)
		return 0, err
	}
	fmt.Fprintf(n.Progress, "The cluster is up after %.1f s.\n", time.Since(begin).Seconds())
	code, err := n.run(ctx, command)
	if code != 0 || err != nil {
		n.keepEvidence(ctx)
	}
	return code, err
}

func (n *Node) up(ctx context.Context) error {
	podLogs, componentLogs := filepath.Join(n.Artifacts, "pods"), filepath.Join(n.Artifacts, "components")
	for _, dir := range []string{podLogs, componentLogs} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := prepareHost(ctx, podLogs); err != nil {
		return err
	}
	for _, prepare := range []func() error{writeFiles, writePKI, n.linkPrograms, ownVolumes} {
		if err := prepare(); err != nil {
			return err
		}
	}
	n.components = newComponents(componentLogs)
	if err := serveControl(n.components); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{n.startAPI, n.startContainers, n.startProxy, n.waitForNode, n.createStorageClass} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) linkPrograms() error { return linkPrograms(n.Kubernetes, n.Programs) }

// ownVolumes lets the controller manager, which is not root, read its secrets and make volumes.
func ownVolumes() error {
	for _, path := range []string{
		volumesDir, pki("service-accounts.key"), pki("kube-controller-manager.key"), pki("kube-controller-manager.kubeconfig"),
	} {
		if err := os.Chown(path, provisionerID, provisionerID); err != nil {
			return err
		}
	}
	return nil
}

// startAPI starts what works without a node. What writes to the API server waits until that is ready.
func (n *Node) startAPI(ctx context.Context) error {
	for _, program := range []component{containerd, etcd, apiServer} {
		if err := n.components.start(program); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", Kubeconfig)
	if err != nil {
		return err
	}
	if n.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if err := n.wait(ctx, "the API server is ready", n.apiReady); err != nil {
		return err
	}
	fmt.Fprintln(n.Progress, "The API server is ready.")
	for _, program := range []component{controllerManager, scheduler} {
		if err := n.components.start(program); err != nil {
			return err
		}
	}
	return nil
}

// startContainers gives containerd its images and then starts the kubelet.
func (n *Node) startContainers(ctx context.Context) error {
	if err := n.wait(ctx, "containerd answers", func(ctx context.Context) error { return ctr(ctx, "version") }); err != nil {
		return err
	}
	for _, image := range n.Images {
		if err := ctr(ctx, "images", "import", image); err != nil {
			return err
		}
	}
	fmt.Fprintf(n.Progress, "containerd has its %d images.\n", len(n.Images))
	return n.components.start(kubelet(n.Cgroup))
}

// startProxy starts kube-proxy, which ends when its node gets another address than it had when it started, or one at all.
func (n *Node) startProxy(ctx context.Context) error {
	if err := n.wait(ctx, "the node has an address", n.nodeHasAddress); err != nil {
		return err
	}
	return n.components.start(proxy)
}

func ctr(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, "ctr", append([]string{"--address", containerdSoc, "--namespace", "k8s.io"}, args...)...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("ctr %s: %w: %s", args[0], err, output)
	}
	return nil
}

// run runs a command with the cluster's programs on its PATH, until it ends or a program of the node does.
func (n *Node) run(ctx context.Context, args []string) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-n.components.died:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	// Set for this process first: it is this process's PATH where the command is looked for.
	if err := os.Setenv("PATH", binDir+":"+os.Getenv("PATH")+":"+systemPath); err != nil {
		return 0, err
	}
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Env = append(os.Environ(), "KUBECONFIG="+Kubeconfig)
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
