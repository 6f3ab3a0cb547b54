package v1alpha1

// Resources are the requests of a container. They are also its limits, unless the field limits excludes them.
type Resources struct {
	// cpu is in cores, such as "14" or 500m. Unset: no request and no limit.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+m?$')",message="cpu is in cores, such as 14 or 500m"
	CPU Quantity `json:"cpu,omitempty"`
	// memory is in bytes, such as 50Gi. Unset: no request and no limit.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.matches('[kMGT]i?$')",message="memory needs a unit of bytes, such as 50Gi"
	Memory Quantity `json:"memory,omitempty"`
	// limits defines which requests are limits too. CPUAndMemory: both. Memory: only memory, so the program may use every core of its
	// node. None: no limits, so the kernel may also use the rest of the node's memory for OpenSearch's files. Unset: CPUAndMemory.
	// +optional
	Limits ResourceLimits `json:"limits,omitempty"`
}

// ResourceLimits defines which requests are limits too.
//
// +kubebuilder:validation:Enum=CPUAndMemory;Memory;None
type ResourceLimits string

// The kinds of limits.
const (
	LimitCPUAndMemory ResourceLimits = "CPUAndMemory"
	LimitMemory       ResourceLimits = "Memory"
	LimitNone         ResourceLimits = "None"
)

// CPULimit returns the limit of the CPU, or an empty Quantity if the CPU has no limit.
func (r Resources) CPULimit() Quantity {
	if r.Limits == LimitMemory || r.Limits == LimitNone {
		return ""
	}
	return r.CPU
}

// MemoryLimit returns the limit of the memory, or an empty Quantity if the memory has no limit.
func (r Resources) MemoryLimit() Quantity {
	if r.Limits == LimitNone {
		return ""
	}
	return r.Memory
}

// Storage is a volume made from a storage class.
type Storage struct {
	// size of the volume, such as 1Ti.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.matches('[kMGT]i?$')",message="size needs a unit of bytes, such as 1Ti"
	Size Quantity `json:"size,omitempty"`
	// storageClassName is the class of the volume; unset means the cluster's default class.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	StorageClassName string `json:"storageClassName,omitempty"`
}
