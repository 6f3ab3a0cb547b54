package v1alpha1

// Quantity is an amount of bytes or cores, such as 31Gi, "14" or 500m.
//
// +kubebuilder:validation:Pattern=`^[1-9][0-9]{0,8}(m|k|M|G|T|Ki|Mi|Gi|Ti)?$`
// +kubebuilder:validation:MaxLength=16
type Quantity string

// Name names a variant or a topology within its campaign: a lower-case DNS label.
//
// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
type Name string

// Variant is one of the things that a campaign compares.
//
// +kubebuilder:validation:XValidation:rule="!has(self.architecture) || !has(self.nodePool) || !has(self.nodePool.nodeSelector) || !('kubernetes.io/arch' in self.nodePool.nodeSelector) || self.nodePool.nodeSelector['kubernetes.io/arch'] == self.architecture",message="nodePool.nodeSelector's kubernetes.io/arch must be the variant's architecture: leave one of them out"
// +kubebuilder:validation:XValidation:rule="!has(self.endpoint) || !has(self.nodePool) && !has(self.architecture) && !has(self.opensearch)",message="endpoint excludes nodePool, architecture and opensearch (storage included): Knee provisions nothing there"
type Variant struct {
	// name identifies the variant within the campaign.
	// +required
	Name Name `json:"name,omitempty"`
	// architecture is the CPU architecture that OpenSearch is pinned to (the node label kubernetes.io/arch). The pods tolerate the taint
	// kubernetes.io/arch=ARCHITECTURE:NoSchedule, which GKE adds to Arm nodes.
	// +optional
	Architecture Architecture `json:"architecture,omitempty"`
	// nodePool selects the nodes of this variant's OpenSearch.
	// +optional
	NodePool NodePool `json:"nodePool,omitzero"`
	// opensearch overrides the campaign's defaults. settings merge by key; any other field replaces the default.
	// +optional
	OpenSearch OpenSearch `json:"opensearch,omitzero"`
	// endpoint is an existing cluster that is measured in place of one that Knee provisions. endpoint excludes nodePool,
	// architecture and opensearch.
	// +optional
	Endpoint *Endpoint `json:"endpoint,omitempty"`
	// params override the driver's params, by key, for this variant.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[A-Za-z_][A-Za-z0-9_-]*$'))",message="params must be keyed by names of letters, digits, _ and -"
	// +kubebuilder:validation:XValidation:rule="!('number_of_shards' in self || 'number_of_replicas' in self || 'refresh_interval' in self)",message="params must not set number_of_shards, number_of_replicas or refresh_interval: the topology sets them"
	Params map[string]ParamValue `json:"params,omitempty"`
	// image replaces workload.command.image for this variant.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
	// pricePerHour is the price of one of the variant's nodes, in a currency of your choice.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) > 0.0",message="pricePerHour must be above 0"
	PricePerHour *Decimal `json:"pricePerHour,omitempty"`
	// storagePricePerHour is the price of one node's volume, including provisioned throughput.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0",message="storagePricePerHour must not be below 0"
	StoragePricePerHour *Decimal `json:"storagePricePerHour,omitempty"`
}

// Endpoint is an OpenSearch cluster that Knee does not provision. docs/endpoints.md lists what Knee cannot measure at an
// endpoint. Only the pods of trials mount the Secrets of an endpoint.
//
// +kubebuilder:validation:XValidation:rule="self.url.startsWith('https://') || !has(self.credentialsSecret) && !has(self.caSecret) && !has(self.clientCertificateSecret) && !has(self.sigV4)",message="credentialsSecret, caSecret, clientCertificateSecret and sigV4 need an https url: http would send them unencrypted"
// +kubebuilder:validation:XValidation:rule="!has(self.sigV4) || !has(self.credentialsSecret) && !has(self.clientCertificateSecret)",message="sigV4 authenticates requests, as credentialsSecret and clientCertificateSecret do: leave these out",fieldPath=.sigV4
type Endpoint struct {
	// url of the REST API, such as https://search.example.org:9200, without user, path or query.
	// +required
	// +kubebuilder:validation:Pattern=`^https?://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`
	// +kubebuilder:validation:MaxLength=253
	URL string `json:"url,omitempty"`
	// credentialsSecret is the name of a Secret in the campaign's namespace with the keys username and password, such as a Secret of type
	// kubernetes.io/basic-auth. Unset: no authentication.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CredentialsSecret string `json:"credentialsSecret,omitempty"`
	// sigV4 signs requests by Signature Version 4 of AWS, which managed domains require. It replaces credentialsSecret.
	// +optional
	SigV4 *SigV4 `json:"sigV4,omitempty"`
	// caSecret is the name of a Secret. Its key ca.crt contains the authorities that verify the server's certificate. Unset:
	// the authorities of the loader's image.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CASecret string `json:"caSecret,omitempty"`
	// clientCertificateSecret is the name of a Secret of type kubernetes.io/tls (tls.crt, tls.key) that trials present to the
	// server.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClientCertificateSecret string `json:"clientCertificateSecret,omitempty"`
	// allowIndexDeletion lets each trial delete the workload's index at the endpoint before the trial creates a new index. The
	// trial deletes the index also if Knee did not create it. allowIndexDeletion must be true if the load fills an index. It
	// states that nothing else uses an index of this name. If the name ends in *, it states this for every index that the name
	// matches.
	// +optional
	AllowIndexDeletion *bool `json:"allowIndexDeletion,omitempty"`
}

