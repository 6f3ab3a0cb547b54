package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BenchmarkCampaign defines what to compare (variants), on which index topologies, and which client counts to sweep. Knee
// provisions OpenSearch, runs the load, and finds the throughput knee of each cell. It repeats the measurement at the shared
// clients, and writes the verdict into the status and into ConfigMaps.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=benchmarkcampaigns,singular=benchmarkcampaign,shortName=bcamp,categories=knee,scope=Namespaced
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Knees",type=string,JSONPath=`.status.knees`
// +kubebuilder:printcolumn:name="Shared",type=string,JSONPath=`.status.sharedClients`
// +kubebuilder:printcolumn:name="Result",type=string,JSONPath=`.status.result`
// +kubebuilder:printcolumn:name="Conclusive",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Conclusive")].reason`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type BenchmarkCampaign struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what to measure and how to judge it.
	// +required
	Spec BenchmarkCampaignSpec `json:"spec,omitzero"`
	// status is the progress and the result so far. Until Knee has read the campaign, observedGeneration is -1.
	// +optional
	// +kubebuilder:default={observedGeneration:-1}
	Status BenchmarkCampaignStatus `json:"status,omitzero"`
}

// BenchmarkCampaignList is a list of campaigns.
//
// +kubebuilder:object:root=true
type BenchmarkCampaignList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BenchmarkCampaign `json:"items"`
}

// BenchmarkCampaignSpec holds the fields that the user sets. Rules that combine several fields are in campaign_rules.yaml.
type BenchmarkCampaignSpec struct {
	// baseline is the name of the variant that ratios are computed against (their denominator).
	// Required when there is more than one variant.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Baseline string `json:"baseline,omitempty"`
	// opensearch holds the defaults of every variant's OpenSearch.
	// +optional
	OpenSearch OpenSearch `json:"opensearch,omitzero"`
	// variants are the things that are compared, such as architectures, node pools, versions or settings.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Variants []Variant `json:"variants,omitempty"`
	// topologies are the index and cluster shapes on which each variant is measured. A cell is a variant on a topology; a
	// campaign has at most 32 cells. Required, except with workload.command: a campaign without topologies then has one
	// topology, which is named default.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Topologies []Topology `json:"topologies,omitempty"`
	// matrix selects the cells that are measured. Unset: each variant is measured on each topology.
	// +optional
	Matrix *Matrix `json:"matrix,omitempty"`
	// loader is where the load generator runs. It is the same for every variant.
	// +optional
	Loader Loader `json:"loader,omitzero"`
	// workload is the load: the index it fills and the driver that fills it.
	// +required
	Workload Workload `json:"workload,omitzero"`
	// sweep lists the client counts that are measured on each cell.
	// +required
	Sweep Sweep `json:"sweep,omitzero"`
	// comparisons are ratios between named cells. Knee also computes the ratio of each variant to the baseline on each
	// topology. Each cell is taken at the shared clients of its own topology.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Comparisons []Comparison `json:"comparisons,omitempty"`
	// acceptedDifferences lists what may differ between the environments of the compared cells although the campaign does not
	// declare the difference. An accepted difference does not make a ratio inconclusive; the report lists it.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	AcceptedDifferences []EnvironmentField `json:"acceptedDifferences,omitempty"`
	// currency is the currency of prices, such as USD. Only the report uses it.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z]{1,8}$`
	Currency string `json:"currency,omitempty"`
	// artifacts is where trials store their raw files: the files of the driver and the one-second series. Unset: raw files are
	// not kept.
	// +optional
	Artifacts *Artifacts `json:"artifacts,omitempty"`
	// knee defines which client count of a sweep is the knee.
	// +optional
	Knee Knee `json:"knee,omitzero"`
	// gates are limits on a trial's quality. A trial that fails a gate is Gated: it is valid and the report shows it, but it is
	// never a peak or a knee. Knee judges gates from records, so a changed gate repeats no trial. If a changed gate moves the
	// shared clients, Knee measures the Finals at the new count.
	// +optional
	Gates Gates `json:"gates,omitzero"`
	// final defines how the variants are compared at the shared clients.
	// +optional
	Final Final `json:"final,omitzero"`
	// retries is how often an Errored trial is repeated before it counts as failed.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	Retries *int32 `json:"retries,omitempty"`
	// activeDeadlineSeconds limits how long the campaign may take. The time begins when the campaign gets its first nodes or
	// starts its first trial. It begins again after an edit of the spec and after a suspension. When it is over, Knee ends the
	// running trial, releases the nodes, and reports what was measured. The campaign is then Stalled, reason DeadlineExceeded,
	// until its spec changes. Unset: no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// timeouts limit every wait of the campaign.
	// +optional
	Timeouts Timeouts `json:"timeouts,omitzero"`
	// parallelism is how many cells may run at once. Cells that may share a node never run together. Unset: no further limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	Parallelism *int32 `json:"parallelism,omitempty"`
	// retain defines whether Knee keeps the OpenSearch clusters and their volumes after the campaign's last trial.
	// +optional
	// +kubebuilder:default=Never
	Retain RetainPolicy `json:"retain,omitempty"`
	// ttlSecondsAfterFinished limits retain: Knee deletes the kept clusters and volumes this long after the campaign's last
	// trial. Unset: Knee keeps them until the campaign is deleted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// historyLimit is how many earlier measurements of each variant on each topology are kept beside the current one. A change of the
	// spec or a new rerun token starts a new measurement. Unset: all are kept.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	HistoryLimit *int32 `json:"historyLimit,omitempty"`
	// recordsWhenDeleted defines what happens to the records when the campaign is deleted. Keep: the records stay, and a later
	// campaign of the same name continues with those that fit its spec. A change applies to existing records, too.
	// +optional
	// +kubebuilder:default=Delete
	RecordsWhenDeleted RecordsPolicy `json:"recordsWhenDeleted,omitempty"`
	// seed fixes the order of the Final blocks. The default is a fixed number, too, so two runs of one spec have the same
	// order.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Seed *int64 `json:"seed,omitempty"`
	// suspend stops the campaign from starting anything. A running trial finishes.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// whenSuspended defines what happens to the nodes of a suspended campaign. ReleaseNodes stops OpenSearch as soon as no
	// trial runs, and keeps the volumes. KeepNodes keeps OpenSearch running, so other campaigns wait for its nodes.
	// +optional
	// +kubebuilder:default=KeepNodes
	WhenSuspended SuspendPolicy `json:"whenSuspended,omitempty"`
	// rerun is any token. A new token measures the whole campaign again.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?$`
	Rerun string `json:"rerun,omitempty"`
}

