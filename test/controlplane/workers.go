package controlplane

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/designate-pools/designate-pool-operator/test/controlplane/assets"
)

//go:embed stages/*.yaml
var stages embed.FS

// startWorkers starts what turns a StatefulSet into ready pods.
func (cp *ControlPlane) startWorkers() error {
	caFile := filepath.Join(cp.stateDir, "ca.crt")
	if err := os.WriteFile(caFile, cp.Config.CAData, 0o600); err != nil {
		return err
	}
	stagesFile, err := cp.writeStages()
	if err != nil {
		return err
	}
	workers := []struct {
		program string
		args    []string
	}{
		{assets.ControllerManager, []string{
			"--kubeconfig", cp.KubeconfigPath,
			"--secure-port", "0",
			"--leader-elect=false",
			// Nodes are always well here, and nobody sends heartbeats that would prove it.
			"--controllers", "*,-node-lifecycle-controller,-taint-eviction-controller",
			"--service-account-private-key-file", filepath.Join(cp.environment.ControlPlane.APIServer.CertDir, "sa-signer.key"),
			"--use-service-account-credentials",
			"--root-ca-file", caFile,
			"--enable-hostpath-provisioner",
			// The first claims after a start are missed by the binder until its next full pass, 15 s later by default.
			"--pvclaimbinder-sync-period", "1s",
			"--kube-api-qps", "500", "--kube-api-burst", "1000",
		}},
		{assets.Scheduler, []string{
			"--kubeconfig", cp.KubeconfigPath,
			"--secure-port", "0",
			"--leader-elect=false",
			"--kube-api-qps", "500", "--kube-api-burst", "1000",
		}},
		{assets.Kwok, []string{
			"--kubeconfig", cp.KubeconfigPath,
			"--config", stagesFile,
			"--manage-single-node", NodeName,
			"--node-lease-duration-seconds", "0",
			"--node-ip", "10.244.255.1",
			"--cidr", "10.244.0.0/17",
		}},
	}
	for _, worker := range workers {
		path, err := assets.Find(cp.Root, worker.program)
		if err != nil {
			return err
		}
		if err := cp.StartProgram(path, worker.args...); err != nil {
			return err
		}
	}
	return nil
}

// writeStages writes the embedded stages into one file, as kwok reads them.
func (cp *ControlPlane) writeStages() (string, error) {
	entries, err := stages.ReadDir("stages")
	if err != nil {
		return "", err
	}
	var all []byte
	for _, entry := range entries {
		content, err := stages.ReadFile("stages/" + entry.Name())
		if err != nil {
			return "", err
		}
		all = fmt.Appendf(all, "%s---\n", content)
	}
	path := filepath.Join(cp.stateDir, "stages.yaml")
	return path, os.WriteFile(path, all, 0o600)
}