// SigV4 names the region, the service and the keys with which requests are signed.
type SigV4 struct {
	// region of the domain, such as eu-central-1.
	// +required
	// +kubebuilder:validation:Pattern=`^[a-z]{2}(-[a-z]+)+-[0-9]+$`
	// +kubebuilder:validation:MaxLength=32
	Region string `json:"region,omitempty"`
	// service is the name of the service in the signatures: es for domains, aoss for serverless collections. Unset: es.
	// +optional
	// +kubebuilder:validation:Enum=es;aoss
	Service string `json:"service,omitempty"`
	// credentialsSecret is the name of a Secret in the campaign's namespace with the keys accessKeyID, secretAccessKey and,
	// for keys that expire, sessionToken.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CredentialsSecret string `json:"credentialsSecret,omitempty"`
}

// Architecture is a value of the node label kubernetes.io/arch.
//
// +kubebuilder:validation:Enum=amd64;arm64
type Architecture string

// NodePool selects nodes, as a pod's nodeSelector and tolerations do.
type NodePool struct {
	// nodeSelector lists the labels that a node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`
	// tolerations are the taints that the pods tolerate.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Tolerations []Toleration `json:"tolerations,omitempty"`
}

// LabelValue is the value of a node's label.
//
// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9][A-Za-z0-9_.-]*)?[A-Za-z0-9])?$`
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// ParamValue is the value of a workload's parameter or of a setting.
//
// +kubebuilder:validation:MaxLength=1024
type ParamValue string

// Toleration lets pods run on nodes with a matching taint.
//
// +kubebuilder:validation:XValidation:rule="has(self.key) && size(self.key) > 0 || has(self.operator) && self.operator == 'Exists'",message="a toleration without key needs operator Exists"
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || self.operator != 'Exists' || !has(self.value) || size(self.value) == 0",message="a toleration with operator Exists must not have a value"
type Toleration struct {
	// key is the taint's key. Empty matches all keys; the field operator must then be Exists.
	// +optional
	// +kubebuilder:validation:MaxLength=316
	Key string `json:"key,omitempty"`
	// operator is how value is compared. Unset: Equal.
	// +optional
	// +kubebuilder:validation:Enum=Equal;Exists
	Operator string `json:"operator,omitempty"`
	// value is the taint's value.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value string `json:"value,omitempty"`
	// effect is the taint's effect. Empty matches all effects.
	// +optional
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect string `json:"effect,omitempty"`
}

