//go:build linux

package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// provisionerID is the user and group as whom the controller manager runs. Its provisioner makes volumes that nobody
// but their owner can write to, so it has to be BIND's user.
const provisionerID = 53

// component is one of the programs that make up the node.
type component struct {
	name string
	args []string
	// user is the user and group that the program runs as; root when 0.
	user uint32
}

func pki(file string) string  { return filepath.Join(pkiDir, file) }
func conf(file string) string { return filepath.Join(filesDir, file) }

var etcd = component{name: "etcd", args: []string{
	"--data-dir", stateDir + "/etcd",
	"--listen-client-urls", "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
	"--listen-peer-urls", "http://127.0.0.1:2380", "--initial-advertise-peer-urls", "http://127.0.0.1:2380",
	"--initial-cluster", "default=http://127.0.0.1:2380",
	"--unsafe-no-fsync", "--log-level", "warn",
}}

var apiServer = component{name: "kube-apiserver", args: []string{
	"--etcd-servers", "http://127.0.0.1:2379",
	"--bind-address", "0.0.0.0", "--advertise-address", address, "--secure-port", "6443",
	"--tls-cert-file", pki("kube-apiserver.crt"), "--tls-private-key-file", pki("kube-apiserver.key"),
	"--client-ca-file", pki("ca.crt"),
	"--kubelet-client-certificate", pki("kube-apiserver-kubelet-client.crt"),
	"--kubelet-client-key", pki("kube-apiserver-kubelet-client.key"),
	"--kubelet-preferred-address-types", "InternalIP",
	"--requestheader-client-ca-file", pki("ca.crt"), "--requestheader-allowed-names", "front-proxy-client",
	"--requestheader-username-headers", "X-Remote-User", "--requestheader-group-headers", "X-Remote-Group",
	"--requestheader-extra-headers-prefix", "X-Remote-Extra-",
	"--proxy-client-cert-file", pki("front-proxy.crt"), "--proxy-client-key-file", pki("front-proxy.key"),
	"--service-account-issuer", "https://kubernetes.default.svc",
	"--service-account-key-file", pki("service-accounts.pub"),
	"--service-account-signing-key-file", pki("service-accounts.key"),
	"--service-cluster-ip-range", serviceCIDR,
	"--authorization-mode", "Node,RBAC", "--enable-admission-plugins", "NodeRestriction",
	"--allow-privileged",
}}

var controllerManager = component{name: "kube-controller-manager", user: provisionerID, args: []string{
	"--kubeconfig", pki("kube-controller-manager.kubeconfig"),
	"--service-account-private-key-file", pki("service-accounts.key"), "--root-ca-file", pki("ca.crt"),
	"--use-service-account-credentials",
	"--secure-port", "0", "--leader-elect=false",
	"--allocate-node-cidrs", "--cluster-cidr", podCIDR, "--node-cidr-mask-size", "24",
	"--enable-hostpath-provisioner",
	// The first claims after a start are missed by the binder until its next full pass, 15 s later by default.
	"--pvclaimbinder-sync-period", "1s",
	"--kube-api-qps", "500", "--kube-api-burst", "1000",
}}

var scheduler = component{name: "kube-scheduler", args: []string{
	"--kubeconfig", pki("kube-scheduler.kubeconfig"), "--secure-port", "0", "--leader-elect=false",
}}

// containerd is Debian's, and must not find a shim of another version elsewhere on the PATH.
var containerd = component{name: "containerd", args: []string{"--config", conf("containerd.toml")}}

var proxy = component{name: "kube-proxy", args: []string{"--config", conf("kube-proxy.yaml")}}

func kubelet(cgroup string) component {
	return component{name: "kubelet", args: []string{
		"--config", conf("kubelet.yaml"), "--kubeconfig", pki("kubelet.kubeconfig"),
		"--cgroup-root", "/" + cgroup,
		"--hostname-override", hostName, "--node-ip", address,
	}}
}

// components starts and stops the programs of the node.
type components struct {
	logDir string
	// died receives an error when a program ends that nobody stopped.
	died chan error

	mutex   sync.Mutex
	known   map[string]component
	running map[string]*process
}

type process struct {
	command *exec.Cmd
	stopped bool
	exited  chan struct{}
}

func newComponents(logDir string) *components {
	return &components{
		logDir: logDir, died: make(chan error, 1),
		known: map[string]component{}, running: map[string]*process{},
	}
}

// start starts a program, and remembers it for restart.
func (c *components) start(program component) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.running[program.name] != nil {
		return fmt.Errorf("%s is running", program.name)
	}
	path, err := lookUp(program.name)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(c.logDir, program.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(path, program.args...)
	command.Env = []string{"PATH=" + systemPath, "HOME=" + stateDir}
	command.Stdout, command.Stderr = log, log
	// A group of its own keeps Ctrl-C in a terminal away.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if program.user != 0 {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: program.user, Gid: program.user}
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", program.name, err)
	}
	c.known[program.name] = program
	p := &process{command: command, exited: make(chan struct{})}
	c.running[program.name] = p
	go c.watch(program.name, p)
	return nil
}

// restart starts a program that was stopped.
func (c *components) restart(name string) error {
	c.mutex.Lock()
	program, known := c.known[name]
	c.mutex.Unlock()
	if !known {
		return c.unknown(name)
	}
	return c.start(program)
}

// stop kills a program and waits for its end.
func (c *components) stop(name string) error {
	c.mutex.Lock()
	p := c.running[name]
	_, known := c.known[name]
	if p != nil {
		p.stopped = true
	}
	c.mutex.Unlock()
	switch {
	case !known:
		return c.unknown(name)
	case p == nil:
		return fmt.Errorf("%s is not running", name)
	}
	if err := p.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping %s: %w", name, err)
	}
	<-p.exited
	return nil
}

func (c *components) watch(name string, p *process) {
	// How it ended is in ProcessState.
	_ = p.command.Wait()
	c.mutex.Lock()
	delete(c.running, name)
	stopped := p.stopped
	c.mutex.Unlock()
	close(p.exited)
	if stopped {
		return
	}
	select {
	case c.died <- fmt.Errorf("%s ended by itself: %s", name, p.command.ProcessState):
	default:
		// One death is enough to end everything.
	}
}

func (c *components) unknown(name string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	names := make([]string, 0, len(c.known))
	for known := range c.known {
		names = append(names, known)
	}
	slices.Sort(names)
	return fmt.Errorf("there is no %q here, but %q", name, names)
}
