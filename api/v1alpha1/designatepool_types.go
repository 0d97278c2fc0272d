package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DesignatePoolSpec is what one Designate pool should be.
//
// +kubebuilder:validation:XValidation:rule="has(self.poolName) == has(oldSelf.poolName) && (!has(self.poolName) || self.poolName == oldSelf.poolName)",message="poolName cannot be changed, set or removed once the pool exists: create another DesignatePool and move the zones"
type DesignatePoolSpec struct {
	// Name of the pool in Designate, 1 to 50 characters of nearly any kind. Meaning metadata.name when left out.
	// It cannot be changed. Two names that Designate's database takes for one (they differ in letter case, accents or
	// trailing spaces only) are one name, which the older DesignatePool holds.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=50
	// +optional
	PoolName string `json:"poolName,omitempty"`

	PoolSettings `json:",inline"`

	// BIND settings of this pool that differ from the DesignateBackend's.
	// +optional
	BIND *PoolBIND `json:"bind,omitempty"`
}

// PoolBIND overrides parts of the DesignateBackend's BIND template for one pool. What is left out is taken from there.
type PoolBIND struct {
	// Compute resources of the BIND container.
	// +kubebuilder:validation:XValidation:rule="!has(self.claims)",message="resource claims are not supported"
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Persistent storage of each server.
	// +optional
	Storage *BINDStorage `json:"storage,omitempty"`

	// Node labels that the pool's servers require, instead of the DesignateBackend's.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// How the pool's servers are spread over zones and nodes, instead of the DesignateBackend's constraints. A constraint
	// without a labelSelector counts the servers of this pool.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// Annotations of the pool's client Services, added to the DesignateBackend's; on equal keys this pool's wins.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	ClientServiceAnnotations map[string]string `json:"clientServiceAnnotations,omitempty"`
}

