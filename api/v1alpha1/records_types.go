package v1alpha1

// RecordsPolicy defines what happens to the records of a campaign when the campaign is deleted.
//
// +kubebuilder:validation:Enum=Delete;Keep
type RecordsPolicy string

// The records policies.
const (
	RecordsDelete RecordsPolicy = "Delete"
	RecordsKeep   RecordsPolicy = "Keep"
)
