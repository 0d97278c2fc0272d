package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Mode says how many pools a namespace runs.
// +kubebuilder:validation:Enum=SinglePool;MultiPool
type Mode string

const (
	// SinglePool is one pool, default, described by the DesignateBackend.
	SinglePool Mode = "SinglePool"
	// MultiPool is the default pool and any others, described by the ConfigMap designate-multipool-config and by
	// DesignatePools.
	MultiPool Mode = "MultiPool"
)

// DesignateBackendSpec is what all pools of a namespace share.
type DesignateBackendSpec struct {
	// Designate's mdns servers, from which BIND transfers zones: the `masters` of pools.yaml.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=address
	// +listMapKey=port
	// +required
	Primaries []Primary `json:"primaries"`

	// The default pool in single-pool mode, while there is no ConfigMap designate-multipool-config. With that
	// ConfigMap, its entry named default counts instead.
	// +required
	DefaultPool PoolSettings `json:"defaultPool"`

	// The BIND servers of all pools.
	// +required
	BIND BINDTemplate `json:"bind"`

	// What the operator knows of Designate.
	// +kubebuilder:default={}
	// +optional
	Designate Designate `json:"designate,omitempty"`
}

// Primary is one mdns server of Designate.
type Primary struct {
	// IP address, IPv4 or IPv6. BIND takes no host name here.
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="must be an IP address: BIND takes no host name for a primary"
	// +required
	Address string `json:"address"`

	// Port of mdns.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:default=5354
	// +optional
	Port int32 `json:"port,omitempty"`
}

