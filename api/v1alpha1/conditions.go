package v1alpha1

// The condition types; their meaning follows kstatus.
const (
	// ConditionReady is Unknown while a campaign runs, True when it has finished, False when it needs a person.
	ConditionReady = "Ready"
	// ConditionReconciling is True while a campaign works towards its verdict.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when a person has to act; it clears itself when the cause is gone.
	ConditionStalled = "Stalled"
	// ConditionConclusive says whether the answer can be trusted, and if not, why.
	ConditionConclusive = "Conclusive"
)

// Reasons of Ready, Reconciling and Stalled.
const (
	ReasonProgressing        = "Progressing"
	ReasonFinished           = "Finished"
	ReasonSuspended          = "Suspended"
	ReasonInvalidSpec        = "InvalidSpec"
	ReasonUnschedulable      = "Unschedulable"
	ReasonImagePullFailed    = "ImagePullFailed"
	ReasonProvisioningFailed = "ProvisioningFailed"
	ReasonTrialBlocked       = "TrialBlocked"
	ReasonCleanUpBlocked     = "CleanUpBlocked"
	ReasonNameConflict       = "NameConflict"
	ReasonNothingMeasured    = "NothingMeasured"
	// ReasonQueued: another campaign has, or comes first to, nodes that this one may share with it.
	ReasonQueued = "Queued"
	// ReasonPluginMissing: OpenSearch lacks a plugin that the load or the topology needs.
	ReasonPluginMissing = "PluginMissing"
	// ReasonOperatorMissing: the cluster has no opensearch-k8s-operator, which the spec asks for.
	ReasonOperatorMissing = "OperatorMissing"
	// ReasonForbidden: the API server refuses an object that is needed, for a quota or for the namespace's pod security.
	ReasonForbidden = "Forbidden"
)

// Reasons of Conclusive.
const (
	ReasonConclusive         = "Conclusive"
	ReasonNotFinished        = "NotFinished"
	ReasonKneeNotFound       = "KneeNotFound"
	ReasonPeakAtRangeEdge    = "PeakAtRangeEdge"
	ReasonPeakGated          = "PeakGated"
	ReasonNoSharedClients    = "NoSharedClients"
	ReasonTrialsFailed       = "TrialsFailed"
	ReasonTrialsGated        = "TrialsGated"
	ReasonTooFewRepetitions  = "TooFewRepetitions"
	ReasonNotDistinguishable = "NotDistinguishable"
	ReasonLoaderShared       = "LoaderShared"
	// ReasonEnvironmentMismatch: a thing that the campaign declares the same differs between the cells compared.
	ReasonEnvironmentMismatch = "EnvironmentMismatch"
	// ReasonClientBound: the loader was the limit at a peak, a knee or in a Final.
	ReasonClientBound = "ClientBound"
	// ReasonDiskBound: a disk was within 10 % of its declared limit there.
	ReasonDiskBound = "DiskBound"
	// ReasonCPUThrottled: the CPU limit of OpenSearch's container held it back there.
	ReasonCPUThrottled = "CPUThrottled"
	// ReasonMemoryNotLocked: bootstrap.memory_lock is true, and OpenSearch did not lock its memory.
	ReasonMemoryNotLocked = "MemoryNotLocked"
	// ReasonOrderConfounded: docs/s moved with the order of the runs, or the cells were not interleaved.
	ReasonOrderConfounded = "OrderConfounded"
	// ReasonPlacementsShared: placements of a cell ran on the same machines, so that their spread is not that from machine
	// to machine.
	ReasonPlacementsShared = "PlacementsShared"
	// ReasonGatesNotEvaluable: gates look at what could not be seen, and gates.notEvaluable has that reported.
	ReasonGatesNotEvaluable = "GatesNotEvaluable"
	// ReasonNotSteady: a timed load gave no steady window where one was asked for.
	ReasonNotSteady = "NotSteady"
)

// MaxCells is how many cells a campaign may have.
const MaxCells = 32
