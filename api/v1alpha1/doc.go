// Package v1alpha1 is the API of Knee: one object, the BenchmarkCampaign.
//
// +kubebuilder:object:generate=true
// +groupName=knee.dev
package v1alpha1
