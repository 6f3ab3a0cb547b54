package resources_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

func TestStatefulSet_zones_spreadTheNodes(t *testing.T) {
	constraints := func(zones *int32) (corev1.PodTemplateSpec, []corev1.TopologySpreadConstraint) {
		w := wrappers.MakeCampaign("x").Variant("a").Nodes(6)
		w.Spec.Topologies[0].Zones = zones
		_, cell := cellOf(w)
		pod := resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now).Spec.Template
		return pod, pod.Spec.TopologySpreadConstraints
	}
	if _, got := constraints(nil); got != nil {
		t.Errorf("without zones: %+v", got)
	}
	pod, got := constraints(ptr.To[int32](2))
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	c := got[0]
	if c.TopologyKey != corev1.LabelTopologyZone || c.MaxSkew != 1 || *c.MinDomains != 2 || c.WhenUnsatisfiable != corev1.DoNotSchedule || *c.NodeTaintsPolicy != corev1.NodeInclusionPolicyHonor {
		t.Errorf("%+v", c)
	}
	selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
	if err != nil || !selector.Matches(labels.Set(pod.Labels)) {
		t.Errorf("%v does not count the cell's own pods %v (%v)", selector, pod.Labels, err)
	}
}
