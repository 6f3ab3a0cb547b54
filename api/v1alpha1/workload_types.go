package v1alpha1

// Loader says where the load generator runs.
type Loader struct {
	// nodePool says on which nodes the loader runs.
	// +optional
	NodePool NodePool `json:"nodePool,omitzero"`
	// placement Dedicated keeps the loader off every node that runs OpenSearch of a campaign. Shared allows it
	// on the same node; the campaign then says that its answer is not conclusive.
	// +optional
	// +kubebuilder:default=Dedicated
	Placement LoaderPlacement `json:"placement,omitempty"`
	// resources are what the loader requests and, unless resources.limits says otherwise, is limited to.
	// +optional
	Resources Resources `json:"resources,omitzero"`
	// cache is a volume that keeps the loader's downloads (workloads, corpora) from one trial to the next.
	// One is made for each cell. Unset: nothing is kept.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.storageClassName) || has(self.size)",message="cache.storageClassName needs cache.size beside it"
	Cache Storage `json:"cache,omitzero"`
}

// LoaderPlacement says whether the loader may run on a node that runs OpenSearch.
//
// +kubebuilder:validation:Enum=Dedicated;Shared
type LoaderPlacement string

// The loader placements.
const (
	LoaderDedicated LoaderPlacement = "Dedicated"
	LoaderShared    LoaderPlacement = "Shared"
)

// Workload is the load: the driver that makes it, and the index that it fills. Exactly one driver is set.
//
// +kubebuilder:validation:XValidation:rule="[has(self.osb), has(self.bulk), has(self.stream), has(self.command)].filter(set, set).size() == 1",message="workload needs exactly one driver: set one of osb, bulk, stream and command",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.bulk) || has(self.index) && has(self.index.name)",message="bulk fills an index and needs index.name",fieldPath=.index,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.index) || has(self.osb) || has(self.bulk)",message="stream and command fill no index: leave index out",fieldPath=.index
// +kubebuilder:validation:XValidation:rule="!has(self.index) || !has(self.index.name) || !self.index.name.endsWith('*') || has(self.osb) && !has(self.index.bodyFrom) && !has(self.index.dataStream) && !has(self.clientBoundCheck)",message="a name that ends in * stands for the indices that the OSB workload makes: it needs osb, and does not go with bodyFrom, dataStream and clientBoundCheck",fieldPath=.index.name
// +kubebuilder:validation:XValidation:rule="!has(self.clientsPerPod) || !has(self.stream)",message="clientsPerPod does not go with stream: its clients are OpenSearch's own",fieldPath=.clientsPerPod
// +kubebuilder:validation:XValidation:rule="!has(self.measure) || self.measure != 'Window' || has(self.osb) || has(self.bulk)",message="measure Window is a part of a load of documents: it needs osb or bulk",fieldPath=.measure
// +kubebuilder:validation:XValidation:rule="!has(self.clientBoundCheck) || !self.clientBoundCheck || has(self.osb) && !has(self.clientsPerPod)",message="clientBoundCheck repeats a load of osb that one loader pod makes: it needs osb, and does not go with clientsPerPod",fieldPath=.clientBoundCheck
type Workload struct {
	// index is the index that the load fills. bulk needs its name; so does osb, unless the workload is an official one whose
	// index Knee knows. stream and command fill none.
	// +optional
	Index Index `json:"index,omitzero"`
	// measure says over which window docs/s is taken: Whole, from the first to the last document, or Window,
	// the steady part of a timed load.
	// +optional
	// +kubebuilder:default=Whole
	Measure Measure `json:"measure,omitempty"`
	// clientsPerPod is how many clients one loader pod has at most: a trial of more is made by several pods, which begin
	// together. Unset: one pod has all.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	ClientsPerPod *int32 `json:"clientsPerPod,omitempty"`
	// warmupTrials is how many Warmup trials, whose figures are discarded, come after each start of OpenSearch's JVM; at an
	// endpoint, before the first trial of a cell. 0 is for systems that need no warm-up, such as a mock server: it is refused
	// where Knee starts OpenSearch. Another number is another measurement. Unset: 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	WarmupTrials *int32 `json:"warmupTrials,omitempty"`
	// waitSeconds is how long nothing is sent before each load, once the cluster is at rest. Another number is another
	// measurement. It is a part of timeouts.trialSeconds and must be below it. Unset: the load begins at once.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	WaitSeconds *int32 `json:"waitSeconds,omitempty"`
	// clientBoundCheck has the first Final trial of each cell, at each client count of the Final phase, repeat its load with
	// Knee's own loader once it has been measured: the same documents, bulk size and clients. The report says whether
	// opensearch-benchmark was the limit. These trials take about twice as long; those that were measured before it was set
	// are not measured again.
	// +optional
	ClientBoundCheck *bool `json:"clientBoundCheck,omitempty"`
	// osb drives the load with opensearch-benchmark.
	// +optional
	OSB *OSB `json:"osb,omitempty"`
	// bulk drives the load with Knee's own loader.
	// +optional
	Bulk *Bulk `json:"bulk,omitempty"`
	// stream drives the load with the Benchmark API of OpenSearch's stream transport.
	// +optional
	Stream *Stream `json:"stream,omitempty"`
	// command drives the load with any program.
	// +optional
	Command *Command `json:"command,omitempty"`
}

