package v1alpha1

// Resources are requested, and unless limits says otherwise they are the limits too.
type Resources struct {
	// cpu is in cores, such as "14" or 500m. Unset: no request and no limit.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+m?$')",message="cpu is in cores, such as 14 or 500m"
	CPU Quantity `json:"cpu,omitempty"`
	// memory is in bytes, such as 50Gi. Unset: no request and no limit.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.matches('[kMGT]i?$')",message="memory needs a unit of bytes, such as 50Gi"
	Memory Quantity `json:"memory,omitempty"`
	// limits says which of the requests are limits too. CPUAndMemory: both. Memory: cpu is only requested, so that the
	// program may use every core of its node. None: memory is only requested, too, so that the kernel may use the rest of the
	// node's memory for OpenSearch's files. Unset: CPUAndMemory.
	// +optional
	Limits ResourceLimits `json:"limits,omitempty"`
}

// ResourceLimits says which requests are limits too.
//
// +kubebuilder:validation:Enum=CPUAndMemory;Memory;None
type ResourceLimits string

// The kinds of limits.
const (
	LimitCPUAndMemory ResourceLimits = "CPUAndMemory"
	LimitMemory       ResourceLimits = "Memory"
	LimitNone         ResourceLimits = "None"
)

// CPULimit returns the limit of the CPU; empty for none.
func (r Resources) CPULimit() Quantity {
	if r.Limits == LimitMemory || r.Limits == LimitNone {
		return ""
	}
	return r.CPU
}

// MemoryLimit returns the limit of the memory; empty for none.
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
