package v1alpha1

// Condition types of a DesignatePool.
const (
	// ConditionAccepted: the spec is valid and holds its pool name. While a stored spec is not, the last accepted one
	// stays in force.
	ConditionAccepted = "Accepted"
	// ConditionServersReady: as many BIND servers are ready as were asked for, at the current revision.
	ConditionServersReady = "ServersReady"
	// ConditionProgrammed: Designate and its workers know the pool as pools.yaml has it. Unknown where people apply it.
	ConditionProgrammed = "Programmed"
	// ConditionTSIGKeyReady: the pool's TSIG key is registered in Designate as its servers have it. Absent on the default
	// pool, whose zones are transferred without one.
	ConditionTSIGKeyReady = "TSIGKeyReady"
	// ConditionServing: every server answers for every zone of the pool. Absent without access to Designate, Unknown while
	// Designate or a server could not be asked.
	ConditionServing = "Serving"
	// ConditionRemovalBlocked: removal was asked for and cannot go on. Absent when nobody asked. On a DesignateBackend
	// it carries the reason and the name of the first blocked pool.
	ConditionRemovalBlocked = "RemovalBlocked"
	// ConditionReady: everything that applies to this installation is as it should be.
	ConditionReady = "Ready"
)

// Condition types of a DesignateBackend, beside Accepted, RemovalBlocked and Ready.
const (
	// ConditionMultipoolConfigValid: the ConfigMap designate-multipool-config can be used as it stands. Absent without it.
	ConditionMultipoolConfigValid = "MultipoolConfigValid"
	// ConditionPoolsApplied: the DesignatePools that the bridge makes are as their source says.
	ConditionPoolsApplied = "PoolsApplied"
	// ConditionPoolsYAMLWritten: pools.yaml holds every pool that has servers.
	ConditionPoolsYAMLWritten = "PoolsYAMLWritten"
	// ConditionDesignateReachable: Designate's API answers, and lists the zones of all projects. Absent without access to it.
	ConditionDesignateReachable = "DesignateReachable"
	// ConditionDefaultPoolMatches: Designate's pool default has the id that the DesignateBackend says. Absent without access.
	ConditionDefaultPoolMatches = "DefaultPoolMatches"
	// ConditionPoolNamesDistinct: no pool in Designate bears a name that its database takes for that of another. Absent
	// without access.
	ConditionPoolNamesDistinct = "PoolNamesDistinct"
	// ConditionAttributesHonoured: Designate's scheduler puts zones where their attributes ask for. A warning: Ready does not
	// depend on it. Absent without access.
	ConditionAttributesHonoured = "AttributesHonoured"
	// ConditionWorkersMountKeys: Designate's workers see the Secret of the RNDC keys where pools.yaml says. Absent unless the
	// operator applies pools.yaml.
	ConditionWorkersMountKeys = "WorkersMountKeys"
	// ConditionPoolsProgrammed: Designate knows every pool as pools.yaml has it. Absent unless the operator applies it.
	ConditionPoolsProgrammed = "PoolsProgrammed"
	// ConditionWorkersRestarted: no worker of Designate is left that was started before the last change of servers. Absent
	// unless the operator applies pools.yaml.
	ConditionWorkersRestarted = "WorkersRestarted"
	// ConditionPrimariesReachable: every one of spec.primaries answers the operator. A warning: Ready does not depend on it.
	ConditionPrimariesReachable = "PrimariesReachable"
	// ConditionMigrating: the default pool moves from one mode to the other, or waits for other pools to go before it does. Absent
	// when it does not.
	ConditionMigrating = "Migrating"
)

// Reasons of Accepted.
const (
	// ReasonAccepted: nothing is wrong with the spec.
	ReasonAccepted = "Accepted"
	// ReasonInvalidSpec: the message says what is wrong and where; what was in force before stays. Needs a person.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonPoolNameTaken: an older DesignatePool holds the pool name. Clears itself once that one is gone.
	ReasonPoolNameTaken = "PoolNameTaken"
	// ReasonBackendMissing: the namespace has no DesignateBackend. Clears itself once there is one.
	ReasonBackendMissing = "BackendMissing"
)

