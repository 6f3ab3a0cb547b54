package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BenchmarkCampaign says what to compare (variants), on which index topologies, and which client counts to
// sweep. Knee provisions OpenSearch, runs the load, finds each cell's throughput knee, repeats at the shared
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
	// spec says what to measure and how to judge it.
	// +required
	Spec BenchmarkCampaignSpec `json:"spec,omitzero"`
	// status is what has been found so far.
	// +optional
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

// BenchmarkCampaignSpec is the whole of what a person writes.
//
// +kubebuilder:validation:XValidation:rule="size(self.variants) < 2 || has(self.baseline)",message="baseline is required when there is more than one variant: name the variant that ratios are computed against",fieldPath=.baseline,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.baseline) || self.variants.exists(v, v.name == self.baseline)",message="baseline must be the name of one of the variants",fieldPath=.baseline
// +kubebuilder:validation:XValidation:rule="size(self.variants) * size(self.topologies) <= 32",message="variants x topologies must be at most 32 cells: split the campaign",fieldPath=.topologies
// +kubebuilder:validation:XValidation:rule="self.variants.all(v, has(v.opensearch) && (has(v.opensearch.version) || has(v.opensearch.image)) || has(self.opensearch) && (has(self.opensearch.version) || has(self.opensearch.image)))",message="each variant needs an OpenSearch: set version or image in spec.opensearch or in the variant's opensearch",fieldPath=.variants,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.opensearch) || !has(self.opensearch.resources) || !has(self.opensearch.resources.memory) || self.variants.all(v, !(has(v.opensearch) && has(v.opensearch.heap)) || has(v.opensearch) && has(v.opensearch.resources) && has(v.opensearch.resources.memory) || !isQuantity(v.opensearch.heap) || !isQuantity(self.opensearch.resources.memory) || quantity(v.opensearch.heap).isLessThan(quantity(self.opensearch.resources.memory)))",message="heap must be below resources.memory (the JVM needs more than its heap) also where a variant sets one and spec.opensearch the other: lower heap or raise memory",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="!has(self.opensearch) || !has(self.opensearch.heap) || self.variants.all(v, !(has(v.opensearch) && has(v.opensearch.resources) && has(v.opensearch.resources.memory)) || has(v.opensearch) && has(v.opensearch.heap) || !isQuantity(self.opensearch.heap) || !isQuantity(v.opensearch.resources.memory) || quantity(self.opensearch.heap).isLessThan(quantity(v.opensearch.resources.memory)))",message="heap must be below resources.memory (the JVM needs more than its heap) also where a variant sets one and spec.opensearch the other: lower heap or raise memory",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="self.variants.all(v, !v.?opensearch.?storage.?storageClassName.hasValue() && !self.?opensearch.?storage.?storageClassName.hasValue() || v.?opensearch.?storage.?size.hasValue() || self.?opensearch.?storage.?size.hasValue())",message="storage.storageClassName needs storage.size beside it, in spec.opensearch or in the variant's opensearch",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="!has(self.workload.osb) || !has(self.workload.osb.clientsParam) || self.variants.all(v, !has(v.params) || !(self.workload.osb.clientsParam in v.params))",message="params must not set workload.osb.clientsParam: the sweep sets it",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="!has(self.final) || !has(self.final.search) || !self.final.search || !has(self.workload.osb) || has(self.workload.osb.searchTasks) && size(self.workload.osb.searchTasks) > 0",message="final.search needs workload.osb.searchTasks: name the search tasks to run",fieldPath=.final.search
// +kubebuilder:validation:XValidation:rule="!has(self.comparisons) || self.comparisons.all(c, self.variants.exists(v, v.name == c.cell.variant) && self.variants.exists(v, v.name == c.baseline.variant) && self.topologies.exists(t, t.name == c.cell.topology) && self.topologies.exists(t, t.name == c.baseline.topology))",message="comparisons must name cells of the campaign: one of spec.variants on one of spec.topologies",fieldPath=.comparisons
// +kubebuilder:validation:XValidation:rule="!has(self.sweep.mode) || self.sweep.mode != 'Fixed' || !has(self.final) || !has(self.final.repetitions) || self.final.repetitions > 0",message="sweep.mode Fixed measures in the Final phase alone: final.repetitions must be at least 1",fieldPath=.final
// +kubebuilder:validation:XValidation:rule="!has(self.final) || !has(self.final.openLoop) || has(self.workload.osb) && has(self.workload.osb.targetThroughputParam) && (!has(self.sweep.mode) || self.sweep.mode == 'Knee')",message="final.openLoop needs workload.osb.targetThroughputParam and a knee (sweep.mode Knee)",fieldPath=.final.openLoop
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
	// variants are the things compared, such as architectures, node pools, versions or settings.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Variants []Variant `json:"variants,omitempty"`
	// topologies are the index and cluster shapes on which each variant is measured.
	// A cell is a variant on a topology; a campaign has at most 32 cells.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Topologies []Topology `json:"topologies,omitempty"`
	// loader says where the load generator runs. It is the same for every variant.
	// +optional
	Loader Loader `json:"loader,omitzero"`
	// workload is the load: the index it fills and the driver that fills it.
	// +required
	Workload Workload `json:"workload,omitzero"`
	// sweep lists the client counts that are tried on each cell.
	// +required
	Sweep Sweep `json:"sweep,omitzero"`
	// comparisons are ratios between named cells, beside those of each variant against the baseline on its own
	// topology. Each cell is taken at the shared clients of its own topology.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Comparisons []Comparison `json:"comparisons,omitempty"`
	// acceptedDifferences are the things of the environment that may differ between the cells compared although the
	// campaign does not declare it: the ratio is then conclusive all the same, and the report lists them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	AcceptedDifferences []EnvironmentField `json:"acceptedDifferences,omitempty"`
	// currency is what prices are in, such as USD: a word for the report.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z]{1,8}$`
	Currency string `json:"currency,omitempty"`
	// artifacts is where trials leave their raw files: the driver's own and the one-second series. Unset: nowhere.
	// +optional
	Artifacts *Artifacts `json:"artifacts,omitempty"`
	// knee says how the knee is read off a sweep.
	// +optional
	Knee Knee `json:"knee,omitzero"`
	// gates are limits on a trial's quality. A trial that fails one is Gated: valid and shown, never a peak or a knee.
	// Gates are judged from records, so a changed gate needs no new measurement.
	// +optional
	Gates Gates `json:"gates,omitzero"`
	// final says how the variants are compared at the shared clients.
	// +optional
	Final Final `json:"final,omitzero"`
	// retries is how often a trial that ended Errored is measured again before it is shown as failed.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	Retries *int32 `json:"retries,omitempty"`
	// timeouts bound every wait of the campaign.
	// +optional
	Timeouts Timeouts `json:"timeouts,omitzero"`
	// parallelism is how many cells may run at once. Cells that may share a node never run together, whatever it says.
	// Unset means all that can.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	Parallelism *int32 `json:"parallelism,omitempty"`
	// retain says whether the OpenSearch clusters and their volumes outlive the campaign's last trial.
	// +optional
	// +kubebuilder:default=Never
	Retain RetainPolicy `json:"retain,omitempty"`
	// seed fixes the order of the Final blocks. The default is fixed too, so that two runs of one spec are alike.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Seed *int64 `json:"seed,omitempty"`
	// suspend stops the campaign from starting anything; a trial that runs is left to finish.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// rerun is any token; a new one measures the whole campaign again.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?$`
	Rerun string `json:"rerun,omitempty"`
}

