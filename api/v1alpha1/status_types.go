package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BenchmarkCampaignStatus is what has been found so far.
type BenchmarkCampaignStatus struct {
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions are Ready, Reconciling, Stalled and Conclusive.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// startedAt is when the first trial began.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// completedAt is when the last trial's record was made.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`
	// progress is the trials done of the trials planned, such as 7/24.
	// +optional
	Progress string `json:"progress,omitempty"`
	// running says what runs now, such as "arm 6p0r Sweep clients=16": at most eight trials, and how many more there are.
	// +optional
	// +listType=atomic
	Running []string `json:"running,omitempty"`
	// knees is each cell's knee in clients, such as "arm=16 intel=12".
	// +optional
	Knees string `json:"knees,omitempty"`
	// sharedClients is the client count that is fair to all, such as "16"; one for each topology when there are several.
	// +optional
	SharedClients string `json:"sharedClients,omitempty"`
	// result is the ratio of docs/s at the shared clients with its interval and the interval's confidence,
	// such as "arm 1.461x intel [1.44, 1.48] 97.1 %".
	// +optional
	Result string `json:"result,omitempty"`
	// unit is what the rates of cells are counted in where the load fills no index, such as rows/s: its fields named
	// DocsPerSecond hold these then. Unset: docs/s.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Unit string `json:"unit,omitempty"`
	// cells is what was found of each cell.
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

// CellStatus is what was found of one cell.
type CellStatus struct {
	// variant of the cell.
	// +required
	Variant string `json:"variant,omitempty"`
	// topology of the cell.
	// +required
	Topology string `json:"topology,omitempty"`
	// phase says what the cell does now: Pending, Provisioning, Warmup, Sweep, Final, OpenLoop, Done.
	// +optional
	Phase string `json:"phase,omitempty"`
	// trials are the cell's trials done of those planned.
	// +optional
	Trials string `json:"trials,omitempty"`
	// kneeClients is the cell's knee, in clients.
	// +optional
	KneeClients int32 `json:"kneeClients,omitempty"`
	// kneeDocsPerSecond is docs/s at the knee, rounded.
	// +optional
	KneeDocsPerSecond int64 `json:"kneeDocsPerSecond,omitempty"`
	// kneeStabilityPercent is how often resampling the noise of the sweep gives the same knee; absent without repeats.
	// +optional
	KneeStabilityPercent *int32 `json:"kneeStabilityPercent,omitempty"`
	// peakClients is where the highest docs/s was measured, in clients.
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
	// measuredAgain lists the client counts whose figures were measured again by hand, as spec.sweep.rerun asked.
	// +optional
	// +listType=atomic
	MeasuredAgain []int32 `json:"measuredAgain,omitempty"`
}