// BINDTemplate shapes the BIND servers of all pools.
type BINDTemplate struct {
	// Container image with BIND 9.18 or newer, whose `named` and `named-checkconf` are on the PATH.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +required
	Image string `json:"image"`

	// Secrets of this namespace with which the image is pulled.
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Networks from which servers take NOTIFY and rndc and answer the statistics channel: those of Designate's workers
	// and of this operator. A NOTIFY comes from a worker, not from a primary.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=49
	// +kubebuilder:validation:items:XValidation:rule="isCIDR(self)",message="must be a network in CIDR notation, such as 10.0.0.0/8"
	// +listType=set
	// +required
	ControlCIDRs []string `json:"controlCIDRs"`

	// Further statements for the `options` block of named.conf, one each, such as `minimal-responses yes;`.
	// Statements that the operator sets itself are refused.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=atomic
	// +optional
	Options []string `json:"options,omitempty"`

	// Compute resources of the BIND container.
	// +kubebuilder:validation:XValidation:rule="!has(self.claims)",message="resource claims are not supported"
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// Persistent storage of each server.
	// +kubebuilder:default={}
	// +optional
	Storage BINDStorage `json:"storage,omitempty"`

	// Services at which resolvers ask the servers, one for each server.
	// +kubebuilder:default={}
	// +optional
	ClientService ServiceTemplate `json:"clientService,omitempty"`

	// Services at which Designate reaches the servers (DNS, rndc, statistics), one for each server.
	// LoadBalancer is for a Designate outside the cluster.
	// +kubebuilder:default={}
	// +optional
	ControlService ServiceTemplate `json:"controlService,omitempty"`

	// Node labels that the servers require.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Taints that the servers tolerate.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// How the servers of a pool are spread over zones and nodes. A constraint without a labelSelector counts the
	// servers of one pool. When left out, they are kept on different nodes where that can be.
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// Priority class of the servers' pods.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// Designate is what the operator knows of the Designate that it serves.
//
// +kubebuilder:validation:XValidation:rule="!has(self.apply) || self.apply != 'Job' || has(self.poolUpdate)",message="apply: Job needs poolUpdate"
type Designate struct {
	// Id of the pool default: the `default_pool_id` of Designate's configuration.
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`
	// +kubebuilder:validation:MaxLength=36
	// +kubebuilder:default="794ccc2c-d751-44fe-b57f-8894c9f5c842"
	// +optional
	DefaultPoolID string `json:"defaultPoolID,omitempty"`

	// Directory in which Designate's worker sees the keys of the Secret designate-bind-secret.
	// pools.yaml names each key file as this directory and `rndc-key-N`.
	// +kubebuilder:validation:Pattern=`^/[A-Za-z0-9._/-]*$`
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:default="/etc/designate/rndc-keys"
	// +optional
	RNDCKeyDirectory string `json:"rndcKeyDirectory,omitempty"`

	// How the operator reaches Designate's API. Left out, it does not: zones are not counted, and the removal of a pool
	// waits for a person.
	// +optional
	Access *DesignateAccess `json:"access,omitempty"`

	// How often the zones of all projects are listed, at least 5s. A listing that takes long is made less often than
	// this, so that it keeps Designate busy for a twentieth of the time at most.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('5s') && duration(self) <= duration('24h')",message="must be 5s to 24h"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:default="1m"
	// +optional
	PollInterval *metav1.Duration `json:"pollInterval,omitempty"`

	// How long Designate's services wait for each other: the `rpc_response_timeout` of its configuration, 0s to 1h. The servers of
	// a pool that Designate has deleted stay for so long at least, until it is certain that no zone was made in it meanwhile.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('1h')",message="must be 0s to 1h"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:default="1m"
	// +optional
	RPCResponseTimeout *metav1.Duration `json:"rpcResponseTimeout,omitempty"`

	// Who applies pools.yaml to Designate: External is people or their installer, Job is the operator, with Jobs that run
	// `designate-manage pool update`.
	// +kubebuilder:default=External
	// +optional
	Apply ApplyMode `json:"apply,omitempty"`

	// How the operator applies pools.yaml, with `apply: Job`.
	// +optional
	PoolUpdate *PoolUpdate `json:"poolUpdate,omitempty"`
}

// DesignateAccess is how the operator reaches Designate's API: through Keystone, or at a fixed endpoint.
//
// +kubebuilder:validation:XValidation:rule="has(self.cloudCredentialsRef) != has(self.endpoint)",message="set either cloudCredentialsRef or endpoint"
type DesignateAccess struct {
	// Credentials of an administrator of Designate, who may list the zones of all projects.
	// +optional
	CloudCredentialsRef *CloudCredentialsRef `json:"cloudCredentialsRef,omitempty"`

	// URL of the API of a Designate without Keystone (`auth_strategy = noauth`), without the `/v2`, such as
	// `http://designate-api.openstack.svc:9001`. Whoever reaches it is an administrator there.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHost() != ''",message="must be an http or https URL"
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
}

// CloudCredentialsRef names a cloud of a clouds.yaml in a Secret of this namespace.
type CloudCredentialsRef struct {
	// Name of the Secret. Its key `clouds.yaml` is OpenStack's file of that name; its key `cacert`, where there is one,
	// the certificates in PEM form that the cloud's endpoints are checked against.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	SecretName string `json:"secretName"`

	// Name of the cloud in clouds.yaml.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +required
	CloudName string `json:"cloudName"`
}

// Count is how many of something there are, and how many of them are ready.
type Count struct {
	// How many there should be.
	// +required
	Total int32 `json:"total"`
	// How many of them are ready.
	// +required
	Ready int32 `json:"ready"`
}

// DesignateBackendStatus is what the operator has seen of all pools together.
type DesignateBackendStatus struct {
	// Whether this namespace runs one pool or several. It follows the ConfigMap designate-multipool-config.
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// Pools, and how many are Ready.
	// +optional
	Pools *Count `json:"pools,omitempty"`

	// BIND servers of all pools, and how many are ready.
	// +optional
	Servers *Count `json:"servers,omitempty"`

	// SHA-256 of the pools.yaml last written, in hexadecimal.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	PoolsYAMLHash string `json:"poolsYAMLHash,omitempty"`

	// Zones of all pools in Designate, those of pools that are not ours included. Absent while nobody knows.
	// +optional
	Zones *ZoneListing `json:"zones,omitempty"`

	// Conditions: Accepted, MultipoolConfigValid, PoolsApplied, PoolsYAMLWritten, DesignateReachable, DefaultPoolMatches,
	// PoolNamesDistinct, AttributesHonoured, PrimariesReachable, WorkersMountKeys, PoolsProgrammed, WorkersRestarted,
	// Migrating, RemovalBlocked, Ready.
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ZoneListing is a listing of the zones of all projects in Designate.
type ZoneListing struct {
	// How many zones there are, of all projects and in every state.
	// +kubebuilder:validation:Minimum=0
	// +required
	Total int32 `json:"total"`

	// When the listing began, or a later one that found the same number: it is brought up to date every few minutes.
	// +required
	Began metav1.Time `json:"began"`

	// When that listing ended.
	// +required
	Ended metav1.Time `json:"ended"`
}

// DesignateBackend says what all Designate pools of a namespace share: Designate's mdns servers, the BIND template, and
// the default pool of single-pool mode. Deleting it removes every pool of the namespace, each once its zones are gone.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=dbackend,categories=designate,scope=Namespaced
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.status.mode`
// +kubebuilder:printcolumn:name="Pools",type=integer,JSONPath=`.status.pools.total`,description="Pools"
// +kubebuilder:printcolumn:name="Servers",type=integer,JSONPath=`.status.servers.total`,description="BIND servers of all pools"
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.servers.ready`,description="BIND servers ready"
// +kubebuilder:printcolumn:name="Zones",type=integer,JSONPath=`.status.zones.total`,description="Zones of all projects and pools in Designate; empty while nobody knows"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Reason of the Ready condition"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'designate'",message="a namespace has one DesignateBackend, and it is named designate"
type DesignateBackend struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What all pools share.
	// +required
	Spec DesignateBackendSpec `json:"spec"`

	// What the operator has seen of all pools together.
	// +optional
	Status DesignateBackendStatus `json:"status,omitempty"`
}

// DesignateBackendList is a list of DesignateBackends.
//
// +kubebuilder:object:root=true
type DesignateBackendList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DesignateBackend `json:"items"`
}
