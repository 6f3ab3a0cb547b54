// Package resources builds the objects that a campaign wants to exist. It is pure: an object is a function of
// the plan and the manager's options.
package resources

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// Labels and annotations of the objects that Knee makes.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	LabelComponent = "app.kubernetes.io/component"
	LabelCampaign  = "knee.dev/campaign" // UID of the campaign
	LabelCell      = "knee.dev/cell"     // hash of the cell's identity
	LabelCellName  = "knee.dev/cell-name"
	LabelVariant   = "knee.dev/variant"
	LabelTopology  = "knee.dev/topology"
	LabelPhase     = "knee.dev/phase"

	// AnnotationCampaignName lets an event of a pod find its campaign.
	AnnotationCampaignName = "knee.dev/campaign-name"
	// AnnotationTrial holds the attempt that a Job runs, or that a record is of, as JSON.
	AnnotationTrial = "knee.dev/trial"
	// AnnotationJVM identifies the OpenSearch processes that a Job loads.
	AnnotationJVM = "knee.dev/jvm"
	// AnnotationSince says when a StatefulSet or an OpenSearchCluster was last asked to run, in RFC 3339.
	AnnotationSince = "knee.dev/since"
	// AnnotationPlacement counts, from 1, the placements of a cell that its StatefulSet or OpenSearchCluster is one of.
	AnnotationPlacement = "knee.dev/placement"
	// AnnotationMadeOf identifies what a part of a report is made of, and what it holds.
	AnnotationMadeOf = "knee.dev/made-of"

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

// Names of containers that the controller looks for.
const (
	ContainerOpenSearch = "opensearch"
	ContainerTrial      = "trial"
)

// HTTPPort is OpenSearch's REST port.
const HTTPPort = 9200

// Options are the manager's settings that reach the objects.
type Options struct {
	OpenSearchImage string // repository; the campaign's version is the tag
	OSBImage        string // repository; the campaign's OSB version is the tag
	AgentImage      string // full reference
	AllowSysctlInit bool   // whether campaigns may raise the nodes' vm.max_map_count by a privileged init container
	NoPolicies      bool   // makes no NetworkPolicies
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

// podMeta is what a pod's template carries: labels to select by, and the way back to the campaign.
func podMeta(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Labels:      maps.Clone(m.Labels),
		Annotations: map[string]string{AnnotationCampaignName: m.Annotations[AnnotationCampaignName]},
	}
}