// Measure says over which window docs/s is taken.
//
// +kubebuilder:validation:Enum=Whole;Window
type Measure string

// The windows over which docs/s can be taken.
const (
	MeasureWhole  Measure = "Whole"
	MeasureWindow Measure = "Window"
)

// Index is the index that the load fills. It is deleted and made anew for each trial.
type Index struct {
	// name of the index. A name that ends in * stands for all indices whose names begin so: those that an OSB workload makes
	// and fills, each with the topology's shards. Unset: that of the official OSB workload (docs/workloads.md lists them).
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9][a-z0-9._-]*[*]?$`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Name string `json:"name,omitempty"`
	// bodyFrom is a ConfigMap's key that holds the body of the index (settings, mappings, aliases) as JSON; with dataStream
	// it is that of the index template. The topology's shards, replicas and refresh interval win over it. Unset: the
	// workload makes its own index.
	// +optional
	BodyFrom *ConfigMapKey `json:"bodyFrom,omitempty"`
	// dataStream makes name a data stream, of which the body, in an index template, is that of every backing index.
	// +optional
	DataStream *bool `json:"dataStream,omitempty"`
}

// ConfigMapKey names one key of a ConfigMap in the campaign's namespace.
type ConfigMapKey struct {
	// name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// key within the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[.A-Za-z0-9_-]*[A-Za-z0-9_-][.A-Za-z0-9_-]*$`
	Key string `json:"key,omitempty"`
}

// OSB drives the load with opensearch-benchmark.
//
// +kubebuilder:validation:XValidation:rule="!has(self.clientsParam) || (!has(self.params) || !(self.clientsParam in self.params)) && (!has(self.warmupParams) || !(self.clientsParam in self.warmupParams))",message="params and warmupParams must not set what clientsParam names: the sweep sets it"
type OSB struct {
	// version is the tag of the opensearch-benchmark image: 2.x or 1.15.
	// +optional
	// +kubebuilder:default="2.4.0"
	// +kubebuilder:validation:Pattern=`^[0-9]+\.[0-9]+\.[0-9]+([.-][0-9A-Za-z.-]+)?$`
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^(2[.]|1[.]15[.])')",message="osb.version must be 2.x or 1.15.x"
	Version string `json:"version,omitempty"`
	// image is a full image reference (tag or digest) instead of the operator's default image at version.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
	// workload is the workload's name: in OSB's own repository of workloads, or the folder of that name in from.
	// +required
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._-]*$`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Workload string `json:"workload,omitempty"`
	// from says where the workload's files come from, for clusters without a way out. Unset: OSB's own repository.
	// +optional
	From *WorkloadSource `json:"from,omitempty"`
	// testProcedure is the workload's test procedure; unset means its default one.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._-]*$`
	// +kubebuilder:validation:MaxLength=128
	TestProcedure string `json:"testProcedure,omitempty"`
	// params are the workload's parameters. number_of_shards, number_of_replicas, refresh_interval and
	// clientsParam are set by the topology and the sweep.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[A-Za-z_][A-Za-z0-9_-]*$'))",message="params must be keyed by names of letters, digits, _ and -"
	// +kubebuilder:validation:XValidation:rule="!('number_of_shards' in self || 'number_of_replicas' in self || 'refresh_interval' in self)",message="params must not set number_of_shards, number_of_replicas or refresh_interval: the topology sets them"
	Params map[string]ParamValue `json:"params,omitempty"`
	// warmupParams override params in Warmup trials, whose figures are discarded.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[A-Za-z_][A-Za-z0-9_-]*$'))",message="warmupParams must be keyed by names of letters, digits, _ and -"
	// +kubebuilder:validation:XValidation:rule="!('number_of_shards' in self || 'number_of_replicas' in self || 'refresh_interval' in self)",message="warmupParams must not set number_of_shards, number_of_replicas or refresh_interval: the topology sets them"
	WarmupParams map[string]ParamValue `json:"warmupParams,omitempty"`
	// clientsParam is the workload's parameter that takes the client count.
	// +optional
	// +kubebuilder:default=bulk_indexing_clients
	// +kubebuilder:validation:XValidation:rule="!(self in ['number_of_shards', 'number_of_replicas', 'refresh_interval'])",message="clientsParam must not be number_of_shards, number_of_replicas or refresh_interval: the topology sets them"
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_-]*$`
	// +kubebuilder:validation:MaxLength=64
	ClientsParam string `json:"clientsParam,omitempty"`
	// targetThroughputParam is the workload's parameter that takes the ingest task's target-throughput, in bulk requests
	// a second over all clients; final.openLoop sets it.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_-]*$`
	// +kubebuilder:validation:MaxLength=64
	TargetThroughputParam string `json:"targetThroughputParam,omitempty"`
	// setupTasks run before ingestTasks when the workload makes its own index: task names, type:TYPE or tag:TAG. A name
	// that holds a comma or a colon cannot be passed to OSB.
	// +optional
	// +listType=atomic
	// +kubebuilder:default={"type:create-index"}
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:items:Pattern=`^((type|tag):)?[A-Za-z0-9_]([^,:\x00-\x1f\x7f]*[^,:\s\x00-\x1f\x7f])?$`
	SetupTasks []string `json:"setupTasks,omitempty"`
	// ingestTasks are the tasks that index documents: task names, or type:TYPE. The first is the one whose
	// figures stand beside Knee's own.
	// +optional
	// +listType=atomic
	// +kubebuilder:default={"index"}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:items:Pattern=`^(type:)?[A-Za-z0-9_]([^,:\x00-\x1f\x7f]*[^,:\s\x00-\x1f\x7f])?$`
	IngestTasks []string `json:"ingestTasks,omitempty"`
	// searchTasks run at the end of a Final repetition when final.search is set: task names, type:TYPE or tag:TAG.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:items:Pattern=`^((type|tag):)?[A-Za-z0-9_]([^,:\x00-\x1f\x7f]*[^,:\s\x00-\x1f\x7f])?$`
	SearchTasks []string `json:"searchTasks,omitempty"`
}

