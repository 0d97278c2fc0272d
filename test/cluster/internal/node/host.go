//go:build linux

package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Where things are. The folders are private to this node's mount namespace, so their names can be fixed, and so can be
// the configuration files that mention them.
const (
	stateDir = "/run/cluster"
	binDir   = stateDir + "/bin"
	pkiDir   = stateDir + "/pki"
	filesDir = stateDir + "/files"
	// podLogsDir is where the kubelet keeps the logs of containers.
	podLogsDir = "/var/log/pods"
	// volumesDir is where the controller manager's own provisioner, meant for one machine like this, makes its volumes.
	volumesDir = "/tmp/hostpath_pv"
)

const (
	hostName      = "node"
	address       = "172.30.0.1"
	gateway       = "172.30.0.254"
	prefix        = "/24"
	serviceCIDR   = "10.97.0.0/16"
	serviceIP     = "10.97.0.1"
	podCIDR       = "10.244.0.0/16"
	containerdSoc = "/run/containerd/containerd.sock"
)

// scratch are the folders that the node's programs write to. They are in memory, and end with the node. What stays of
// them is an empty folder each to mount on: to remove it would unmount it in every other node that runs just now.
var scratch = []string{"/run", "/var/log", "/var/lib/kubelet", "/var/lib/cni", "/var/lib/containerd", volumesDir}

// kernelSettings are what the kubelet insists on, and would change, in settings that belong to the whole machine.
var kernelSettings = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// prepareHost makes these namespaces look like a machine that is there for this node alone.
func prepareHost(ctx context.Context, podLogs string) error {
	if err := syscall.Sethostname([]byte(hostName)); err != nil {
		return err
	}
	// The kubelet wants mounts to reach containers.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""); err != nil {
		return err
	}
	for _, dir := range scratch {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755"); err != nil {
			return fmt.Errorf("mounting a file system in memory on %s: %w", dir, err)
		}
	}
	for _, dir := range []string{binDir, pkiDir, filesDir, podLogsDir, "/run/lock", "/run/netns"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	// Kept where people find them when the node is gone.
	if err := syscall.Mount(podLogs, podLogsDir, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting the folder of container logs: %w", err)
	}
	if err := disguiseKernelSettings(); err != nil {
		return err
	}
	return prepareNetwork(ctx)
}

// disguiseKernelSettings shows the kubelet files that say what it wants to hear, so that the machine's own settings stay
// as they are.
func disguiseKernelSettings() error {
	for name, value := range kernelSettings {
		disguise := filepath.Join(stateDir, "kernel", strings.ReplaceAll(name, "/", "-"))
		if err := os.MkdirAll(filepath.Dir(disguise), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(disguise, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		if err := syscall.Mount(disguise, "/proc/sys/"+name, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting over the kernel setting %s: %w", name, err)
		}
	}
	return nil
}

func prepareNetwork(ctx context.Context) error {
	for _, line := range []string{
		"link set lo up",
		"link add node0 type bridge",
		"address add " + address + prefix + " dev node0",
		"link set node0 up",
		// It leads nowhere, but without a default route the kubelet finds no address of its own.
		"route add default via " + gateway + " dev node0",
	} {
		output, err := exec.CommandContext(ctx, "ip", strings.Fields(line)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, output)
		}
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0)
}
