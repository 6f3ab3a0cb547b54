// Package resources builds the Kubernetes objects of a campaign. It is pure: an object depends only on the plan and the
// manager's options.
package resources

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// Labels and annotations of the objects that Knee creates.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	LabelComponent = "app.kubernetes.io/component"
	LabelCampaign  = "knee.dev/campaign" // UID of the campaign
	LabelCell      = "knee.dev/cell"     // hash of the cell's identity
	LabelCellName  = "knee.dev/cell-name"
	LabelVariant   = "knee.dev/variant"
	LabelTopology  = "knee.dev/topology"
	LabelPhase     = "knee.dev/phase"

	// AnnotationCampaignName is the name of a pod's campaign. Watches use it to find the campaign of an event.
	AnnotationCampaignName = "knee.dev/campaign-name"
	// AnnotationTrial is the attempt of a Job or of a record, as JSON.
	AnnotationTrial = "knee.dev/trial"
	// AnnotationJVM identifies the OpenSearch processes that a Job loads.
	AnnotationJVM = "knee.dev/jvm"
	// AnnotationSince is when a StatefulSet or an OpenSearchCluster was created, or last scaled up or down, in RFC 3339.
	AnnotationSince = "knee.dev/since"
	// AnnotationPlacement is the placement of the cell for which a StatefulSet or an OpenSearchCluster was created, counted
	// from 1.
	AnnotationPlacement = "knee.dev/placement"
	// AnnotationMadeOf identifies the inputs and the content of a part of a report.
	AnnotationMadeOf = "knee.dev/made-of"
	// AnnotationWrittenBy is the version of Knee that wrote a part of a report.
	AnnotationWrittenBy = "knee.dev/written-by"

	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "knee"
)

// The values of LabelComponent.
const (
	ComponentOpenSearch = "opensearch"
	ComponentLoader     = "loader"
	ComponentRecord     = "record"
	ComponentReport     = "report"
)

// Names of containers that the manager looks up.
const (
	ContainerOpenSearch = "opensearch"
	ContainerTrial      = "trial"
)

// HTTPPort is OpenSearch's REST port.
const HTTPPort = 9200

// Options are the manager's settings that affect objects of campaigns.
type Options struct {
	OpenSearchImage string // repository; the campaign's version is the tag
	OSBImage        string // repository; the campaign's OSB version is the tag
	AgentImage      string // complete image reference
	AllowSysctlInit bool   // campaigns may raise the nodes' vm.max_map_count by a privileged init container
	NoPolicies      bool   // create no NetworkPolicies
	NoUserIDs       bool   // leave the user and the groups of pods to admission, as OpenShift requires
}

func meta(c *v1alpha1.BenchmarkCampaign, name, component string, cell plan.Cell) metav1.ObjectMeta {
	m := owned(c, name, component)
	m.Labels[LabelCell] = cell.Hash
	m.Labels[LabelCellName] = cell.Name
	m.Labels[LabelVariant] = cell.Variant()
	m.Labels[LabelTopology] = cell.Topology()
	return m
}

func owned(c *v1alpha1.BenchmarkCampaign, name, component string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:      name,
		Namespace: c.Namespace,
		Labels: map[string]string{
			LabelManagedBy: ManagedBy,
			LabelComponent: component,
			LabelCampaign:  string(c.UID),
		},
		Annotations: map[string]string{AnnotationCampaignName: c.Name},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkCampaign", Name: c.Name, UID: c.UID,
			Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
		}},
	}
}

// podMeta returns the metadata of a pod template: labels for selectors, and the campaign's name.
func podMeta(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Labels:      maps.Clone(m.Labels),
		Annotations: map[string]string{AnnotationCampaignName: m.Annotations[AnnotationCampaignName]},
	}
}
