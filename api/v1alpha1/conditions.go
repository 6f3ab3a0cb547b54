package v1alpha1

// The condition types; their meaning follows kstatus.
const (
	// ConditionReady is Unknown while a campaign runs, True when it has finished, and False when the user must act.
	ConditionReady = "Ready"
	// ConditionReconciling is True while a campaign works towards its verdict.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when the user must act. It becomes False when the cause is removed.
	ConditionStalled = "Stalled"
	// ConditionConclusive is True if the result can be trusted. Otherwise its reason names the cause.
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
	// ReasonQueued: the campaign waits for nodes. Another campaign uses these nodes, or is ahead in the queue for them.
	ReasonQueued = "Queued"
	// ReasonPluginMissing: OpenSearch lacks a plugin that the load or the topology needs.
	ReasonPluginMissing = "PluginMissing"
	// ReasonOperatorMissing: the spec requires the opensearch-k8s-operator, which the Kubernetes cluster lacks.
	ReasonOperatorMissing = "OperatorMissing"
	// ReasonDeadlineExceeded: the campaign took longer than spec.activeDeadlineSeconds.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonForbidden: a quota or the namespace's pod security refuses an object that the campaign needs.
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
	// ReasonRepeatsMissing: some repeats of a sweep point at a knee or a peak are Errored.
	ReasonRepeatsMissing = "RepeatsMissing"
	// ReasonJVMStartsNotMeasured: repetitions of a compared cell ran in one JVM, so their spread does not show the difference
	// between starts of a JVM.
	ReasonJVMStartsNotMeasured = "JVMStartsNotMeasured"
	// ReasonNoiseUnequal: the Finals of two compared cells have very different noise.
	ReasonNoiseUnequal = "NoiseUnequal"
	// ReasonDriftInSweep: docs/s changed while a sweep ran, so the client counts are not comparable.
	ReasonDriftInSweep = "DriftInSweep"
	// ReasonKneeUnstable: the stability of a knee is known and below 50 %.
	ReasonKneeUnstable = "KneeUnstable"
	// ReasonEnvironmentMismatch: the environments of compared cells differ in something that the campaign does not declare.
	ReasonEnvironmentMismatch = "EnvironmentMismatch"
	// ReasonClientBound: the loader was the limit at a peak, a knee or in a Final.
	ReasonClientBound = "ClientBound"
	// ReasonDiskBound: at a peak, a knee or in a Final a disk was within 10 % of its declared limit.
	ReasonDiskBound = "DiskBound"
	// ReasonCPUThrottled: at a peak, a knee or in a Final the CPU limit throttled OpenSearch's container.
	ReasonCPUThrottled = "CPUThrottled"
	// ReasonMemoryNotLocked: bootstrap.memory_lock is true, and OpenSearch did not lock its memory.
	ReasonMemoryNotLocked = "MemoryNotLocked"
	// ReasonOrderConfounded: docs/s depended on the order of the runs, or the cells were not interleaved.
	ReasonOrderConfounded = "OrderConfounded"
	// ReasonPlacementsShared: placements of a cell ran on the same machines, so their spread does not show the difference
	// between machines.
	ReasonPlacementsShared = "PlacementsShared"
	// ReasonGatesNotEvaluable: the figures of some gates could not be measured, and gates.notEvaluable is Report.
	ReasonGatesNotEvaluable = "GatesNotEvaluable"
	// ReasonNotSteady: a timed load had no steady window although the campaign measures in a window.
	ReasonNotSteady = "NotSteady"
)

// MaxCells is how many cells a campaign may have.
const MaxCells = 32