// Reasons of ServersReady.
const (
	// ReasonServersReady: all servers are ready at the current revision.
	ReasonServersReady = "ServersReady"
	// ReasonServersNotReady: the message says how many are. Clears itself, unless a server cannot start.
	ReasonServersNotReady = "ServersNotReady"
	// ReasonWaitingForAddress: a control Service has no address yet, so Designate could not reach its server. Clears itself,
	// unless nothing gives load balancers addresses.
	ReasonWaitingForAddress = "WaitingForAddress"
	// ReasonWaitingToJoin: servers are ready, and clients are not led to all of them yet. Clears itself.
	ReasonWaitingToJoin = "WaitingToJoin"
	// ReasonScalingDown: servers that are no longer wanted have not left yet. Clears itself.
	ReasonScalingDown = "ScalingDown"
	// ReasonRollingOut: servers are being replaced one at a time. Clears itself.
	ReasonRollingOut = "RollingOut"
	// ReasonScaledToZero: no server is wanted.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonWaitingForIndex: the pool has no index yet. Clears itself.
	ReasonWaitingForIndex = "WaitingForIndex"
	// ReasonSpecPending: the newest spec is accepted and not in force yet. Clears itself.
	ReasonSpecPending = "SpecPending"
	// ReasonWaitingForKeys: the RNDC keys of some servers do not exist yet. Clears itself.
	ReasonWaitingForKeys = "WaitingForKeys"
	// ReasonNameTaken: an object that this pool needs exists under its name and belongs to something else, which the
	// message names. Needs a person.
	ReasonNameTaken = "NameTaken"
	// ReasonStorageChangeNeeded: the storage asked for differs from that of the existing claims, which cannot be changed
	// in place. Needs a person; the message names the steps.
	ReasonStorageChangeNeeded = "StorageChangeNeeded"
	// ReasonWriteFailed: the API server refused or failed a write, which is retried.
	ReasonWriteFailed = "WriteFailed"
	// ReasonRemoving: the pool's servers are being taken down.
	ReasonRemoving = "Removing"
)

// Reasons of RemovalBlocked.
const (
	// ReasonDesignateAccessMissing: without access to Designate's API nobody can tell whether the pool still has zones.
	// Needs a person: the force annotation.
	ReasonDesignateAccessMissing = "DesignateAccessMissing"
	// ReasonDefaultPoolRequired: the default pool stays as long as its DesignateBackend.
	ReasonDefaultPoolRequired = "DefaultPoolRequired"
	// ReasonOtherPoolsRemain: the default pool goes last. Clears itself.
	ReasonOtherPoolsRemain = "OtherPoolsRemain"
	// ReasonZonesExist: Designate lists zones in the pool; the message says how many, and names a few. Clears itself once
	// they are gone.
	ReasonZonesExist = "ZonesExist"
	// ReasonZonesBeingDeleted: the pool's last zones are being deleted in Designate. Clears itself.
	ReasonZonesBeingDeleted = "ZonesBeingDeleted"
	// ReasonZonesUnknown: Designate has not been asked yet, or its last answer is too old. Clears itself.
	ReasonZonesUnknown = "ZonesUnknown"
	// ReasonServersHoldZones: Designate does not know the pool, and its servers hold zones. Needs a person.
	ReasonServersHoldZones = "ServersHoldZones"
	// ReasonDeletingInDesignate: the point of no return is passed, and Designate is to delete the pool. Clears itself.
	ReasonDeletingInDesignate = "DeletingInDesignate"
	// ReasonConfirmingRemoval: Designate has deleted the pool, whose servers stay until a listing shows that no zone was made in
	// it meanwhile. Clears itself.
	ReasonConfirmingRemoval = "ConfirmingRemoval"
	// ReasonForceAnnotationMismatch: the force annotation does not hold the pool's own name. Needs a person.
	ReasonForceAnnotationMismatch = "ForceAnnotationMismatch"
)

// Reasons of DesignateReachable. RemovalBlocked and Ready take them over.
const (
	// ReasonReachable: the last listing of zones is complete.
	ReasonReachable = "Reachable"
	// ReasonWaitingForListing: this operator has not asked Designate yet. Clears itself.
	ReasonWaitingForListing = "WaitingForListing"
	// ReasonDesignateUnreachable: no answer, or an error from Designate, from Keystone or from something in between.
	// Clears itself.
	ReasonDesignateUnreachable = "DesignateUnreachable"
	// ReasonDesignateOverloaded: Designate asks for patience. Clears itself.
	ReasonDesignateOverloaded = "DesignateOverloaded"
	// ReasonDesignateAnswerUnusable: an answer that cannot be right, such as a listing that ends too soon. Clears itself,
	// unless the address is not that of a Designate.
	ReasonDesignateAnswerUnusable = "DesignateAnswerUnusable"
	// ReasonDesignateRefuses: Designate understood a request and refused it. Needs a person.
	ReasonDesignateRefuses = "DesignateRefuses"
	// ReasonCredentialsRefused: the credentials are wrong, expired, or not those of an administrator. Needs a person.
	ReasonCredentialsRefused = "CredentialsRefused"
	// ReasonCredentialsUnusable: the Secret with clouds.yaml is missing, or the cloud in it cannot be used. Needs a person.
	ReasonCredentialsUnusable = "CredentialsUnusable"
)

