// Package controlplane runs a real Kubernetes control plane for tests: etcd and the API server as envtest starts them,
// with the real controller manager (garbage collector included), the real scheduler, and kwok, which plays the one
// node: scheduled pods are ready at once, without containers. Claims are bound to directories of this machine.
//
// All of it ends with the process that started it, even when that process is killed.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/designate-pools/designate-pool-operator/test/controlplane/assets"
)

const (
	// componentTimeout is for one server on a busy machine; an idle one needs a tenth of it.
	componentTimeout = time.Minute
	artifactsDir     = ".artifacts"
	crdDir           = "config/crd/bases"
)

// Options say what to run. The zero value is not enough: Name is required.
type Options struct {
	// Name is that of the folder under .artifacts that receives the logs and the kubeconfig. Control planes that run at
	// the same time need different names.
	Name string
	// APIServerOnly leaves out the controller manager, the scheduler and kwok: nothing makes pods, nothing is collected.
	APIServerOnly bool
	// AdvertiseAddress is what the API server calls its own address. Left empty, it is that of the interface with the default
	// route, which there must be then.
	AdvertiseAddress string
	// CRDDirs are the folders of the CRDs to install, relative to the repository; config/crd/bases when empty.
	CRDDirs []string
	// Webhooks are passed on to envtest. Relative paths are relative to the repository.
	Webhooks envtest.WebhookInstallOptions
}

// ControlPlane is a running control plane.
type ControlPlane struct {
	// Config reaches the API server as its administrator.
	Config *rest.Config
	// KubeconfigPath is a file that says the same to kubectl.
	KubeconfigPath string
	// Kubectl is the path of a kubectl of the API server's own version.
	Kubectl string
	// Webhooks tell where the API server expects the webhooks of Options to be served, and with which certificate.
	Webhooks envtest.WebhookInstallOptions
	// LogDir is the folder of the logs.
	LogDir string
	// Root is the top folder of the repository.
	Root string

	stateDir    string
	environment *envtest.Environment
	client      client.Client
	children    []*child
	logs        []*os.File
	locked      *os.File

	holdMutex sync.Mutex
	lastProbe string
}

// Start starts a control plane and returns when it is of use. The context bounds the start alone; the control plane
// runs until Stop.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	if options.Name == "" {
		return nil, errors.New("starting the control plane: it needs a name")
	}
	root, err := assets.Root()
	if err != nil {
		return nil, err
	}
	logDir := filepath.Join(root, artifactsDir, options.Name)
	cp := &ControlPlane{Root: root, LogDir: logDir, stateDir: filepath.Join(logDir, "state")}
	if err := cp.start(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the control plane: %w (logs are in %s)", err, cp.LogDir), cp.Stop())
	}
	return cp, nil
}

func (cp *ControlPlane) start(ctx context.Context, options Options) error {
	if err := os.MkdirAll(cp.LogDir, 0o755); err != nil {
		return err
	}
	if err := cp.lock(); err != nil {
		return err
	}
	// A run that was killed left its state behind.
	if err := os.RemoveAll(cp.stateDir); err != nil {
		return err
	}
	if err := os.Mkdir(cp.stateDir, 0o755); err != nil {
		return err
	}
	var err error
	if cp.Kubectl, err = assets.Find(cp.Root, assets.Kubectl); err != nil {
		return err
	}
	if err := cp.startAPIServer(options); err != nil {
		return err
	}
	if cp.client, err = client.New(cp.Config, client.Options{}); err != nil {
		return err
	}
	if options.APIServerOnly {
		return nil
	}
	if err := cp.startWorkers(); err != nil {
		return err
	}
	return cp.prepareCluster(ctx)
}

// lock keeps the folder from being used twice at the same time. The kernel lifts the lock when this process ends.
func (cp *ControlPlane) lock() error {
	file, err := os.Create(filepath.Join(cp.LogDir, "lock"))
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(fmt.Errorf("is another one of its name running? %w", err), file.Close())
	}
	cp.locked = file
	return nil
}

