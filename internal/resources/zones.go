package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// spreadOverZones places the nodes of a cell evenly on at least as many zones as its topology asks for; nil where it asks
// for none. Pods that cannot be placed so stay pending: two zones that turn out to be one would be another measurement.
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
		NodeTaintsPolicy:  ptr.To(corev1.NodeInclusionPolicyHonor), // a zone where no pod tolerates the taints is no zone
		LabelSelector:     &metav1.LabelSelector{MatchLabels: selector(c, cell, ComponentOpenSearch)},
	}}
}
