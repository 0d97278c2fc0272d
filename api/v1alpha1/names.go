package v1alpha1

// Names of objects that people or Designate know. Names derived from a pool are made in package conversion and
// package builders.
const (
	// DefaultPoolName is the name of the pool that every Designate has.
	DefaultPoolName = "default"
	// BackendName is the name of the one DesignateBackend of a namespace.
	BackendName = "designate"
	// MultipoolConfigMapName is the ConfigMap in which operators list their pools.
	MultipoolConfigMapName = "designate-multipool-config"
	// MultipoolConfigKey is the key of the list in MultipoolConfigMapName.
	MultipoolConfigKey = "pools"
	// LedgerName is the ConfigMap that records what must survive the loss of every status.
	LedgerName = "designate-pool-ledger"
	// LedgerKey is the key of the record in LedgerName.
	LedgerKey = "ledger"
	// PoolsYAMLName is the ConfigMap that holds Designate's pools.yaml.
	PoolsYAMLName = "designate-pools-yaml-config-map"
	// PoolsYAMLKey is the key of pools.yaml in PoolsYAMLName.
	PoolsYAMLKey = "pools-yaml-content"
	// RNDCSecretName is the Secret that holds the RNDC keys of all servers, for Designate's worker.
	RNDCSecretName = "designate-bind-secret"
)

// Labels of the objects that the operator makes.
const (
	// LabelPool is the name of the DesignatePool that an object belongs to.
	LabelPool = "designate.openstack.org/pool"
	// LabelPoolUID is the UID of that DesignatePool. It, and not the name, decides whom an object belongs to.
	LabelPoolUID = "designate.openstack.org/pool-uid"
	// LabelPoolIndex is the pool's index.
	LabelPoolIndex = "designate.openstack.org/pool-index"
	// LabelOrdinal is the number of the server that a Service leads to.
	LabelOrdinal = "designate.openstack.org/ordinal"
	// LabelServiceRole tells client from control Services.
	LabelServiceRole = "designate.openstack.org/service-role"
	// LabelManagedBy marks everything that the operator makes; its value is ManagedByOperator.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedByOperator is the value of LabelManagedBy.
	ManagedByOperator = "designate-pool-operator"
	// LabelPoolUpdateRun marks a Job that applies pools, and its input; its value is the number of the run.
	LabelPoolUpdateRun = "designate.openstack.org/pool-update-run"
	// LabelSource marks a DesignatePool that the bridge made; its value is SourceBridge.
	LabelSource = "designate.openstack.org/source"
	// SourceBridge is the value of LabelSource.
	SourceBridge = "bridge"
)

// Values of LabelServiceRole.
const (
	// ServiceRoleClient is the role of the Service at which resolvers ask a server.
	ServiceRoleClient = "client"
	// ServiceRoleControl is the role of the Service at which Designate reaches a server.
	ServiceRoleControl = "control"
)

// Annotations.
const (
	// AnnotationPoolName is the name in Designate of the pool that an object belongs to; it may not fit a label.
	AnnotationPoolName = "designate.openstack.org/pool-name"
	// AnnotationPoolID is the id in Designate of the pool that a StatefulSet belongs to.
	AnnotationPoolID = "designate.openstack.org/pool-id"
	// AnnotationRNDCKey is the number of the RNDC key of the server that a control Service leads to.
	AnnotationRNDCKey = "designate.openstack.org/rndc-key"
	// AnnotationConfigHash is the hash of the configuration that a pod started with.
	AnnotationConfigHash = "designate.openstack.org/config-hash"
	// AnnotationReminded is when the StatefulSet controller was last reminded of a pod that it had not made (RFC 3339).
	AnnotationReminded = "designate.openstack.org/reminded"
	// AnnotationRemovalRequested marks a DesignatePool that has left the ConfigMap; its value is when (RFC 3339).
	AnnotationRemovalRequested = "designate.openstack.org/removal-requested"
	// AnnotationForceRemoval lets a DesignatePool go without asking Designate whether it still has zones. Its value must
	// be the pool's own name in Designate. Zones of the pool are lost to their clients.
	AnnotationForceRemoval = "designate.openstack.org/force-removal"
	// AnnotationRebuildServer asks on a DesignatePool that one of its servers be emptied and filled anew. Its value is the ordinal of
	// the server; it is taken off once that begins.
	AnnotationRebuildServer = "designate.openstack.org/rebuild-server"
	// AnnotationRestartedFor marks the pod template of Designate's workers with the run after which they were restarted last.
	AnnotationRestartedFor = "designate.openstack.org/restarted-for-pool-update"
)

// Finalizers.
const (
	// PoolFinalizer holds a DesignatePool until its zones, servers and Services are gone.
	PoolFinalizer = "designate.openstack.org/pool-protection"
	// BackendFinalizer holds a DesignateBackend until its pools are gone.
	BackendFinalizer = "designate.openstack.org/backend-protection"
)