// RetainPolicy says whether provisioned clusters are kept when a campaign ends.
//
// +kubebuilder:validation:Enum=Never;OnFailure;Always
type RetainPolicy string

// The retain policies.
const (
	RetainNever     RetainPolicy = "Never"
	RetainOnFailure RetainPolicy = "OnFailure"
	RetainAlways    RetainPolicy = "Always"
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

// CellName names a cell.
type CellName struct {
	// variant of the cell.
	// +required
	Variant Name `json:"variant,omitempty"`
	// topology of the cell.
	// +required
	Topology Name `json:"topology,omitempty"`
}

// EnvironmentField is a thing of a node's environment that is compared between cells.
//
// +kubebuilder:validation:Enum=architecture;cpuModel;cores;smt;memory;kernel;thp;jvm;opensearch;image;heap;processors;mlockall;maxFiles;shards;disk;loaderHost
type EnvironmentField string

// Artifacts is a folder of a PersistentVolumeClaim that trials write to; several may at once, so that cells on
// several nodes need a claim of access mode ReadWriteMany.
type Artifacts struct {
	// claimName is the name of the PersistentVolumeClaim, in the campaign's namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName,omitempty"`
	// path is the folder within the volume; below it each attempt makes its own.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`
	// +kubebuilder:validation:MaxLength=255
	Path string `json:"path,omitempty"`
}

// SweepStrategy says which of a sweep's client counts are measured.
//
// +kubebuilder:validation:Enum=Full;Adaptive
type SweepStrategy string

// The sweep strategies.
const (
	SweepFull     SweepStrategy = "Full"
	SweepAdaptive SweepStrategy = "Adaptive"
)

// SweepMode says what client counts are for.
//
// +kubebuilder:validation:Enum=Knee;Fixed
type SweepMode string

// The sweep modes.
const (
	SweepKnee  SweepMode = "Knee"
	SweepFixed SweepMode = "Fixed"
)

// Sweep lists the client counts to try. Exactly one of clients and range is set.
//
// +kubebuilder:validation:XValidation:rule="has(self.clients) != has(self.range)",message="sweep needs exactly one of clients (a list) and range (min, max, step)"
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode != 'Fixed' || (!has(self.strategy) || self.strategy == 'Full') && (!has(self.repetitions) || self.repetitions == 1)",message="sweep.mode Fixed looks for no knee: leave strategy and repetitions out (final.repetitions says how often each client count is measured)"
// +kubebuilder:validation:XValidation:rule="!has(self.strategy) || self.strategy != 'Adaptive' || !has(self.repetitions) || self.repetitions == 1",message="sweep.strategy Adaptive repeats what needs it by itself: leave repetitions out"
type Sweep struct {
	// mode Knee sweeps the client counts once to find each cell's knee, and compares the cells at the shared clients.
	// Fixed looks for no knee: every client count is measured in every repetition of the Final phase, and the cells
	// are compared at each.
	// +optional
	// +kubebuilder:default=Knee
	Mode SweepMode `json:"mode,omitempty"`
	// strategy Full measures every client count. Adaptive bisects towards the knee: it always measures the highest
	// counts, repeats those near the threshold, and skips those that cannot be the knee.
	// +optional
	// +kubebuilder:default=Full
	Strategy SweepStrategy `json:"strategy,omitempty"`
	// repetitions is how often each client count is measured; a point is the median of its repeats. From 2 on the
	// report tells how stable the knee is.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Repetitions *int32 `json:"repetitions,omitempty"`
	// clients are the client counts, ascending and without duplicates.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=10000
	// +kubebuilder:validation:XValidation:rule="self.isSorted()",message="clients must be ascending: sort the list"
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a == b))",message="clients must not name a client count twice: remove the duplicate"
	Clients []int32 `json:"clients,omitempty"`
	// range gives the client counts as min, min+step, ... up to and including max.
	// +optional
	Range *ClientRange `json:"range,omitempty"`
}