// startAPIServer starts etcd and the API server and installs the CRDs and webhooks.
func (cp *ControlPlane) startAPIServer(options Options) error {
	environment := &envtest.Environment{
		CRDDirectoryPaths:        cp.absolute(options.CRDDirs),
		ErrorIfCRDPathMissing:    true,
		WebhookInstallOptions:    options.Webhooks,
		ControlPlaneStartTimeout: componentTimeout,
		ControlPlaneStopTimeout:  componentTimeout,
	}
	if len(options.CRDDirs) == 0 {
		environment.CRDDirectoryPaths = cp.absolute([]string{crdDir})
	}
	environment.WebhookInstallOptions.Paths = cp.absolute(options.Webhooks.Paths)
	if options.AdvertiseAddress != "" {
		environment.ControlPlane.GetAPIServer().Configure().Set("advertise-address", options.AdvertiseAddress)
	}
	if err := cp.configureServers(environment); err != nil {
		return err
	}

	// envtest starts these two itself and does not tie them to this process, so they are asked to see to it themselves.
	if err := os.Setenv(assets.ParentVariable, strconv.Itoa(os.Getpid())); err != nil {
		return err
	}
	cp.environment = environment
	config, err := environment.Start()
	if err != nil {
		return err
	}
	cp.Config = config
	cp.Webhooks = environment.WebhookInstallOptions
	cp.KubeconfigPath = filepath.Join(cp.LogDir, "kubeconfig")
	return os.WriteFile(cp.KubeconfigPath, environment.KubeConfig, 0o600)
}

func (cp *ControlPlane) configureServers(environment *envtest.Environment) error {
	etcd := &envtest.Etcd{DataDir: filepath.Join(cp.stateDir, "etcd")}
	apiServer := environment.ControlPlane.GetAPIServer()
	environment.ControlPlane.Etcd = etcd
	environment.ControlPlane.KubectlPath = cp.Kubectl

	apiServer.CertDir = filepath.Join(cp.stateDir, "apiserver")
	if err := errors.Join(os.Mkdir(etcd.DataDir, 0o700), os.Mkdir(apiServer.CertDir, 0o700)); err != nil {
		return err
	}
	var err error
	if etcd.Path, err = assets.Find(cp.Root, assets.Etcd); err != nil {
		return err
	}
	if apiServer.Path, err = assets.Find(cp.Root, assets.APIServer); err != nil {
		return err
	}
	if etcd.Out, err = cp.createLog(assets.Etcd); err != nil {
		return err
	}
	if apiServer.Out, err = cp.createLog(assets.APIServer); err != nil {
		return err
	}
	etcd.Err, apiServer.Err = etcd.Out, apiServer.Out

	apiServer.Configure().
		// envtest would turn ServiceAccount off, which the controller manager serves here as in any cluster. The node's
		// not-ready taint goes instead: nobody is there to lift it.
		Set("disable-admission-plugins", "TaintNodesByCondition").
		// envtest's default has room for 254 Services over all tests.
		Set("service-cluster-ip-range", "10.96.0.0/16")
	return nil
}

// AddUser makes credentials for another user than the administrator.
func (cp *ControlPlane) AddUser(user envtest.User) (*rest.Config, error) {
	added, err := cp.environment.AddUser(user, nil)
	if err != nil {
		return nil, fmt.Errorf("adding user %s: %w", user.Name, err)
	}
	return added.Config(), nil
}

// StartProgram starts another program that lives and dies with the control plane. Its output goes to a log of its name.
func (cp *ControlPlane) StartProgram(path string, args ...string) error {
	log, err := cp.createLog(filepath.Base(path))
	if err != nil {
		return err
	}
	c, err := startChild(path, args, log)
	if err != nil {
		return err
	}
	cp.children = append(cp.children, c)
	return nil
}

// Err is an error when a program has ended by itself.
func (cp *ControlPlane) Err() error {
	var errs []error
	for _, c := range cp.children {
		errs = append(errs, c.died())
	}
	return errors.Join(errs...)
}

// Stop stops everything and removes what it left on disk, except for the logs. It fails if something had died before.
func (cp *ControlPlane) Stop() error {
	volumes, volumesErr := cp.volumeDirectories()
	errs := []error{volumesErr}
	for _, c := range cp.children {
		errs = append(errs, c.stop())
	}
	if cp.environment != nil {
		errs = append(errs, cp.environment.Stop())
	}
	for _, log := range cp.logs {
		errs = append(errs, log.Close())
	}
	errs = append(errs, removeVolumeDirectories(volumes))
	if cp.locked != nil {
		errs = append(errs, os.RemoveAll(cp.stateDir), cp.locked.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stopping the control plane: %w", err)
	}
	return nil
}

func (cp *ControlPlane) absolute(paths []string) []string {
	result := make([]string, 0, len(paths))
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(cp.Root, path)
		}
		result = append(result, path)
	}
	return result
}

func (cp *ControlPlane) createLog(name string) (*os.File, error) {
	log, err := os.Create(filepath.Join(cp.LogDir, name+".log"))
	if err == nil {
		cp.logs = append(cp.logs, log)
	}
	return log, err
}