// OpenSearch is the system under test. In a variant, a field that is set overrides the campaign's default.
//
// +kubebuilder:validation:XValidation:rule="!has(self.heap) || !has(self.resources) || !has(self.resources.memory) || !isQuantity(self.heap) || !isQuantity(self.resources.memory) || quantity(self.heap).isLessThan(quantity(self.resources.memory))",message="heap must be below resources.memory (the JVM needs more than its heap): lower heap or raise memory",fieldPath=.heap
// +kubebuilder:validation:XValidation:rule="!has(self.security) || !has(self.provisioner) || self.provisioner != 'OpenSearchCluster'",message="security is always on with provisioner OpenSearchCluster: leave security out",fieldPath=.security
type OpenSearch struct {
	// provisioner creates the cluster. StatefulSet: Knee creates the cluster itself, without security unless security is true.
	// OpenSearchCluster: the opensearch-k8s-operator, which must be installed, creates the cluster with security on.
	// OpenSearchCluster needs version, and at least 3 nodes in each topology. Unset: StatefulSet.
	// +optional
	Provisioner Provisioner `json:"provisioner,omitempty"`
	// security switches the security plugin on: TLS between the nodes and at the REST API, and a password. Knee creates the
	// certificates and the password. The image must contain the plugin. Unset: false.
	// +optional
	Security *bool `json:"security,omitempty"`
	// version is the image's tag, such as 3.1.0.
	// +optional
	// +kubebuilder:validation:Pattern=`^[0-9]+\.[0-9]+\.[0-9]+([.-][0-9A-Za-z.-]+)?$`
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
	// image is a full image reference (tag or digest). Unset: the manager's default repository, with version as the tag.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
	// heap is the JVM's heap, set as -Xms and -Xmx. Unset: half of the memory request, at most 31Gi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.matches('[kMGT]i?$')",message="heap needs a unit of bytes, such as 31Gi"
	Heap Quantity `json:"heap,omitempty"`
	// javaOptions are appended to OPENSEARCH_JAVA_OPTS, in order. The heap is set by the field heap.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:XValidation:rule="!self.matches('(^|[[:space:]])-(X(mx|ms)|XX:(MaxHeapSize|InitialHeapSize|MinHeapSize|MaxRAM|MaxRAMPercentage|InitialRAMPercentage|MinRAMPercentage)=)')",message="javaOptions must not set the heap (-Xmx, -Xms, -XX:MaxHeapSize and the like): set opensearch.heap"
	JavaOptions []string `json:"javaOptions,omitempty"`
	// javaHome is the folder of the JDK that runs OpenSearch, in the image, such as /usr/lib/jvm/java-21-openjdk-amd64. Knee
	// sets OPENSEARCH_JAVA_HOME and JAVA_HOME to it. Unset: the JDK of the OpenSearch distribution.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[A-Za-z0-9_+-][A-Za-z0-9._+-]*)+$')",message="javaHome must be an absolute path in the image, without a slash at its end and without folders named . or .. (such as /usr/lib/jvm/java-21-openjdk-amd64)"
	JavaHome string `json:"javaHome,omitempty"`
	// settings are lines of opensearch.yml. Settings of an index belong in the index body of the workload.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[A-Za-z0-9_][A-Za-z0-9_.*-]*$'))",message="settings must be keyed by the dotted names of opensearch.yml's settings"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('index.'))",message="settings must not hold index.* settings, which keep OpenSearch from starting: put them into the index body (workload.index.bodyFrom) or the topology"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^(cluster[.](name$|initial_)|node[.]name$|(discovery|network|path)[.]|(http|transport)[.](host$|port$|bind_|publish_)|transport[.](tcp[.]port$|profiles[.]))'))",message="settings must not hold what Knee sets itself: cluster.name, cluster.initial_*, node.name, discovery.*, network.*, path.*, nor the host, port, bind_* and publish_* of http and transport: leave them out (topologies[].nodes says how many nodes form the cluster)"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^node[.](roles|master|cluster_manager|data|ingest|ml|remote_cluster_client|voting_only|search|warm)$'))",message="settings must not hold the roles of a node (node.roles, node.master, node.data and the like): every node of a cluster that Knee makes is cluster manager and data node, or the cluster does not form: leave them out"
	Settings map[string]ParamValue `json:"settings,omitempty"`
	// resources are the requests of one OpenSearch node and, unless resources.limits says otherwise, its limits.
	// +optional
	Resources Resources `json:"resources,omitzero"`
	// storage is each node's data volume. Unset: an emptyDir, which is deleted with the pod.
	// +optional
	Storage Storage `json:"storage,omitzero"`
	// sysctlInit raises the node's vm.max_map_count to the minimum of OpenSearch, by a privileged init container. The manager
	// (--allow-sysctl-init) and the namespace's pod security must allow it. Unset: the node is not changed.
	// +optional
	SysctlInit *bool `json:"sysctlInit,omitempty"`
	// diskLimits are the known limits of the volume or the machine. Knee does not enforce these limits. If the traffic of all
	// disks of a node's machine comes within 10 % of a limit, the result is not conclusive (DiskBound).
	// +optional
	DiskLimits DiskLimits `json:"diskLimits,omitzero"`
	// podTemplate adds to the pods of OpenSearch. In a variant, labels and annotations merge by key, env and volumes merge by
	// name, and any other field replaces the campaign's. Provisioner OpenSearchCluster allows neither runtimeClassName nor volumes.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.env) || self.env.all(e, !e.name.startsWith('KNEE_') && !(e.name in ['OPENSEARCH_JAVA_OPTS', 'OPENSEARCH_JAVA_HOME', 'JAVA_HOME', 'OPENSEARCH_HOME', 'OPENSEARCH_PATH_CONF', 'DISABLE_SECURITY_PLUGIN', 'DISABLE_INSTALL_DEMO_CONFIG']))",message="env must not set variables that Knee sets or relies on (KNEE_*, OPENSEARCH_JAVA_OPTS, OPENSEARCH_JAVA_HOME, JAVA_HOME, OPENSEARCH_HOME, OPENSEARCH_PATH_CONF, DISABLE_*): use heap, javaOptions, javaHome and security",fieldPath=.env
	// +kubebuilder:validation:XValidation:rule="!has(self.volumes) || self.volumes.all(v, !v.mountPath.matches('^/usr(/share(/opensearch(/(data|logs)(/.*)?|/config(/(opensearch[.]yml|certificates|opensearch-security)(/.*)?)?)?)?)?$'))",message="volumes must not hide files of OpenSearch or volumes of Knee: use another mountPath, or one below /usr/share/opensearch/config",fieldPath=.volumes
	PodTemplate PodTemplate `json:"podTemplate,omitzero"`
}

