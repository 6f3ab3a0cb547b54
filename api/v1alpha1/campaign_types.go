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
// +kubebuilder:validation:XValidation:rule="!has(self.topologies) || has(self.matrix) || size(self.variants) * size(self.topologies) <= 32",message="variants x topologies must be at most 32 cells: leave some out by matrix, or split the campaign",fieldPath=.topologies
// +kubebuilder:validation:XValidation:rule="has(self.workload.command) || self.variants.all(v, has(v.endpoint) || has(v.opensearch) && (has(v.opensearch.version) || has(v.opensearch.image)) || has(self.opensearch) && (has(self.opensearch.version) || has(self.opensearch.image)))",message="each variant needs an OpenSearch: set version or image in spec.opensearch or in the variant's opensearch, or the variant's endpoint",fieldPath=.variants,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="self.variants.all(v, has(v.endpoint) || v.?opensearch.?provisioner.orValue(self.?opensearch.?provisioner.orValue('StatefulSet')) != 'OpenSearchCluster' || has(v.opensearch) && has(v.opensearch.version) || has(self.opensearch) && has(self.opensearch.version))",message="provisioner OpenSearchCluster needs opensearch.version, also beside image: the operator decides by it how to start the nodes",fieldPath=.variants,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="self.variants.all(v, has(v.endpoint) || v.?opensearch.?provisioner.orValue(self.?opensearch.?provisioner.orValue('StatefulSet')) != 'OpenSearchCluster' || has(self.topologies) && self.topologies.all(t, has(t.nodes) && t.nodes >= 3 || has(self.matrix) && (has(self.matrix.include) && !self.matrix.include.exists(s, (!has(s.variant) || s.variant == v.name) && (!has(s.topology) || s.topology == t.name)) || has(self.matrix.exclude) && self.matrix.exclude.exists(s, (!has(s.variant) || s.variant == v.name) && (!has(s.topology) || s.topology == t.name)))))",message="provisioner OpenSearchCluster needs topologies[].nodes of 3 at least: the operator's bootstrap pod is a voter until it is deleted, and fewer nodes cannot elect a cluster manager without it",fieldPath=.topologies
// +kubebuilder:validation:XValidation:rule="!has(self.opensearch) || !has(self.opensearch.resources) || !has(self.opensearch.resources.memory) || self.variants.all(v, !(has(v.opensearch) && has(v.opensearch.heap)) || has(v.opensearch) && has(v.opensearch.resources) && has(v.opensearch.resources.memory) || !isQuantity(v.opensearch.heap) || !isQuantity(self.opensearch.resources.memory) || quantity(v.opensearch.heap).isLessThan(quantity(self.opensearch.resources.memory)))",message="heap must be below resources.memory (the JVM needs more than its heap) also where a variant sets one and spec.opensearch the other: lower heap or raise memory",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="!has(self.opensearch) || !has(self.opensearch.heap) || self.variants.all(v, !(has(v.opensearch) && has(v.opensearch.resources) && has(v.opensearch.resources.memory)) || has(v.opensearch) && has(v.opensearch.heap) || !isQuantity(self.opensearch.heap) || !isQuantity(v.opensearch.resources.memory) || quantity(self.opensearch.heap).isLessThan(quantity(v.opensearch.resources.memory)))",message="heap must be below resources.memory (the JVM needs more than its heap) also where a variant sets one and spec.opensearch the other: lower heap or raise memory",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="self.variants.all(v, !v.?opensearch.?storage.?storageClassName.hasValue() && !self.?opensearch.?storage.?storageClassName.hasValue() || v.?opensearch.?storage.?size.hasValue() || self.?opensearch.?storage.?size.hasValue())",message="storage.storageClassName needs storage.size beside it, in spec.opensearch or in the variant's opensearch",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="!has(self.workload.osb) || !has(self.workload.osb.clientsParam) || self.variants.all(v, !has(v.params) || !(self.workload.osb.clientsParam in v.params))",message="params must not set workload.osb.clientsParam: the sweep sets it",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="!has(self.final) || !has(self.final.search) || !self.final.search || has(self.workload.osb) && has(self.workload.osb.searchTasks) && size(self.workload.osb.searchTasks) > 0",message="final.search needs workload.osb.searchTasks: name the search tasks to run",fieldPath=.final.search
// +kubebuilder:validation:XValidation:rule="!has(self.comparisons) || self.comparisons.all(c, self.variants.exists(v, v.name == c.cell.variant) && self.variants.exists(v, v.name == c.baseline.variant) && has(self.topologies) && self.topologies.exists(t, t.name == c.cell.topology) && self.topologies.exists(t, t.name == c.baseline.topology))",message="comparisons must name cells of the campaign: one of spec.variants on one of spec.topologies",fieldPath=.comparisons
// +kubebuilder:validation:XValidation:rule="!has(self.sweep.mode) || self.sweep.mode != 'Fixed' || !has(self.final) || !has(self.final.repetitions) || self.final.repetitions > 0",message="sweep.mode Fixed measures in the Final phase alone: final.repetitions must be at least 1",fieldPath=.final
// +kubebuilder:validation:XValidation:rule="!has(self.sweep.rerun) || self.sweep.rerun.all(r, self.variants.exists(v, v.name == r.variant) && (has(self.topologies) ? self.topologies.exists(t, t.name == r.topology) : r.topology == 'default'))",message="sweep.rerun must name cells of the campaign: one of spec.variants on one of spec.topologies",fieldPath=.sweep.rerun
// +kubebuilder:validation:XValidation:rule="!has(self.workload.clientBoundCheck) || !self.workload.clientBoundCheck || !has(self.final) || !has(self.final.repetitions) || self.final.repetitions > 0",message="workload.clientBoundCheck is made in the Final phase: final.repetitions must be at least 1",fieldPath=.final
// +kubebuilder:validation:XValidation:rule="!has(self.final) || !has(self.final.openLoop) || has(self.workload.osb) && has(self.workload.osb.targetThroughputParam) && (!has(self.sweep.mode) || self.sweep.mode == 'Knee')",message="final.openLoop needs workload.osb.targetThroughputParam and a knee (sweep.mode Knee)",fieldPath=.final.openLoop
// +kubebuilder:validation:XValidation:rule="!has(self.gates) || has(self.gates.notEvaluable) && self.gates.notEvaluable == 'Report' || !self.variants.exists(v, has(v.endpoint) || v.?opensearch.?provisioner.orValue(self.?opensearch.?provisioner.orValue('StatefulSet')) == 'OpenSearchCluster') || !has(self.gates.maxIOWaitPercent) && !has(self.gates.maxIOPressurePercent) && !has(self.gates.maxStealPercent) && !has(self.gates.maxThrottledPercent) && !(has(self.gates.maxCPUPercent) && has(self.workload.command))",message="maxIOWaitPercent, maxIOPressurePercent, maxStealPercent and maxThrottledPercent look at the nodes' machines, which cannot be seen at a variant's endpoint, nor beside the nodes of provisioner OpenSearchCluster; with workload.command maxCPUPercent cannot be seen there either: leave them out, or set gates.notEvaluable to Report",fieldPath=.gates
// +kubebuilder:validation:XValidation:rule="!has(self.final) || !has(self.final.placements) || self.final.placements == 1 || !self.variants.exists(v, has(v.endpoint))",message="final.placements needs fresh nodes, which Knee cannot get for a variant's endpoint: leave it out",fieldPath=.final.placements
// +kubebuilder:validation:XValidation:rule="has(self.topologies) || has(self.workload.command)",message="list the topologies: the shapes of cluster and index to measure on",fieldPath=.topologies,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!(has(self.workload.osb) || has(self.workload.bulk)) || !has(self.topologies) || self.topologies.all(t, has(t.primaries))",message="osb and bulk fill an index: each topology needs primaries",fieldPath=.topologies,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="(has(self.workload.osb) || has(self.workload.bulk)) || !has(self.topologies) || self.topologies.all(t, !has(t.primaries) && !has(t.replication) && !has(t.ismPolicyFrom))",message="primaries, replication and ismPolicyFrom are of an index, and stream and command fill none: leave them out",fieldPath=.topologies
// +kubebuilder:validation:XValidation:rule="!has(self.workload.stream) || !has(self.topologies) || self.topologies.all(t, has(t.nodes) && t.nodes >= 2)",message="the stream driver measures the transport between nodes: each topology needs nodes of 2 at least",fieldPath=.topologies
// +kubebuilder:validation:XValidation:rule="!(has(self.workload.osb) || has(self.workload.bulk)) || self.variants.all(v, !has(v.endpoint) || has(v.endpoint.allowIndexDeletion) && v.endpoint.allowIndexDeletion)",message="endpoint.allowIndexDeletion must be true: each trial makes the workload's index anew, the one of the trial before must go. Be sure that workload.index.name is nobody else's on that cluster",fieldPath=.variants,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="has(self.workload.command) || self.variants.all(v, !has(v.image))",message="image of a variant stands instead of workload.command.image, and there is none: leave it out (opensearch.image is that of OpenSearch)",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="!has(self.workload.bulk) || self.variants.all(v, !has(v.params))",message="the bulk driver has no params: leave them out",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="!has(self.workload.stream) || self.variants.all(v, !has(v.params) || v.params.all(k, k in ['rows', 'columns', 'avg_column_length', 'total_requests', 'batch_size', 'use_stream_transport']))",message="params of the stream driver are rows, columns, avg_column_length, total_requests, batch_size and use_stream_transport: the sweep sets parallel_requests",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="!has(self.workload.command) || self.variants.all(v, !has(v.params) || v.params.all(k, !k.startsWith('KNEE_')))",message="params must not begin with KNEE_: Knee sets those",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="!has(self.workload.command) || self.variants.all(v, has(v.endpoint) || (has(v.opensearch) && (has(v.opensearch.version) || has(v.opensearch.image)) || has(self.opensearch) && (has(self.opensearch.version) || has(self.opensearch.image))) || !has(v.nodePool) && !has(v.architecture))",message="nodePool and architecture say where OpenSearch runs, and the variant has none: leave them out (loader.nodePool is for the load), or set opensearch.version",fieldPath=.variants
// +kubebuilder:validation:XValidation:rule="!has(self.workload.command) || !has(self.final) || !has(self.final.placements) || self.final.placements == 1 || self.variants.all(v, has(v.endpoint) || (has(v.opensearch) && (has(v.opensearch.version) || has(v.opensearch.image)) || has(self.opensearch) && (has(self.opensearch.version) || has(self.opensearch.image))))",message="final.placements needs fresh nodes, and a variant has no OpenSearch: leave it out",fieldPath=.final.placements
// +kubebuilder:validation:XValidation:rule="!has(self.workload.command) || !has(self.gates) || has(self.gates.notEvaluable) && self.gates.notEvaluable == 'Report' || !has(self.gates.maxCPUPercent) && !has(self.gates.maxIOWaitPercent) && !has(self.gates.maxIOPressurePercent) && !has(self.gates.maxStealPercent) && !has(self.gates.maxThrottledPercent) || self.variants.all(v, has(v.endpoint) || (has(v.opensearch) && (has(v.opensearch.version) || has(v.opensearch.image)) || has(self.opensearch) && (has(self.opensearch.version) || has(self.opensearch.image))))",message="maxCPUPercent, maxIOWaitPercent, maxIOPressurePercent, maxStealPercent and maxThrottledPercent look at OpenSearch's nodes, and a variant has none: leave them out, or set gates.notEvaluable to Report",fieldPath=.gates
// +kubebuilder:validation:XValidation:rule="!has(self.workload.command) || !has(self.gates) || !has(self.gates.maxRejections) || has(self.gates.notEvaluable) && self.gates.notEvaluable == 'Report' || self.variants.all(v, !has(v.endpoint) && v.?opensearch.?provisioner.orValue(self.?opensearch.?provisioner.orValue('StatefulSet')) != 'OpenSearchCluster' && (has(v.opensearch) && (has(v.opensearch.version) || has(v.opensearch.image)) || has(self.opensearch) && (has(self.opensearch.version) || has(self.opensearch.image))))",message="maxRejections looks at the counters of an OpenSearch of Knee's own beside the command, and a variant has none: leave it out, or set gates.notEvaluable to Report",fieldPath=.gates.maxRejections
// +kubebuilder:validation:XValidation:rule="!has(self.gates) || (has(self.workload.osb) || has(self.workload.bulk)) || !has(self.gates.minSteadySeconds) && !has(self.gates.maxCVPercent) && !has(self.gates.minClientUtilization)",message="minSteadySeconds, maxCVPercent and minClientUtilization look at documents over time, and stream and command index none: leave them out, they would never be passed",fieldPath=.gates
// +kubebuilder:validation:XValidation:rule="!has(self.gates) || !has(self.gates.maxErrorRate) || !has(self.workload.command) || !has(self.workload.command.json) || has(self.workload.command.json.operations) && has(self.workload.command.json.failures)",message="maxErrorRate is a share of operations: name workload.command.json.operations and failures, or it looks at what nobody counts",fieldPath=.gates.maxErrorRate
// +kubebuilder:validation:XValidation:rule="!has(self.workload.clientsPerPod) || !has(self.loader) || !has(self.loader.cache)",message="loader.cache is one volume, which the several loader pods of workload.clientsPerPod cannot share: leave it out, and bring what the load needs by its from",fieldPath=.loader.cache
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || !has(self.matrix.include) || self.matrix.include.all(s, (!has(s.variant) || self.variants.exists(v, v.name == s.variant)) && (!has(s.topology) || has(self.topologies) && self.topologies.exists(t, t.name == s.topology)))",message="matrix must name variants and topologies of the campaign",fieldPath=.matrix.include
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || !has(self.matrix.exclude) || self.matrix.exclude.all(s, (!has(s.variant) || self.variants.exists(v, v.name == s.variant)) && (!has(s.topology) || has(self.topologies) && self.topologies.exists(t, t.name == s.topology)))",message="matrix must name variants and topologies of the campaign",fieldPath=.matrix.exclude
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || !has(self.topologies) || self.variants.exists(v, self.topologies.exists(t, (!has(self.matrix.include) || self.matrix.include.exists(s, (!has(s.variant) || s.variant == v.name) && (!has(s.topology) || s.topology == t.name))) && (!has(self.matrix.exclude) || !self.matrix.exclude.exists(s, (!has(s.variant) || s.variant == v.name) && (!has(s.topology) || s.topology == t.name)))))",message="matrix leaves no cell: include one, or exclude fewer",fieldPath=.matrix
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || !has(self.baseline) || !has(self.topologies) && (!has(self.matrix.include) || self.matrix.include.exists(s, !has(s.variant) || s.variant == self.baseline)) && (!has(self.matrix.exclude) || !self.matrix.exclude.exists(s, !has(s.variant) || s.variant == self.baseline)) || has(self.topologies) && self.topologies.exists(t, (!has(self.matrix.include) || self.matrix.include.exists(s, (!has(s.variant) || s.variant == self.baseline) && (!has(s.topology) || s.topology == t.name))) && (!has(self.matrix.exclude) || !self.matrix.exclude.exists(s, (!has(s.variant) || s.variant == self.baseline) && (!has(s.topology) || s.topology == t.name))))",message="matrix leaves the baseline no cell: include one of it, or name another baseline",fieldPath=.baseline
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || !has(self.comparisons) || self.comparisons.all(c, (!has(self.matrix.include) || self.matrix.include.exists(s, (!has(s.variant) || s.variant == c.cell.variant) && (!has(s.topology) || s.topology == c.cell.topology))) && (!has(self.matrix.exclude) || !self.matrix.exclude.exists(s, (!has(s.variant) || s.variant == c.cell.variant) && (!has(s.topology) || s.topology == c.cell.topology))) && (!has(self.matrix.include) || self.matrix.include.exists(s, (!has(s.variant) || s.variant == c.baseline.variant) && (!has(s.topology) || s.topology == c.baseline.topology))) && (!has(self.matrix.exclude) || !self.matrix.exclude.exists(s, (!has(s.variant) || s.variant == c.baseline.variant) && (!has(s.topology) || s.topology == c.baseline.topology))))",message="comparisons must name cells that the matrix leaves in",fieldPath=.comparisons
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
	// A cell is a variant on a topology; a campaign has at most 32 cells. Only a load by workload.command can do without:
	// it then has one topology of the name default.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Topologies []Topology `json:"topologies,omitempty"`
	// matrix leaves cells out: of all variants on all topologies only those that it includes are measured, without those
	// that it excludes.
	// +optional
	Matrix *Matrix `json:"matrix,omitempty"`
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
	// +kubebuilder:validation:MaxItems=32
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
	// Gates are judged from records: a changed gate measures nothing anew. Where it moves the shared clients, the Finals
	// there are measured.
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
	// ttlSecondsAfterFinished bounds retain: what it keeps is deleted this long after the campaign's last trial. Unset:
	// it is kept until the campaign is deleted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// historyLimit is how many earlier measurements of each variant on each topology are kept beside the present one:
	// the records of what the spec no longer asks for, since it was changed or a rerun was asked for. Unset: all.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	HistoryLimit *int32 `json:"historyLimit,omitempty"`
	// seed fixes the order of the Final blocks. The default is fixed too, so that two runs of one spec are alike.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Seed *int64 `json:"seed,omitempty"`
	// suspend stops the campaign from starting anything; a trial that runs is left to finish.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// whenSuspended ReleaseNodes lets the nodes of a suspended campaign go, once no trial runs; volumes are kept.
	// KeepNodes keeps OpenSearch running, so that other campaigns wait for its nodes.
	// +optional
	// +kubebuilder:default=KeepNodes
	WhenSuspended SuspendPolicy `json:"whenSuspended,omitempty"`
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