// Reasons of DefaultPoolMatches, PoolNamesDistinct and AttributesHonoured. They are Unknown with the reason of
// DesignateReachable while nobody knows.
const (
	// ReasonDefaultPoolMatches: the id is that of the pool default.
	ReasonDefaultPoolMatches = "DefaultPoolMatches"
	// ReasonDefaultPoolMissing: Designate has no pool of that id. Needs a person.
	ReasonDefaultPoolMissing = "DefaultPoolMissing"
	// ReasonDefaultPoolRenamed: the pool of that id has another name in Designate. Needs a person.
	ReasonDefaultPoolRenamed = "DefaultPoolRenamed"
	// ReasonNamesDistinct: every pool name stands for one pool.
	ReasonNamesDistinct = "NamesDistinct"
	// ReasonNameTakenInDesignate: Designate has a pool whose name its database takes for that of one of ours. Needs a person.
	ReasonNameTakenInDesignate = "NameTakenInDesignate"
	// ReasonAttributesHonoured: no zone is known to be elsewhere than where its attributes ask for.
	ReasonAttributesHonoured = "AttributesHonoured"
	// ReasonAttributesIgnored: zones are in one pool while their attributes ask for another. Needs a person: Designate's
	// `scheduler_filters`.
	ReasonAttributesIgnored = "AttributesIgnored"
)

// Reasons of Programmed and PoolsProgrammed.
const (
	// ReasonProgrammed: the last pool update succeeded, and nothing has changed since.
	ReasonProgrammed = "Programmed"
	// ReasonAppliedByAdministrator: `apply: External`, so only people know whether pools.yaml has been applied.
	ReasonAppliedByAdministrator = "AppliedByAdministrator"
	// ReasonPoolUpdatePending: a change waits to be applied; the message says for what. Clears itself.
	ReasonPoolUpdatePending = "PoolUpdatePending"
	// ReasonPoolUpdateRunning: a Job applies the pool. Clears itself.
	ReasonPoolUpdateRunning = "PoolUpdateRunning"
	// ReasonPoolUpdateFailed: the last Job failed; the message says why. It is tried again with growing delays.
	ReasonPoolUpdateFailed = "PoolUpdateFailed"
	// ReasonWaitingForDeletions: zones of the pool are being deleted, which a pool update would undo. Clears itself, after
	// ten minutes in any case.
	ReasonWaitingForDeletions = "WaitingForDeletions"
	// ReasonNoServerYet: no server of the pool has been ready, so Designate has not heard of it. Clears itself.
	ReasonNoServerYet = "NoServerYet"
)

// Reasons of PrimariesReachable.
const (
	// ReasonPrimariesAnswer: each answers DNS over UDP and TCP.
	ReasonPrimariesAnswer = "PrimariesAnswer"
	// ReasonPrimariesSilent: one does not. Needs a person, unless Designate's mdns is about to start.
	ReasonPrimariesSilent = "PrimariesSilent"
)

// Reasons of WorkersMountKeys and WorkersRestarted. Programmed and Ready take them over.
const (
	// ReasonKeysMounted: every workload mounts the Secret as a directory.
	ReasonKeysMounted = "KeysMounted"
	// ReasonKeysNotMounted: a workload does not mount the Secret where pools.yaml says, or mounts single keys of it, which
	// never change. Needs a person.
	ReasonKeysNotMounted = "KeysNotMounted"
	// ReasonWorkerMissing: a workload of spec.designate.poolUpdate.workers does not exist. Needs a person.
	ReasonWorkerMissing = "WorkerMissing"
	// ReasonWorkersUnknown: the workloads could not be read. Clears itself.
	ReasonWorkersUnknown = "WorkersUnknown"
	// ReasonWorkersRestarted: every worker has been started since the last change of servers.
	ReasonWorkersRestarted = "WorkersRestarted"
	// ReasonWorkersRestarting: workers are left that do not know the newest servers. Clears itself, unless new ones cannot
	// start, or something else takes the annotation off again.
	ReasonWorkersRestarting = "WorkersRestarting"
)

// Reasons of TSIGKeyReady, beside those of DesignateReachable.
const (
	// ReasonKeyRegistered: Designate has the key as the servers have it.
	ReasonKeyRegistered = "KeyRegistered"
	// ReasonRegisteredByAdministrator: without access to Designate, only people can register the key.
	ReasonRegisteredByAdministrator = "RegisteredByAdministrator"
	// ReasonKeyAwaitsPool: the key is registered last, once Designate and a server know the pool, for it opens the pool for
	// zones. Clears itself.
	ReasonKeyAwaitsPool = "KeyAwaitsPool"
	// ReasonForeignKey: Designate has a key for the pool that is not the servers'; with two it takes no new zones. Needs a person.
	ReasonForeignKey = "ForeignKey"
	// ReasonKeyNotRegistered: Designate does not have the key yet, or another under its name, which is about to be mended.
	// Clears itself.
	ReasonKeyNotRegistered = "KeyNotRegistered"
)