// ClientRange is an arithmetic sequence of client counts, at most 64 of them.
//
// +kubebuilder:validation:XValidation:rule="self.min <= self.max",message="range.min must not be above range.max"
// +kubebuilder:validation:XValidation:rule="self.step < 1 || (self.max - self.min) / self.step < 64",message="range must give at most 64 client counts: raise step or narrow min..max"
type ClientRange struct {
	// min is the first client count.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Min int32 `json:"min,omitempty"`
	// max is not exceeded.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Max int32 `json:"max,omitempty"`
	// step is the distance between two client counts.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Step int32 `json:"step,omitempty"`
}

// Knee says how the knee is read off a sweep.
type Knee struct {
	// percentOfPeak is the share of the peak, in percent (1 to 100), that a client count must reach to be the knee.
	// +optional
	// +kubebuilder:default=97
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 1.0 && double(string(self)) <= 100.0",message="percentOfPeak must be from 1 to 100 percent"
	PercentOfPeak *Decimal `json:"percentOfPeak,omitempty"`
}

// Final says how the variants are compared at the shared clients.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxRepetitions) || !has(self.repetitions) || self.maxRepetitions >= self.repetitions && self.repetitions >= 2",message="maxRepetitions must be at least repetitions, and these at least 2: the first stage tells the noise"
// +kubebuilder:validation:XValidation:rule="!has(self.placements) || self.placements == 1 || !has(self.maxRepetitions)",message="placements and maxRepetitions exclude each other: more repetitions on one machine do not narrow an interval on placement means"
type Final struct {
	// repetitions is how often each cell is measured at the shared clients, on each placement. Below 4 no difference
	// of two variants can be told from noise at the 5 % level.
	// +optional
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=50
	Repetitions *int32 `json:"repetitions,omitempty"`
	// maxRepetitions allows a second stage: when the noise of the first repetitions says that more are needed to
	// tell smallestDifferencePercent from nothing, that many are made, up to this. Unset: one stage.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=50
	MaxRepetitions *int32 `json:"maxRepetitions,omitempty"`
	// smallestDifferencePercent is the smallest difference that matters, in percent: a ratio whose interval lies
	// within it is equivalent.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) > 0.0 && double(string(self)) <= 50.0",message="smallestDifferencePercent must be above 0 and at most 50 percent"
	SmallestDifferencePercent *Decimal `json:"smallestDifferencePercent,omitempty"`
	// placements is on how many sets of fresh nodes and volumes the repetitions are made, away from the nodes of
	// those before where the pool allows. From 2 on the interval is on the means of the placements, so that it
	// covers the difference from machine to machine.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Placements *int32 `json:"placements,omitempty"`
	// search runs the workload's searchTasks at the end of each repetition, on the index just built.
	// +optional
	Search *bool `json:"search,omitempty"`
	// openLoop adds, after the repetitions, one load of each cell at a fixed rate below the knees: its latency is not
	// the mere reciprocal of throughput, as that of the repetitions is. It needs workload.osb.targetThroughputParam, and
	// the parameter bulk_size of every cell.
	// +optional
	OpenLoop *OpenLoop `json:"openLoop,omitempty"`
}

