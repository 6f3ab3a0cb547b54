package v1alpha1

// Loader is where the load generator runs.
type Loader struct {
	// nodePool selects the nodes of the loader.
	// +optional
	NodePool NodePool `json:"nodePool,omitzero"`
	// placement Dedicated keeps the loader off every node that runs OpenSearch of a campaign. Shared allows the same node; the
	// result is then not conclusive.
	// +optional
	// +kubebuilder:default=Dedicated
	Placement LoaderPlacement `json:"placement,omitempty"`
	// resources are the requests of the loader. They are also its limits, unless resources.limits excludes them.
	// +optional
	Resources Resources `json:"resources,omitzero"`
	// cache is a volume that keeps the loader's downloads (workloads, corpora) from one trial to the next. Each cell has its
	// own volume. Unset: nothing is kept.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.storageClassName) || has(self.size)",message="cache.storageClassName needs cache.size beside it"
	Cache Storage `json:"cache,omitzero"`
	// podTemplate adds to the loader's pods.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.env) || self.env.all(e, !e.name.startsWith('KNEE_') && e.name != 'JOB_COMPLETION_INDEX')",message="env must not set KNEE_* and JOB_COMPLETION_INDEX: Knee and Kubernetes set them",fieldPath=.env
	// +kubebuilder:validation:XValidation:rule="!has(self.volumes) || self.volumes.all(v, !v.mountPath.matches('^/knee(/|$)'))",message="volumes must not be mounted in /knee: Knee mounts its own volumes there",fieldPath=.volumes
	PodTemplate PodTemplate `json:"podTemplate,omitzero"`
}

// LoaderPlacement defines whether the loader may run on a node that runs OpenSearch.
//
// +kubebuilder:validation:Enum=Dedicated;Shared
type LoaderPlacement string

// The loader placements.
const (
	LoaderDedicated LoaderPlacement = "Dedicated"
	LoaderShared    LoaderPlacement = "Shared"
)

// Workload is the load: the driver that makes the load, and the index that the load fills. Exactly one driver is set.
//
// +kubebuilder:validation:XValidation:rule="[has(self.osb), has(self.bulk), has(self.stream), has(self.command)].filter(set, set).size() == 1",message="workload needs exactly one driver: set one of osb, bulk, stream and command",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.bulk) || has(self.index) && has(self.index.name)",message="bulk fills an index and needs index.name",fieldPath=.index,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.index) || has(self.osb) || has(self.bulk)",message="stream and command fill no index: leave index out",fieldPath=.index
// +kubebuilder:validation:XValidation:rule="!has(self.index) || !has(self.index.name) || !self.index.name.endsWith('*') || has(self.osb) && !has(self.index.bodyFrom) && !has(self.index.dataStream) && !has(self.clientBoundCheck)",message="a name that ends in * stands for the indices that the OSB workload makes: it needs osb, and does not go with bodyFrom, dataStream and clientBoundCheck",fieldPath=.index.name
// +kubebuilder:validation:XValidation:rule="!has(self.clientsPerPod) || !has(self.stream)",message="clientsPerPod does not go with stream: its clients are OpenSearch's own",fieldPath=.clientsPerPod
// +kubebuilder:validation:XValidation:rule="!has(self.measure) || self.measure != 'Window' || has(self.osb) || has(self.bulk)",message="measure Window is a part of a load of documents: it needs osb or bulk",fieldPath=.measure
// +kubebuilder:validation:XValidation:rule="!has(self.clientBoundCheck) || !self.clientBoundCheck || has(self.osb) && !has(self.clientsPerPod)",message="clientBoundCheck repeats a load of osb that one loader pod makes: it needs osb, and does not go with clientsPerPod",fieldPath=.clientBoundCheck
type Workload struct {
	// index is the index that the load fills. bulk needs index.name. osb needs index.name, too, except for official workloads
	// whose index is listed in docs/workloads.md. stream and command fill no index.
	// +optional
	Index Index `json:"index,omitzero"`
	// measure is the window over which docs/s is computed. Whole: from the first to the last document. Window: the steady part
	// of a timed load.
	// +optional
	// +kubebuilder:default=Whole
	Measure Measure `json:"measure,omitempty"`
	// clientsPerPod is the maximum number of clients of one loader pod. A trial with more clients runs in several pods, which start the
	// load together. Unset: one pod has all clients.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	ClientsPerPod *int32 `json:"clientsPerPod,omitempty"`
	// warmupTrials is how many Warmup trials follow each start of OpenSearch's JVM. At an endpoint they precede the first
	// trial of a cell. Their figures are discarded. 0 is for systems that need no warm-up, such as a mock server; Knee refuses
	// 0 if it starts OpenSearch. A new number measures the campaign again. Unset: 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	WarmupTrials *int32 `json:"warmupTrials,omitempty"`
	// waitSeconds is a pause after the cluster is idle and before the load. It is a part of timeouts.trialSeconds and must be
	// shorter. A new number measures the campaign again. Unset: no pause.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	WaitSeconds *int32 `json:"waitSeconds,omitempty"`
	// clientBoundCheck repeats the load of the first Final trial of each cell, at each client count, with Knee's own loader:
	// the same documents, bulk size and clients. The report shows whether opensearch-benchmark was the limit. A trial with this
	// check takes about twice as long. Trials that are already measured are not repeated.
	// +optional
	ClientBoundCheck *bool `json:"clientBoundCheck,omitempty"`
	Drivers          `json:",inline"`
}

