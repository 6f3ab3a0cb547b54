package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// spreadOverZones returns constraints that spread the nodes of a cell evenly over at least as many zones as the topology
// requires. It returns nil if the topology requires no zones. Pods that cannot be spread stay pending, because nodes in fewer
// zones would give a different measurement.
func spreadOverZones(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) []corev1.TopologySpreadConstraint {
	zones := cell.Spec.Topology.Zones
	if zones == 0 {
		return nil
	}
	return []corev1.TopologySpreadConstraint{{
		TopologyKey:       plan.ZoneLabel,
		MaxSkew:           1,
		MinDomains:        ptr.To(zones),
		WhenUnsatisfiable: corev1.DoNotSchedule,
		NodeTaintsPolicy:  ptr.To(corev1.NodeInclusionPolicyHonor), // only zones with nodes whose taints the pods tolerate count
		LabelSelector:     &metav1.LabelSelector{MatchLabels: selector(c, cell, ComponentOpenSearch)},
	}}
}