// SuspendPolicy says what becomes of the nodes of a suspended campaign.
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

// Matrix says which cells a campaign has.
type Matrix struct {
	// include lists the cells that there are. Unset: all.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Include []CellSelector `json:"include,omitempty"`
	// exclude lists the cells that there are not.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Exclude []CellSelector `json:"exclude,omitempty"`
}

// CellSelector selects the cells of a variant, of a topology, or the one of both.
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

// EnvironmentField is a thing of a node's environment that is compared between cells. workload is the git commit or the
// files of the workload, the index body and the ISM policy, as the trials found them.
//
// +kubebuilder:validation:Enum=architecture;cpuModel;cores;smt;memory;kernel;thp;jvm;opensearch;image;heap;processors;mlockall;maxFiles;maxProcesses;swap;nodeOS;imageOS;hypervisor;shards;workload;disk;loaderHost
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
	// trialSeconds is how long one trial may take, from its pod's start, or that of the last of several, to its record.
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
	// activitySeconds is how long the load generator may show no sign of life (no document accepted, nothing new printed,
	// no CPU time used, no merges under way in the cluster), or OpenSearch answer nothing, before the trial is ended as
	// hanging instead of at trialSeconds.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=604800
	ActivitySeconds *int32 `json:"activitySeconds,omitempty"`
}