// RetainPolicy defines whether provisioned clusters are kept when a campaign ends.
//
// +kubebuilder:validation:Enum=Never;OnFailure;Always
type RetainPolicy string

// The retain policies.
const (
	RetainNever     RetainPolicy = "Never"
	RetainOnFailure RetainPolicy = "OnFailure"
	RetainAlways    RetainPolicy = "Always"
)

// SuspendPolicy defines what happens to the nodes of a suspended campaign.
//
// +kubebuilder:validation:Enum=KeepNodes;ReleaseNodes
type SuspendPolicy string

// The suspend policies.
const (
	SuspendKeepNodes    SuspendPolicy = "KeepNodes"
	SuspendReleaseNodes SuspendPolicy = "ReleaseNodes"
)

// Comparison is one ratio: docs/s of a cell over docs/s of another.
//
// +kubebuilder:validation:XValidation:rule="self.cell.variant != self.baseline.variant || self.cell.topology != self.baseline.topology",message="a comparison needs two different cells"
type Comparison struct {
	// cell is the numerator.
	// +required
	Cell CellName `json:"cell,omitzero"`
	// baseline is the denominator.
	// +required
	Baseline CellName `json:"baseline,omitzero"`
}

// Matrix selects the cells of a campaign.
type Matrix struct {
	// include selects the cells that are measured. Unset: all cells.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Include []CellSelector `json:"include,omitempty"`
	// exclude selects cells that are not measured, also if include selects them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Exclude []CellSelector `json:"exclude,omitempty"`
}

// CellSelector selects cells: all cells of a variant, all cells of a topology, or one cell if both fields are set.
//
// +kubebuilder:validation:XValidation:rule="has(self.variant) || has(self.topology)",message="name a variant, a topology, or both"
type CellSelector struct {
	// variant of the cells; unset: any.
	// +optional
	Variant Name `json:"variant,omitempty"`
	// topology of the cells; unset: any.
	// +optional
	Topology Name `json:"topology,omitempty"`
}

// CellName names a cell.
type CellName struct {
	// variant of the cell.
	// +required
	Variant Name `json:"variant,omitempty"`
	// topology of the cell.
	// +required
	Topology Name `json:"topology,omitempty"`
}

// EnvironmentField names one property of the environment that is compared between cells. The property workload covers the git
// commit or the files of the workload, the index body and the ISM policy, as the trials read them.
//
// +kubebuilder:validation:Enum=architecture;cpuModel;cores;smt;memory;kernel;thp;jvm;opensearch;image;heap;processors;mlockall;maxFiles;maxProcesses;swap;nodeOS;imageOS;hypervisor;shards;workload;disk;loaderHost
type EnvironmentField string

// Artifacts is a folder of a PersistentVolumeClaim that trials write to. Cells on several nodes may write at the same time. In
// this case the claim needs access mode ReadWriteMany.
type Artifacts struct {
	// claimName is the name of the PersistentVolumeClaim, in the campaign's namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName,omitempty"`
	// path is the folder in the volume. Each attempt creates its own folder below it.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`
	// +kubebuilder:validation:MaxLength=255
	Path string `json:"path,omitempty"`
}

// Timeouts limit every wait, in seconds.
//
// +kubebuilder:validation:XValidation:rule="!has(self.settleSeconds) || !has(self.trialSeconds) || self.settleSeconds < self.trialSeconds",message="settleSeconds (300 when unset) must be below trialSeconds (14400 when unset), which it is a part of"
type Timeouts struct {
	// provisioningSeconds is how long a cell's OpenSearch may take to become ready. After that the campaign is Stalled and
	// reports the problem of the cluster's pods. It continues when the problem is fixed.
	// +optional
	// +kubebuilder:default=900
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	ProvisioningSeconds *int32 `json:"provisioningSeconds,omitempty"`
	// trialSeconds is how long one trial may take, from the start of its pod to its record. A trial with several pods starts
	// when its last pod starts.
	// +optional
	// +kubebuilder:default=14400
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=604800
	TrialSeconds *int32 `json:"trialSeconds,omitempty"`
	// settleSeconds is the longest time that a trial waits for the cluster to become idle before its load.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=86400
	SettleSeconds *int32 `json:"settleSeconds,omitempty"`
	// activitySeconds is how long a trial may hang before Knee ends it. A trial hangs if OpenSearch answers no request, or if
	// the load generator shows no activity: no document accepted, no output, no CPU time used, and no merges in the cluster.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=604800
	ActivitySeconds *int32 `json:"activitySeconds,omitempty"`
	// yieldSeconds is how long a Stalled campaign keeps its nodes. After that, if another campaign could then start, it releases
	// the nodes and queues again behind the campaigns that wait. A campaign whose spec is not valid releases its nodes after
	// this time even if no other campaign waits.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	YieldSeconds *int32 `json:"yieldSeconds,omitempty"`
}
