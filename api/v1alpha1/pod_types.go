package v1alpha1

// PodTemplate adds to the pods that Knee creates. Names that Knee uses itself are refused. runtimeClassName,
// topologySpreadConstraints, env and volumes are part of the identity of a cell: a new value measures the cell again. Any other field only
// applies to new pods.
type PodTemplate struct {
	// labels are added to the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$'))",message="labels must be keyed by label names, such as example.com/team"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^(([^/]*[.])?(knee[.]dev|kubernetes[.]io|k8s[.]io|opensearch[.]org|opster[.]io)/|(controller-uid|job-name|controller-revision-hash)$)'))",message="labels must not have the prefixes knee.dev, kubernetes.io, k8s.io, opensearch.org and opster.io, nor the names controller-uid, job-name and controller-revision-hash: Knee and other controllers set them"
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// annotations are added to the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$'))",message="annotations must be keyed by annotation names, such as example.com/team"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^(([^/]*[.])?(knee[.]dev|app[.]kubernetes[.]io|batch[.]kubernetes[.]io)/|cluster-autoscaler[.]kubernetes[.]io/safe-to-evict$|karpenter[.]sh/do-not-disrupt$)'))",message="annotations must not have the prefixes knee.dev, app.kubernetes.io and batch.kubernetes.io, nor be cluster-autoscaler.kubernetes.io/safe-to-evict or karpenter.sh/do-not-disrupt: Knee and Kubernetes set them"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
	// priorityClassName is the priority class of the pods. Unset: the default of the Kubernetes cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// runtimeClassName is the runtime class of the pods. Unset: the default runtime of the node.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName string `json:"runtimeClassName,omitempty"`
	// imagePullSecrets name Secrets in the campaign's namespace with which the kubelet pulls the images.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []LocalReference `json:"imagePullSecrets,omitempty"`
	// topologySpreadConstraints spread the pods. Only the pods of the same cell and of the same kind (OpenSearch or loader) count.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +kubebuilder:validation:MaxItems=4
	TopologySpreadConstraints []TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// env are environment variables of the container of OpenSearch or of the trial.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Env []EnvVar `json:"env,omitempty"`
	// volumes are mounted in the container of OpenSearch or of the trial.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.all(v, self.exists_one(w, w.mountPath == v.mountPath))",message="volumes must have different mountPaths"
	Volumes []PodVolume `json:"volumes,omitempty"`
}

// AnnotationValue is the value of an annotation.
//
// +kubebuilder:validation:MaxLength=1024
type AnnotationValue string

// LocalReference names an object in the campaign's namespace.
type LocalReference struct {
	// name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// TopologySpreadConstraint spreads the pods of a cell, as the field of the same name of a pod does. Knee sets its label selector.
type TopologySpreadConstraint struct {
	// maxSkew is the maximum difference between the numbers of pods in two topologies.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	MaxSkew int32 `json:"maxSkew,omitempty"`
	// topologyKey is the node label whose values are the topologies, such as kubernetes.io/hostname.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	TopologyKey string `json:"topologyKey,omitempty"`
	// whenUnsatisfiable defines whether a pod that cannot be spread stays pending or runs anyway.
	// +required
	// +kubebuilder:validation:Enum=DoNotSchedule;ScheduleAnyway
	WhenUnsatisfiable string `json:"whenUnsatisfiable,omitempty"`
}

// EnvVar is an environment variable.
//
// +kubebuilder:validation:XValidation:rule="!has(self.value) || !has(self.valueFrom)",message="value and valueFrom exclude each other"
type EnvVar struct {
	// name of the variable.
	// +required
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name,omitempty"`
	// value of the variable. $(NAME) in it is not replaced.
	// +optional
	Value EnvValue `json:"value,omitempty"`
	// valueFrom is the source of the value.
	// +optional
	ValueFrom *EnvSource `json:"valueFrom,omitempty"`
}

// EnvValue is the value of an environment variable.
//
// +kubebuilder:validation:MaxLength=1024
type EnvValue string

// EnvSource is the source of the value of an environment variable.
type EnvSource struct {
	// configMapKeyRef is a key of a ConfigMap. Its content is not part of the identity of a cell.
	// +required
	ConfigMapKeyRef ConfigMapKey `json:"configMapKeyRef,omitzero"`
}

// PodVolume is a volume and the path where it is mounted. Exactly one source is set. The content of a source is not part of the identity
// of a cell.
//
// +kubebuilder:validation:XValidation:rule="[has(self.configMap), has(self.persistentVolumeClaim), has(self.emptyDir)].filter(set, set).size() == 1",message="a volume needs exactly one of configMap, persistentVolumeClaim and emptyDir"
// +kubebuilder:validation:XValidation:rule="!self.mountPath.matches('^/(dev|proc|sys)(/|$)')",message="mountPath must not be in /dev, /proc or /sys",fieldPath=.mountPath
type PodVolume struct {
	// name identifies the volume in the template.
	// +required
	Name Name `json:"name,omitempty"`
	// mountPath is the absolute path where the volume is mounted, without folders named . or ..
	// +required
	// +kubebuilder:validation:Pattern=`^(/[A-Za-z0-9_+-][A-Za-z0-9._+-]*)+$`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	MountPath string `json:"mountPath,omitempty"`
	// readOnly defines whether the volume is mounted read-only. Unset: false.
	// +optional
	ReadOnly *bool `json:"readOnly,omitempty"`
	// configMap is a ConfigMap in the campaign's namespace, whose keys become files.
	// +optional
	ConfigMap *LocalReference `json:"configMap,omitempty"`
	// persistentVolumeClaim is a claim in the campaign's namespace.
	// +optional
	PersistentVolumeClaim *ClaimReference `json:"persistentVolumeClaim,omitempty"`
	// emptyDir is a volume that is deleted with the pod.
	// +optional
	EmptyDir *EmptyDir `json:"emptyDir,omitempty"`
}

// ClaimReference names a PersistentVolumeClaim in the campaign's namespace.
type ClaimReference struct {
	// claimName is the name of the PersistentVolumeClaim.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName,omitempty"`
}

// EmptyDir is a volume that is deleted with its pod.
type EmptyDir struct {
	// medium Memory keeps the files in memory. Unset: on the disk of the node.
	// +optional
	// +kubebuilder:validation:Enum=Memory
	Medium string `json:"medium,omitempty"`
	// sizeLimit is the maximum size, such as 1Gi. Unset: no limit.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.matches('[kMGT]i?$')",message="sizeLimit needs a unit of bytes, such as 1Gi"
	SizeLimit Quantity `json:"sizeLimit,omitempty"`
}