// MemoryLockSetting is the setting by which OpenSearch locks its memory against swapping.
const MemoryLockSetting = "bootstrap.memory_lock"

// LocksMemory reports whether the settings lock OpenSearch's memory.
func (o OpenSearch) LocksMemory() bool { return o.Settings[MemoryLockSetting] == "true" }

// Provisioner names what creates a variant's OpenSearch.
//
// +kubebuilder:validation:Enum=StatefulSet;OpenSearchCluster
type Provisioner string

// The provisioners.
const (
	ProvisionStatefulSet       Provisioner = "StatefulSet"
	ProvisionOpenSearchCluster Provisioner = "OpenSearchCluster"
)

// DiskLimits are the known limits of one node's disk.
type DiskLimits struct {
	// mibPerSecond is the limit of throughput, reads and writes together, in MiB/s.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	MiBPerSecond *int32 `json:"mibPerSecond,omitempty"`
	// iops is the limit of operations a second, reads and writes together.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000
	IOPS *int32 `json:"iops,omitempty"`
}

// Topology is the shape of the cluster and of the index.
//
// +kubebuilder:validation:XValidation:rule="!has(self.zones) || self.?nodes.orValue(1) >= self.zones",message="zones must not be above nodes: a zone would have no node",fieldPath=.zones
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || self.replicas < self.?nodes.orValue(1)",message="replicas must be below nodes, or the index is never green: lower replicas or raise nodes"
type Topology struct {
	// name identifies the topology within the campaign.
	// +required
	Name Name `json:"name,omitempty"`
	// nodes is the number of OpenSearch nodes. An endpoint's cluster must have the same number of data nodes. Otherwise the
	// trials at this endpoint fail. Unset: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Nodes *int32 `json:"nodes,omitempty"`
	// zones is the minimum number of zones (node label topology.kubernetes.io/zone) over which the OpenSearch nodes are spread
	// evenly: the counts of two zones differ by at most 1. If the pool has fewer zones, pods stay unscheduled. zones works with
	// provisioner StatefulSet only, and is ignored at an endpoint. Unset: the scheduler decides. OpenSearch does not allocate
	// shards by zone, because it has no information about the zone of its node.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=16
	Zones *int32 `json:"zones,omitempty"`
	// primaries is the number of primary shards. Required if the load fills an index.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	Primaries int32 `json:"primaries,omitempty"`
	// replicas is the number of replicas of each primary shard. It must be lower than nodes. Unset: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=16
	Replicas *int32 `json:"replicas,omitempty"`
	// refreshInterval is index.refresh_interval, such as 30s. -1 disables refresh. Unset: 1s.
	// +optional
	// +kubebuilder:validation:Pattern=`^(-1|[1-9][0-9]{0,5}(ms|s|m))$`
	RefreshInterval string `json:"refreshInterval,omitempty"`
	// replication is index.replication.type. DOCUMENT: each copy indexes by itself. SEGMENT: replicas copy the primary's
	// segments. Unset: the cluster's default.
	// +optional
	Replication Replication `json:"replication,omitempty"`
	// ismPolicyFrom is a ConfigMap's key that holds an Index State Management policy as JSON, which is applied to the
	// index or data stream of each trial. The cluster needs the index-management plugin.
	// +optional
	ISMPolicyFrom *ConfigMapKey `json:"ismPolicyFrom,omitempty"`
}

// Replication is a value of index.replication.type.
//
// +kubebuilder:validation:Enum=DOCUMENT;SEGMENT
type Replication string
