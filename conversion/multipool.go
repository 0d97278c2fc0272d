package conversion

import (
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// ConfiguredPool is one pool of the multipool ConfigMap.
type ConfiguredPool struct {
	// Name of the pool in Designate.
	Name string
	// Line of the pools text at which the pool begins.
	Line int
	// PoolSettings of the pool, as NormalizeSettings has them.
	v1alpha1.PoolSettings
}

// MultipoolConfig is what the multipool ConfigMap says.
type MultipoolConfig struct {
	// Pools in the order of the text.
	Pools []ConfiguredPool
	// Warnings name what is legal but likely wrong.
	Warnings []string
}

// ParseConfigMap reads the pools of the multipool ConfigMap. The error is of type Problems and holds every fault.
func ParseConfigMap(cm *corev1.ConfigMap) (*MultipoolConfig, error) {
	return ParseMultipool(cm.Data[v1alpha1.MultipoolConfigKey])
}

// ParseMultipool reads the text that the multipool ConfigMap holds under its key pools. The error is of type Problems
// and holds every fault.
func ParseMultipool(text string) (*MultipoolConfig, error) {
	return nil, errors.New("not there yet")
}
