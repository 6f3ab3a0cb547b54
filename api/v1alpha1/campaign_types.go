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

// Sweep lists the client counts to try. Exactly one of clients and range is set.
//
// +kubebuilder:validation:XValidation:rule="has(self.clients) != has(self.range)",message="sweep needs exactly one of clients (a list) and range (min, max, step)"
type Sweep struct {
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
type Final struct {
	// repetitions is how often each cell is measured at the shared clients. Below 4 no difference of two
	// variants can be told from noise at the 5 % level.
	// +optional
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=50
	Repetitions *int32 `json:"repetitions,omitempty"`
	// search runs the workload's searchTasks at the end of each repetition, on the index just built.
	// +optional
	Search *bool `json:"search,omitempty"`
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
}