// Reasons of Serving, beside those of DesignateReachable.
const (
	// ReasonServing: no server lacks a zone.
	ReasonServing = "Serving"
	// ReasonZonesMissing: servers do not answer for zones that Designate has in the pool; the message names them. Clears
	// itself, unless a server cannot transfer them.
	ReasonZonesMissing = "ZonesMissing"
	// ReasonServersNotAsked: servers could not be asked which zones they have. Clears itself.
	ReasonServersNotAsked = "ServersNotAsked"
)

// Reasons of MultipoolConfigValid and PoolsApplied.
const (
	// ReasonValid: the ConfigMap can be used.
	ReasonValid = "Valid"
	// ReasonInvalidConfig: the ConfigMap cannot be used; the last good pools stay. Needs a person.
	ReasonInvalidConfig = "InvalidConfig"
	// ReasonApplied: every DesignatePool that the bridge makes is as its source says.
	ReasonApplied = "Applied"
	// ReasonPoolNotOwned: a DesignatePool of that object name exists and was not made by the bridge. Needs a person.
	ReasonPoolNotOwned = "PoolNotOwned"
	// ReasonPoolBeingRemoved: a pool is being removed and is made again once it is gone. Clears itself.
	ReasonPoolBeingRemoved = "PoolBeingRemoved"
	// ReasonWaitingForMode: the operator has not settled the mode yet. Clears itself.
	ReasonWaitingForMode = "WaitingForMode"
	// ReasonServersMoving: servers of one mode take over from those of the other, one by one; the message says how far they are.
	// Clears itself.
	ReasonServersMoving = "ServersMoving"
	// ReasonWaitingForPools: the ConfigMap is gone, and SinglePool mode comes once its other pools are removed. Clears itself, unless
	// their removal is blocked.
	ReasonWaitingForPools = "WaitingForPools"
	// ReasonRemovalInProgress: the DesignateBackend is being deleted, and its pools with it.
	ReasonRemovalInProgress = "RemovalInProgress"
)

// Reasons of Events that are not reasons of conditions too.
const (
	// EventForcedRemoval: a pool passes the gate because somebody forced it.
	EventForcedRemoval = "ForcedRemoval"
	// EventOrphanedObjects: objects bear the labels of a pool that does not exist; they stay, or are deleted, as the message says.
	EventOrphanedObjects = "OrphanedObjects"
	// EventPoolUpdateFailed: a Job that applies pools failed.
	EventPoolUpdateFailed = "PoolUpdateFailed"
	// EventDeletionsMayBeUndone: a pool was applied while zones of it were being deleted, because they had not gone in time.
	EventDeletionsMayBeUndone = "DeletionsMayBeUndone"
	// EventRebuildingServer: a server is being emptied and filled anew, because somebody asked for it; EventServerRebuilt: it has joined
	// again; EventRebuildRefused: it stays as it is, for the reason that the message says.
	EventRebuildingServer = "RebuildingServer"
	EventServerRebuilt    = "ServerRebuilt"
	EventRebuildRefused   = "RebuildRefused"
	// EventWorkersRestarted: Designate's workers were restarted.
	EventWorkersRestarted = "WorkersRestarted"
	// EventKeyMadeAnew: an RNDC key was lost with every copy; its server and Designate must read the new one. Needs a person.
	EventKeyMadeAnew = "KeyMadeAnew"
)

// Reasons of PoolsYAMLWritten.
const (
	// ReasonWritten: pools.yaml is as it should be.
	ReasonWritten = "Written"
	// ReasonNoServersYet: no pool has had a ready server, so there is nothing to write. Clears itself.
	ReasonNoServersYet = "NoServersYet"
	// ReasonRenderFailed: the rendered text was not usable, so the one before stays. Needs a person: it is a bug.
	ReasonRenderFailed = "RenderFailed"
)

// Reasons of Ready that are not taken from the condition that keeps something from being Ready.
const (
	// ReasonReady: all that applies is as it should be.
	ReasonReady = "Ready"
	// ReasonPoolsNotReady: there is no pool yet, or one without a status. Clears itself.
	ReasonPoolsNotReady = "PoolsNotReady"
	// ReasonPoolVanished: a DesignatePool is gone without having been removed, and its servers are still there. Needs a
	// person; the message names the steps.
	ReasonPoolVanished = "PoolVanished"
	// ReasonStateUnknown: what is there could not be read or recorded, so nothing is changed. Clears itself, unless the
	// message asks for a person.
	ReasonStateUnknown = "StateUnknown"
)
