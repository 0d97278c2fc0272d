package harness

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// Backend is a DesignateBackend whose default pool has a number of servers.
func Backend(namespace string, replicas int32) *v1alpha1.DesignateBackend {
	return &v1alpha1.DesignateBackend{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.BackendName},
		Spec: v1alpha1.DesignateBackendSpec{
			Primaries: []v1alpha1.Primary{{Address: "192.0.2.10", Port: 5354}},
			DefaultPool: v1alpha1.PoolSettings{
				BINDReplicas: replicas,
				NSRecords:    []v1alpha1.NSRecord{{Hostname: "ns1.example.org.", Priority: 1}},
			},
			BIND: v1alpha1.BINDTemplate{Image: "registry.example.org/bind9:9.18", ControlCIDRs: []string{"10.0.0.0/8"}},
		},
	}
}

// MultipoolConfig is the ConfigMap with a pools text.
func MultipoolConfig(namespace, pools string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.MultipoolConfigMapName},
		Data:       map[string]string{v1alpha1.MultipoolConfigKey: pools},
	}
}

// PoolBuilder builds a DesignatePool.
type PoolBuilder struct{ pool v1alpha1.DesignatePool }

// MakePool begins a valid DesignatePool with one server.
func MakePool(namespace, name string) *PoolBuilder {
	return &PoolBuilder{v1alpha1.DesignatePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.DesignatePoolSpec{PoolSettings: v1alpha1.PoolSettings{
			BINDReplicas: 1,
			NSRecords:    []v1alpha1.NSRecord{{Hostname: "ns1." + name + ".example.org.", Priority: 1}},
		}},
	}}
}

// PoolName sets the name in Designate.
func (b *PoolBuilder) PoolName(name string) *PoolBuilder { b.pool.Spec.PoolName = name; return b }

// Replicas sets the number of servers.
func (b *PoolBuilder) Replicas(replicas int32) *PoolBuilder {
	b.pool.Spec.BINDReplicas = replicas
	return b
}

// Obj is the pool.
func (b *PoolBuilder) Obj() *v1alpha1.DesignatePool { return b.pool.DeepCopy() }
