// Package builders makes the objects that run the BIND servers of a pool. Every builder is a pure function from what a
// pool should be to an apply configuration: no client, no clock. What the API server would fill in is written out, so
// that an object extracted from the cluster equals the one built and a reconcile that changes nothing writes nothing.
package builders

import (
	"fmt"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// baseName is what the names of everything that serves DNS begin with. Existing deployments use it too.
const baseName = "designate-backendbind9"

// StatefulSetName is the name of the StatefulSet of the pool with an index. The only pool of single-pool mode keeps the
// original name, without an index.
func StatefulSetName(mode v1alpha1.Mode, index int32) string {
	if mode == v1alpha1.SinglePool && index == 0 {
		return baseName
	}
	return poolBaseName(index)
}

// PodName is the name of the pod of a server.
func PodName(statefulSet string, ordinal int32) string {
	return fmt.Sprintf("%s-%d", statefulSet, ordinal)
}

// ClaimName is the name of the claim of a pod.
func ClaimName(pod string) string { return zoneVolume + "-" + pod }

// ClientServiceName is the name of the Service at which resolvers ask a server. It does not depend on the mode, so
// that a migration changes no address.
func ClientServiceName(index, ordinal int32) string {
	if index == 0 {
		return fmt.Sprintf("%s-%d", baseName, ordinal)
	}
	return fmt.Sprintf("%s-%d", poolBaseName(index), ordinal)
}

// ControlServiceName is the name of the Service at which Designate reaches a server.
func ControlServiceName(statefulSet string, ordinal int32) string {
	return fmt.Sprintf("%s-%d-control", statefulSet, ordinal)
}

// KeySecretName is the name of the Secret with the RNDC keys of one pool's servers.
func KeySecretName(index int32) string { return poolBaseName(index) + "-rndc" }

// TSIGSecretName is the name of the Secret with the TSIG key of one pool.
func TSIGSecretName(index int32) string { return poolBaseName(index) + tsigSuffix }

// ConfigMapName is the name of the ConfigMap with the BIND configuration of one pool.
func ConfigMapName(index int32) string { return poolBaseName(index) + "-config" }

// DisruptionBudgetName is the name of the PodDisruptionBudget of one pool.
func DisruptionBudgetName(index int32) string { return poolBaseName(index) }

func poolBaseName(index int32) string { return fmt.Sprintf("%s-pool%d", baseName, index) }