// Drivers are the drivers that can make the load.
type Drivers struct {
	// osb makes the load with opensearch-benchmark.
	// +optional
	OSB *OSB `json:"osb,omitempty"`
	// bulk makes the load with Knee's own loader.
	// +optional
	Bulk *Bulk `json:"bulk,omitempty"`
	// stream makes the load with the Benchmark API of OpenSearch's stream transport.
	// +optional
	Stream *Stream `json:"stream,omitempty"`
	// command makes the load with any program.
	// +optional
	Command *Command `json:"command,omitempty"`
}

// Measure is the window over which docs/s is computed.
//
// +kubebuilder:validation:Enum=Whole;Window
type Measure string

// The windows over which docs/s is computed.
const (
	MeasureWhole  Measure = "Whole"
	MeasureWindow Measure = "Window"
)

// Index is the index that the load fills. Each trial deletes it and creates it again.
type Index struct {
	// name of the index. A name that ends in * means all indices whose names begin with the text before the *: an OSB workload
	// creates and fills these indices, each with the topology's shards. Unset: the index of the official OSB workload
	// (docs/workloads.md lists them).
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9][a-z0-9._-]*[*]?$`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Name string `json:"name,omitempty"`
	// bodyFrom is a ConfigMap's key that holds the body of the index (settings, mappings, aliases) as JSON. If dataStream is true, this
	// is the body of the index template. The topology's shards, replicas and refresh interval override the body. Unset: the workload
	// creates its own index.
	// +optional
	BodyFrom *ConfigMapKey `json:"bodyFrom,omitempty"`
	// dataStream states that name is the name of a data stream. An index template gives the body to every backing index.
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

// OSB makes the load with opensearch-benchmark.
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
	// image is a full image reference (tag or digest). Unset: the manager's default repository, with version as the tag.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
	// workload is the workload's name in OSB's own repository of workloads. If from is set, it is the name of the workload's folder in
	// that source.
	// +required
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._-]*$`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Workload string `json:"workload,omitempty"`
	// from is the source of the workload's files, for clusters without access to the internet. Unset: OSB's own repository.
	// +optional
	From *WorkloadSource `json:"from,omitempty"`
	// testProcedure is the workload's test procedure. Unset: the workload's default.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._-]*$`
	// +kubebuilder:validation:MaxLength=128
	TestProcedure string `json:"testProcedure,omitempty"`
	// params are the workload's parameters. The topology sets number_of_shards, number_of_replicas and refresh_interval. The
	// sweep sets the parameter that clientsParam names.
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
	// setupTasks run before ingestTasks if the workload creates its own index. Each entry is a task name, type:TYPE or tag:TAG.
	// A name that contains a comma or a colon cannot be passed to OSB.
	// +optional
	// +listType=atomic
	// +kubebuilder:default={"type:create-index"}
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:items:Pattern=`^((type|tag):)?[A-Za-z0-9_]([^,:\x00-\x1f\x7f]*[^,:\s\x00-\x1f\x7f])?$`
	SetupTasks []string `json:"setupTasks,omitempty"`
	// ingestTasks are the tasks that index documents. Each entry is a task name or type:TYPE. The report shows the figures of
	// the first task beside Knee's own figures.
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

// WorkloadSource is the source of a workload's files. Exactly one of its fields is set.
//
// +kubebuilder:validation:XValidation:rule="[has(self.git), has(self.image), has(self.volume), has(self.configMap)].filter(set, set).size() == 1",message="from needs exactly one of git, image, volume and configMap"
type WorkloadSource struct {
	// git clones a repository. The loader needs network access to the repository.
	// +optional
	Git *GitSource `json:"git,omitempty"`
	// image is an image with a folder that contains the workload, with or without its corpus. The image needs no shell.
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
	// +kubebuilder:validation:XValidation:rule="!self.matches('^https?://[^/?#]*@')",message="url must not hold a user or a password, because everyone who may read the campaign would see it: provide a private workload as an image or on a volume"
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`
	// ref is a branch, tag or commit. Unset: the repository's default branch.
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
	// path is the folder in the image that contains the workload's folder.
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
	// path is the folder in the volume that contains the workload's folder.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._/-]*$`
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="!self.matches('(^|/)[.][.](/|$)')",message="path must stay within the volume: leave .. out"
	Path string `json:"path,omitempty"`
}