// WorkloadSource says where a workload's files come from. Exactly one of its fields is set.
//
// +kubebuilder:validation:XValidation:rule="[has(self.git), has(self.image), has(self.volume), has(self.configMap)].filter(set, set).size() == 1",message="from needs exactly one of git, image, volume and configMap"
type WorkloadSource struct {
	// git clones a repository; the loader needs a way to it.
	// +optional
	Git *GitSource `json:"git,omitempty"`
	// image is an image whose folder holds the workload, with its corpus or without; it needs no shell.
	// +optional
	Image *ImageSource `json:"image,omitempty"`
	// volume is a PersistentVolumeClaim in the campaign's namespace; it is mounted read-only.
	// +optional
	Volume *VolumeSource `json:"volume,omitempty"`
	// configMap is the name of a ConfigMap whose keys are the workload's files ("__" stands for "/").
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ConfigMap string `json:"configMap,omitempty"`
}

// GitSource is a git repository.
type GitSource struct {
	// url of the repository, https or http, without user and password.
	// +required
	// +kubebuilder:validation:Pattern=`^https?://[^\s]+$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^https?://[^/?#]*@')",message="url must not hold a user or a password, which everybody who may read the campaign would see: bring a private workload as an image or on a volume"
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`
	// ref is a branch, tag or commit; unset means the repository's default branch.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._/-]*$`
	// +kubebuilder:validation:MaxLength=255
	Ref string `json:"ref,omitempty"`
}

// ImageSource is a folder of a container image.
type ImageSource struct {
	// image is a full image reference, tag or digest.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
	// path is the folder within the image that holds the workload's folder.
	// +optional
	// +kubebuilder:default="/workload"
	// +kubebuilder:validation:Pattern=`^/[A-Za-z0-9._/-]*$`
	// +kubebuilder:validation:MaxLength=255
	Path string `json:"path,omitempty"`
}

// VolumeSource is a folder of a PersistentVolumeClaim.
type VolumeSource struct {
	// claimName is the name of the PersistentVolumeClaim.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName,omitempty"`
	// path is the folder within the volume that holds the workload's folder.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._/-]*$`
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="!self.matches('(^|/)[.][.](/|$)')",message="path must stay within the volume: leave .. out"
	Path string `json:"path,omitempty"`
}