// DesignatePoolStatus is what the operator has seen of a pool.
type DesignatePoolStatus struct {
	// Name of the pool in Designate.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	PoolName string `json:"poolName,omitempty"`

	// Number of the pool, which names its objects. 0 is the default pool; the others keep theirs for life.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Index *int32 `json:"index,omitempty"`

	// Id of the pool in Designate, a UUID.
	// +kubebuilder:validation:MaxLength=36
	// +optional
	PoolID string `json:"poolID,omitempty"`

	// Name of the StatefulSet that runs the pool's servers.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	StatefulSet string `json:"statefulSet,omitempty"`

	// BIND servers that exist.
	// +optional
	Replicas int32 `json:"replicas"`

	// BIND servers that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// Label selector of the pool's pods, for the scale subresource.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Selector string `json:"selector,omitempty"`

	// The pool's servers, by ordinal. While a pool is scaled to 0, the servers that Designate still lists.
	// +kubebuilder:validation:MaxItems=200
	// +listType=map
	// +listMapKey=ordinal
	// +optional
	Servers []PoolServer `json:"servers,omitempty"`

	// Zones of the pool in Designate. Absent while nobody knows: without access to Designate, or when the last listing is
	// too old to count.
	// +optional
	Zones *PoolZones `json:"zones,omitempty"`

	// Conditions: Accepted, ServersReady, Programmed, TSIGKeyReady, Serving, RemovalBlocked, Ready.
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PoolServer is one BIND server of a pool.
type PoolServer struct {
	// Number of the server within its pool, the same as its pod's.
	// +kubebuilder:validation:Minimum=0
	// +required
	Ordinal int32 `json:"ordinal"`

	// Name of the server's pod.
	// +kubebuilder:validation:MaxLength=253
	// +required
	Pod string `json:"pod"`

	// Address of the client Service, where resolvers ask: the Service's cluster IP, or the address of its load balancer.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ClientAddress string `json:"clientAddress,omitempty"`

	// Address of the control Service, where Designate reaches the server, as pools.yaml names it.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ControlAddress string `json:"controlAddress,omitempty"`

	// Number of the server's RNDC key, unique among all pools.
	// +kubebuilder:validation:Minimum=1
	// +required
	RNDCKey int32 `json:"rndcKey"`

	// Whether the server's pod is ready now.
	// +required
	Ready bool `json:"ready"`

	// Whether the server has joined the pool. Its client Service leads to it from then on.
	// +required
	Joined bool `json:"joined"`

	// How the zones that the server has differ from those of the pool in Designate. Absent while nobody knows: without access
	// to Designate, or when either could not be asked.
	// +optional
	Zones *ServerZones `json:"zones,omitempty"`
}

// ServerZones is how the zones of a server differ from those that Designate has in its pool. What is under way counts
// only once it has been found twice.
type ServerZones struct {
	// Zones of the pool that the server does not answer for.
	// +kubebuilder:validation:Minimum=0
	// +required
	Missing int32 `json:"missing"`

	// Zones that the server has and Designate does not know in the pool: they were deleted while the server was down. They
	// go when the server is rebuilt.
	// +kubebuilder:validation:Minimum=0
	// +required
	Extra int32 `json:"extra"`

	// Zones of which the server has an older serial than Designate.
	// +kubebuilder:validation:Minimum=0
	// +required
	Stale int32 `json:"stale"`
}

// PoolZones are the zones of one pool in Designate, of all projects and in every state.
type PoolZones struct {
	// How many there are, those that are being deleted among them.
	// +kubebuilder:validation:Minimum=0
	// +required
	Total int32 `json:"total"`

	// How many are in each state.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=status
	// +listMapKey=action
	// +optional
	States []ZoneState `json:"states,omitempty"`

	// Names of a few of them.
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:MaxLength=255
	// +listType=atomic
	// +optional
	Names []string `json:"names,omitempty"`

	// When the listing began that these numbers are from, or a later one that found the same: it is brought up to date
	// every few minutes.
	// +required
	ObservedAt metav1.Time `json:"observedAt"`
}

// ZoneState is how many zones are in one state.
type ZoneState struct {
	// Status of the zones in Designate: PENDING, ACTIVE or ERROR.
	// +kubebuilder:validation:MaxLength=32
	// +required
	Status string `json:"status"`

	// What is being done to the zones: CREATE, UPDATE, DELETE or NONE.
	// +kubebuilder:validation:MaxLength=32
	// +required
	Action string `json:"action"`

	// How many zones are in that state.
	// +kubebuilder:validation:Minimum=1
	// +required
	Count int32 `json:"count"`
}

// DesignatePool is one pool of Designate with BIND servers of its own.
//
// Pools that are listed in the ConfigMap designate-multipool-config are made from there: edit the ConfigMap to change
// them. Others may be created as DesignatePools beside them.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.bindReplicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=dpool,categories=designate,scope=Namespaced
// +kubebuilder:printcolumn:name="Pool",type=string,JSONPath=`.status.poolName`,description="Name of the pool in Designate"
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.spec.bindReplicas`,description="BIND servers asked for"
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`,description="BIND servers ready"
// +kubebuilder:printcolumn:name="Zones",type=integer,JSONPath=`.status.zones.total`,description="Zones of all projects in Designate; empty while nobody knows"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Reason of the Ready condition"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Index",type=integer,JSONPath=`.status.index`,priority=1
// +kubebuilder:printcolumn:name="StatefulSet",type=string,JSONPath=`.status.statefulSet`,priority=1
// +kubebuilder:printcolumn:name="Pool-ID",type=string,JSONPath=`.status.poolID`,priority=1
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name must have 63 characters at most, for it is the value of a label; set spec.poolName for the name in Designate"
// +kubebuilder:validation:XValidation:rule="has(self.spec.poolName) || size(self.metadata.name) <= 50",message="metadata.name is the pool's name in Designate and must have 50 characters at most; set spec.poolName to give it another"
type DesignatePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What the pool should be.
	// +required
	Spec DesignatePoolSpec `json:"spec"`

	// What the operator has seen of the pool.
	// +optional
	Status DesignatePoolStatus `json:"status,omitempty"`
}

// PoolName is the pool's name in Designate: spec.poolName, or metadata.name where that is left out.
func (p *DesignatePool) PoolName() string {
	if p.Spec.PoolName != "" {
		return p.Spec.PoolName
	}
	return p.Name
}

// IsDefault says whether this is the pool named default, which every Designate has.
func (p *DesignatePool) IsDefault() bool { return p.PoolName() == DefaultPoolName }

// MadeByBridge says whether the pool follows the ConfigMap designate-multipool-config, or the DesignateBackend.
func (p *DesignatePool) MadeByBridge() bool { return p.Labels[LabelSource] == SourceBridge }

// DesignatePoolList is a list of DesignatePools.
//
// +kubebuilder:object:root=true
type DesignatePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DesignatePool `json:"items"`
}
