package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Limits that Designate sets, checked by the CRD schema, the webhooks and the ConfigMap parser alike. Lengths count
// characters, as Designate's database does.
const (
	// MaxPoolNameLength bounds a pool's name (Designate: pools.name).
	MaxPoolNameLength = 50
	// MaxDescriptionLength bounds a pool's description (Designate: pools.description).
	MaxDescriptionLength = 160
	// MaxAttributeLength bounds an attribute's key and its value (Designate: pool_attributes).
	MaxAttributeLength = 50
	// MaxHostnameLength bounds an NS host name in presentation form, trailing dot included (RFC 1035, section 2.3.4).
	MaxHostnameLength = 254
	// MinNSRecordPriority and MaxNSRecordPriority bound an NS record's priority (Designate: pool_ns_records).
	MinNSRecordPriority = 1
	MaxNSRecordPriority = 10000
)

// Limits of ours: far above what anybody runs, so that a slip of the keyboard does no harm.
const (
	// MaxReplicas bounds the BIND servers of one pool.
	MaxReplicas = 100
	// MaxNSRecords bounds the NS records of one pool.
	MaxNSRecords = 64
	// MaxAttributes bounds the attributes of one pool.
	MaxAttributes = 64
	// MaxServers bounds the servers of all pools of one multipool ConfigMap, so that pools.yaml and the Secret of their keys
	// stay below what one object may hold.
	MaxServers = 1500
	// MaxPools bounds the pools of one multipool ConfigMap.
	MaxPools = 500
)

// PoolSettings is what people say of a pool, wherever they say it: in a DesignatePool, as the DesignateBackend's default
// pool, or in the ConfigMap designate-multipool-config.
type PoolSettings struct {
	// Description of the pool in Designate, 160 characters at most.
	// +kubebuilder:validation:MaxLength=160
	// +optional
	Description string `json:"description,omitempty"`

	// Attributes by which Designate's scheduler chooses this pool for a new zone, for example
	// `availability_zone: az1`. Keys and values have 50 characters at most. A pool without attributes matches
	// every zone.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) >= 1 && size(key) <= 50 && size(self[key]) <= 50)",message="attribute keys must have 1 to 50 characters, values 50 at most"
	// +mapType=atomic
	// +optional
	Attributes map[string]string `json:"attributes,omitempty"`

	// Number of BIND servers. 0 stops them all; the pool stays in Designate with its last servers.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +required
	BINDReplicas int32 `json:"bindReplicas"`

	// NS records that Designate writes into every zone of the pool, each host name once.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(record, self.exists_one(other, other.hostname == record.hostname))",message="each hostname must be there once"
	// +listType=atomic
	// +required
	NSRecords []NSRecord `json:"nsRecords"`
}

// NSRecord is one NS record that Designate writes into every zone of a pool.
type NSRecord struct {
	// Host name of a name server, absolute. The trailing dot may be left out and is added.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=254
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.?$`
	// +required
	Hostname string `json:"hostname"`

	// Order in which Designate lists the pool's NS records, lowest first.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +required
	Priority int32 `json:"priority"`
}

// BINDStorage is the persistent volume claim of each BIND server. Its content is a copy of what Designate holds: it
// lets a server that restarts serve its zones at once, and it is deleted with its server.
type BINDStorage struct {
	// Size of the claim of each server. A claim's size cannot be changed by the operator once the servers exist.
	// +kubebuilder:default="1Gi"
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`

	// StorageClass of the claims; the cluster's default class when left out.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:MinLength=1
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty"`
}

// ServiceTemplate shapes the Services of one purpose.
type ServiceTemplate struct {
	// Type of the Services.
	// +kubebuilder:validation:Enum=ClusterIP;LoadBalancer
	// +kubebuilder:default=ClusterIP
	// +optional
	Type corev1.ServiceType `json:"type,omitempty"`

	// Annotations of the Services, for example those that a load balancer reads.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}
