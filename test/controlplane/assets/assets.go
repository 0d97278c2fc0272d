// Package assets finds and builds the programs of the test control plane.
//
// They are built from Go modules into the repository's .tools folder, each into a folder named by what it was built
// from. A folder that is there is complete and is never built again.
package assets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/designate-pools/designate-pool-operator/test/internal/folder"
)

const (
	// DirectoryVariable names the environment variable that points at other people's binaries of Kubernetes, as
	// setup-envtest downloads them. Programs that are not there come from the .tools folder.
	DirectoryVariable = "KUBEBUILDER_ASSETS"
	// ParentVariable names the environment variable that tells the servers built from test/kubernetes which process
	// they must not outlive.
	ParentVariable = "EXIT_WITH_PARENT"

	kwokVersion = "v0.8.0"
	toolsDir    = ".tools"
	sourceDir   = "test/kubernetes"
	binaryName  = "kubernetes"
)

// The programs of the control plane, and of a node.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"
	Proxy             = "kube-proxy"
	Kubectl           = "kubectl"
	Kwok              = "kwok"
)

// KubernetesPrograms are the names that the binary of test/kubernetes answers to.
var KubernetesPrograms = []string{Etcd, APIServer, ControllerManager, Scheduler, Kubelet, Proxy, Kubectl}

// ErrMissing says that a program has not been built.
var ErrMissing = errors.New("run `make control-plane` to build the programs of the test control plane")

// Root is the top folder of the repository, found upwards from the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	for start := dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, sourceDir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("finding the repository: no folder above %s holds %s/go.mod", start, sourceDir)
		}
	}
}

// Find is the path of a program. It fails with ErrMissing when the program has not been built.
func Find(root, program string) (string, error) {
	var candidates []string
	if dir := os.Getenv(DirectoryVariable); dir != "" {
		candidates = append(candidates, filepath.Join(dir, program))
	}
	built, err := builtPath(root, program)
	if err != nil {
		return "", err
	}
	candidates = append(candidates, built)
	for _, path := range candidates {
		if isExecutable(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not at %s: %w", program, strings.Join(candidates, " nor at "), ErrMissing)
}

// Kubernetes is the path of the one binary that is all of KubernetesPrograms, whatever the environment says. It fails with
// ErrMissing when that has not been built.
func Kubernetes(root string) (string, error) {
	path, err := builtPath(root, binaryName)
	if err == nil && !isExecutable(path) {
		err = fmt.Errorf("no Kubernetes at %s: %w", path, ErrMissing)
	}
	return path, err
}

func builtPath(root, program string) (string, error) {
	if program == Kwok {
		return filepath.Join(kwokDir(root), Kwok), nil
	}
	dir, err := kubernetesDir(root)
	return filepath.Join(dir, program), err
}

func kwokDir(root string) string {
	return filepath.Join(root, toolsDir, "kwok-"+kwokVersion)
}

func kubernetesDir(root string) (string, error) {
	key, err := kubernetesKey(filepath.Join(root, sourceDir))
	return filepath.Join(root, toolsDir, "kubernetes-"+key), err
}

// kubernetesKey stands for what is in a folder of Kubernetes: the module's files, the Go version, and the links.
func kubernetesKey(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	files = append(files, filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum"))
	slices.Sort(files)
	parts := append([]string{runtime.Version(), runtime.GOOS, runtime.GOARCH}, KubernetesPrograms...)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("hashing the sources of Kubernetes: %w", err)
		}
		parts = append(parts, filepath.Base(file), string(content))
	}
	return folder.Key(parts...), nil
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
