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
	// activeSince is when the campaign got its first nodes or started its first trial, since the last change of its spec and the
	// last suspension. spec.activeDeadlineSeconds counts from this time.
	// +optional
	ActiveSince *metav1.Time `json:"activeSince,omitempty"`
	// yieldedAt is when the campaign released its nodes to waiting campaigns because it was Stalled, or waited for nodes that a
	// suspended or finished campaign keeps. The campaign queues from this time. Absent: it queues from its creation, or it has
	// its turn.
	// +optional
	YieldedAt *metav1.Time `json:"yieldedAt,omitempty"`
	// finishedAttempts is how many attempts of the campaign's cells had a readable record when the campaign was finished. If no
	// record is lost, the campaign stays finished until its spec changes. Absent: it is not finished.
	// +optional
	FinishedAttempts int32 `json:"finishedAttempts,omitempty"`
	// progress is how many of the planned trials are done, as a text for people such as 7/24.
	// +optional
	Progress string `json:"progress,omitempty"`
	// trialCounts counts the trials of all cells.
	// +optional
	TrialCounts TrialCounts `json:"trialCounts,omitzero"`
	// running lists what runs now, such as "arm 6p0r Sweep clients=16": at most eight trials, and the number of further ones.
	// +optional
	// +listType=atomic
	Running []string `json:"running,omitempty"`
	// waiting lists what the campaign waits for: at most three texts, each cut to 128 bytes, and the number of further texts.
	// The message of the condition Ready has the complete texts.
	// +optional
	// +listType=atomic
	Waiting []string `json:"waiting,omitempty"`
	// knees is each cell's knee in clients, as a text for people such as "arm=16 intel=12". cells has the figures.
	// +optional
	Knees string `json:"knees,omitempty"`
	// sharedClients is the client count at which variants are compared, as a text for people such as "16". With several
	// topologies it has one count for each topology. topologies has the figures.
	// +optional
	SharedClients string `json:"sharedClients,omitempty"`
	// result is the ratio of the throughputs at the shared clients with its interval and the interval's confidence, as a text for
	// people such as "arm 1.461x intel [1.44, 1.48] 95.0 %". comparisons has the figures.
	// +optional
	Result string `json:"result,omitempty"`
	// unit is the unit of each throughput in the status: docs/s, or that of a load that fills no index, such as rows/s.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Unit string `json:"unit,omitempty"`
	// topologies is the result of each topology whose sweeps are done.
	// +optional
	// +listType=map
	// +listMapKey=name
	Topologies []TopologyStatus `json:"topologies,omitempty"`
	// comparisons are the ratios between cells, when all trials are done. At most 32 are listed; the report has all of them.
	// +optional
	// +listType=atomic
	Comparisons []ComparisonStatus `json:"comparisons,omitempty"`
	// omittedComparisons is how many further ratios only the report has.
	// +optional
	OmittedComparisons int32 `json:"omittedComparisons,omitempty"`
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
	// trialCounts counts the cell's trials.
	// +optional
	TrialCounts TrialCounts `json:"trialCounts,omitzero"`
	// knee is the cell's knee, when its sweep is done. Absent: the sweep is not done, or has no knee.
	// +optional
	Knee *KneeStatus `json:"knee,omitempty"`
	// peak is the point of the sweep with the highest throughput, the cell's capacity.
	// +optional
	Peak *PointStatus `json:"peak,omitempty"`
	// finalThroughput is the median throughput of the Final repetitions at the shared clients, as a decimal such as "3.25". Absent:
	// no Final has a valid measurement, or the Finals have several client counts.
	// +optional
	FinalThroughput string `json:"finalThroughput,omitempty"`
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

// TrialCounts counts trials, without Warmups.
type TrialCounts struct {
	// planned is how many trials there are, as far as is known.
	// +required
	Planned *int32 `json:"planned,omitempty"`
	// done is how many of them are done.
	// +required
	Done *int32 `json:"done,omitempty"`
	// failed is how many of the trials that are done have no valid measurement.
	// +required
	Failed *int32 `json:"failed,omitempty"`
}

// NewTrialCounts returns the counts of trials.
func NewTrialCounts(planned, done, failed int) TrialCounts {
	p, d, f := int32(planned), int32(done), int32(failed)
	return TrialCounts{Planned: &p, Done: &d, Failed: &f}
}

// PointStatus is a measured point of a sweep.
type PointStatus struct {
	// clients is the client count of the point.
	// +required
	Clients int32 `json:"clients,omitempty"`
	// throughput at the point, as a decimal such as "3.25".
	// +optional
	Throughput string `json:"throughput,omitempty"`
}

// KneeStatus is the knee of a cell.
type KneeStatus struct {
	PointStatus `json:",inline"`
	// stabilityPercent is the probability that the knee of the true curve is at these clients, in percent. Absent if no point
	// was repeated.
	// +optional
	StabilityPercent *int32 `json:"stabilityPercent,omitempty"`
}

// TopologyStatus is the result of a topology.
type TopologyStatus struct {
	// name of the topology.
	// +required
	Name string `json:"name,omitempty"`
	// sharedClients is the client count at which the variants are compared. 0: no client count is fair to all of them.
	// +required
	SharedClients *int32 `json:"sharedClients,omitempty"`
}

// ComparisonStatus is the ratio of the throughputs of two cells.
type ComparisonStatus struct {
	// variant of the cell whose throughput is divided.
	// +required
	Variant string `json:"variant,omitempty"`
	// topology of that cell.
	// +required
	Topology string `json:"topology,omitempty"`
	// baseline is the variant of the other cell.
	// +required
	Baseline string `json:"baseline,omitempty"`
	// baselineTopology is the topology of the other cell. Absent: the same topology.
	// +optional
	BaselineTopology string `json:"baselineTopology,omitempty"`
	// clients is the client count at which variant was measured.
	// +optional
	Clients int32 `json:"clients,omitempty"`
	// ratio of the throughputs. It is a decimal, such as "1.461", as are the other figures. Absent: a cell has no valid measurement.
	// +optional
	Ratio string `json:"ratio,omitempty"`
	// low is the lower end of the interval of the ratio. Absent: there are too few repetitions for an interval.
	// +optional
	Low string `json:"low,omitempty"`
	// high is the upper end of the interval.
	// +optional
	High string `json:"high,omitempty"`
	// confidencePercent is the confidence of the interval, in percent.
	// +optional
	ConfidencePercent string `json:"confidencePercent,omitempty"`
	// verdict is what the interval shows: Faster, Slower, Equivalent, TooNoisy, or absent if it shows nothing.
	// +optional
	Verdict string `json:"verdict,omitempty"`
}
