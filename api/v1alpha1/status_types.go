package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BenchmarkCampaignStatus is the progress and the result so far.
type BenchmarkCampaignStatus struct {
	// conditions are Ready, Reconciling, Stalled and Conclusive.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// startedAt is when the first trial began.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// completedAt is when the last trial's record was created.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`
	// progress is how many of the planned trials are done, such as 7/24.
	// +optional
	Progress string `json:"progress,omitempty"`
	// running lists what runs now, such as "arm 6p0r Sweep clients=16": at most eight trials, and the number of further ones.
	// +optional
	// +listType=atomic
	Running []string `json:"running,omitempty"`
	// waiting lists what the campaign waits for: at most three texts, each cut to 128 bytes, and the number of further texts.
	// The message of the condition Ready has the complete texts.
	// +optional
	// +listType=atomic
	Waiting []string `json:"waiting,omitempty"`
	// knees is each cell's knee in clients, such as "arm=16 intel=12".
	// +optional
	Knees string `json:"knees,omitempty"`
	// sharedClients is the client count at which variants are compared, such as "16". With several topologies it has one count
	// for each topology.
	// +optional
	SharedClients string `json:"sharedClients,omitempty"`
	// result is the ratio of docs/s at the shared clients with its interval and the interval's confidence,
	// such as "arm 1.461x intel [1.44, 1.48] 95.0 %".
	// +optional
	Result string `json:"result,omitempty"`
	// unit is the unit of the cells' rates if the load fills no index, such as rows/s. The fields named DocsPerSecond then
	// hold rates of this unit. Unset: docs/s.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Unit string `json:"unit,omitempty"`
	// cells is the progress and the result of each cell.
	// +optional
	// +listType=map
	// +listMapKey=variant
	// +listMapKey=topology
	Cells []CellStatus `json:"cells,omitempty"`
	// reports are the names of the ConfigMaps that hold the report's files.
	// +optional
	// +listType=atomic
	Reports []string `json:"reports,omitempty"`
}

// CellStatus is the progress and the result of one cell.
type CellStatus struct {
	// variant of the cell.
	// +required
	Variant string `json:"variant,omitempty"`
	// topology of the cell.
	// +required
	Topology string `json:"topology,omitempty"`
	// phase is what the cell does now: Pending, Provisioning, Warmup, Sweep, Anchor, Final, OpenLoop, Done.
	// +optional
	Phase string `json:"phase,omitempty"`
	// trials is how many of the cell's planned trials are done.
	// +optional
	Trials string `json:"trials,omitempty"`
	// kneeClients is the cell's knee, in clients.
	// +optional
	KneeClients int32 `json:"kneeClients,omitempty"`
	// kneeDocsPerSecond is docs/s at the knee, rounded.
	// +optional
	KneeDocsPerSecond int64 `json:"kneeDocsPerSecond,omitempty"`
	// kneeStabilityPercent is the probability that the knee of the true curve is at kneeClients, in percent. Absent if no point
	// was repeated.
	// +optional
	KneeStabilityPercent *int32 `json:"kneeStabilityPercent,omitempty"`
	// peakClients is the client count with the highest docs/s.
	// +optional
	PeakClients int32 `json:"peakClients,omitempty"`
	// peakDocsPerSecond is the highest docs/s measured (the cell's capacity), rounded.
	// +optional
	PeakDocsPerSecond int64 `json:"peakDocsPerSecond,omitempty"`
	// finalDocsPerSecond is the median docs/s of the Final repetitions at the shared clients, rounded.
	// +optional
	FinalDocsPerSecond int64 `json:"finalDocsPerSecond,omitempty"`
	// notMeasured lists the sweep's client counts that were Gated or Errored, with the reason.
	// +optional
	// +listType=atomic
	NotMeasured []string `json:"notMeasured,omitempty"`
	// failedClients lists the sweep's client counts that were Errored, in ascending order. notMeasured has the reasons. Long
	// lists are cut off: the lists of all cells together have at most 128 counts.
	// +optional
	// +listType=atomic
	FailedClients []int32 `json:"failedClients,omitempty"`
	// measuredAgain lists the client counts that spec.sweep.rerun measured again.
	// +optional
	// +listType=atomic
	MeasuredAgain []int32 `json:"measuredAgain,omitempty"`
}