// OpenLoop is a load whose rate is fixed.
type OpenLoop struct {
	// percentOfKnee is the rate, in percent of the lowest knee's docs/s among the cells compared.
	// +optional
	// +kubebuilder:default=70
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 1.0 && double(string(self)) <= 100.0",message="percentOfKnee must be from 1 to 100 percent"
	PercentOfKnee *Decimal `json:"percentOfKnee,omitempty"`
}

// Timeouts bound every wait, in seconds.
//
// +kubebuilder:validation:XValidation:rule="!has(self.settleSeconds) || !has(self.trialSeconds) || self.settleSeconds < self.trialSeconds",message="settleSeconds (300 when unset) must be below trialSeconds (14400 when unset), which it is a part of"
type Timeouts struct {
	// provisioningSeconds is how long a cell's OpenSearch may take until it is ready; then the campaign says
	// what the cluster's own pods complain of, and goes on when that is mended.
	// +optional
	// +kubebuilder:default=900
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	ProvisioningSeconds *int32 `json:"provisioningSeconds,omitempty"`
	// trialSeconds is how long one trial may take, from its pod's start to its record.
	// +optional
	// +kubebuilder:default=14400
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=604800
	TrialSeconds *int32 `json:"trialSeconds,omitempty"`
	// settleSeconds is how long a trial waits at most for the cluster to come to rest before its load.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=86400
	SettleSeconds *int32 `json:"settleSeconds,omitempty"`
}

// Gates are limits on a trial's quality, judged from its record.
type Gates struct {
	// maxRejections is how many rejected requests are allowed, over every rejection counter of every node.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	MaxRejections *int64 `json:"maxRejections,omitempty"`
	// maxIOWaitPercent is the highest mean iowait of any OpenSearch node over the load window, in percent of all cores.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 100.0",message="maxIOWaitPercent must be from 0 to 100 percent"
	MaxIOWaitPercent *Decimal `json:"maxIOWaitPercent,omitempty"`
	// maxStealPercent is the highest mean steal of any OpenSearch node over the load window, in percent of all cores.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 100.0",message="maxStealPercent must be from 0 to 100 percent"
	MaxStealPercent *Decimal `json:"maxStealPercent,omitempty"`
	// maxCPUPercent is the highest mean user+sys CPU of any OpenSearch node over the load window, in percent of all cores.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 1.0 && double(string(self)) <= 100.0",message="maxCPUPercent must be from 1 to 100 percent"
	MaxCPUPercent *Decimal `json:"maxCPUPercent,omitempty"`
	// maxLoaderCPUPercent is the highest mean CPU of the loader's busiest process, in percent of one core.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 1.0 && double(string(self)) <= 100.0",message="maxLoaderCPUPercent must be from 1 to 100 percent"
	MaxLoaderCPUPercent *Decimal `json:"maxLoaderCPUPercent,omitempty"`
	// maxErrorRate is the highest share of the ingest tasks' requests that may fail, by the driver, from 0 to 1.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 1.0",message="maxErrorRate is a share of requests, from 0 to 1"
	MaxErrorRate *Decimal `json:"maxErrorRate,omitempty"`
	// maxIOPressurePercent is the highest PSI io "some" of any OpenSearch node over the load window: the share of time in
	// which some task waited for a disk.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 100.0",message="maxIOPressurePercent must be from 0 to 100 percent"
	MaxIOPressurePercent *Decimal `json:"maxIOPressurePercent,omitempty"`
	// maxThrottledPercent is the highest share of any OpenSearch node's CPU quota periods that were throttled.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 100.0",message="maxThrottledPercent must be from 0 to 100 percent"
	MaxThrottledPercent *Decimal `json:"maxThrottledPercent,omitempty"`
	// minClientUtilization is the lowest share of the clients' time that must be spent waiting for the server, from 0 to 1: below
	// 0.9 the loader is the limit.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 1.0",message="minClientUtilization is a share of time, from 0 to 1"
	MinClientUtilization *Decimal `json:"minClientUtilization,omitempty"`
	// minSteadySeconds is how long the steady part of the load must be at least.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	MinSteadySeconds *int32 `json:"minSteadySeconds,omitempty"`
	// maxCVPercent is the highest coefficient of variation of docs/s within the load window, over means of five seconds.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 1000.0",message="maxCVPercent must be from 0 to 1000 percent"
	MaxCVPercent *Decimal `json:"maxCVPercent,omitempty"`
	// expressions are gates of your own.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Expressions []GateExpression `json:"expressions,omitempty"`
}

// GateExpression is a gate as an expression over the trial's record.
type GateExpression struct {
	// name of the gate, shown where it fails.
	// +required
	Name Name `json:"name,omitempty"`
	// expression is CEL that must be true for a trial to be Measured. Its variable trial is the record, with the names
	// of docs/gates.md, such as trial.nodes.all(n, n.ioWaitPercent < 10).
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Expression string `json:"expression,omitempty"`
	// message says what is wrong when it is not; unset: the expression itself.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
}
