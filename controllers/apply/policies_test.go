package apply

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestPolicies_deletedCampaign_deletesUnusedOnly checks a manager that finds the NetworkPolicies of a campaign that was deleted while no
// manager ran.
func TestPolicies_deletedCampaign_deletesUnusedOnly(t *testing.T) {
	c := wrappers.MakeCampaign("deleted").Namespace("bench").UID("uid").VariantOnAnyNode("a").Obj()
	p := plan.Build(c)
	cell := p.Cells[0]
	job, err := resources.Job(c, p, cell, record.Attempt{Trial: p.SweepTrial(cell, 1, 1), N: 1}, resources.Running{}, resources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set := resources.StatefulSet(c, cell, resources.Placement{Number: 1}, resources.Options{}, p.ProvisioningTimeout, time.Unix(0, 0))
	pod := &corev1.Pod{ObjectMeta: set.Spec.Template.ObjectMeta}
	pod.Namespace, pod.Name = "bench", "pod"
	for name, tt := range map[string]struct {
		cached, uncached []client.Object
		key              string
		kept             int
	}{
		"no other object":                     {nil, nil, "deleted", 0},
		"a pod that terminates":               {[]client.Object{pod}, []client.Object{pod}, "deleted", 2},
		"a pod that the cache does not show":  {nil, []client.Object{pod}, "deleted", 2},
		"a pod that the cache still shows":    {[]client.Object{pod}, nil, "deleted", 2},
		"a StatefulSet that may create a pod": {[]client.Object{set}, []client.Object{set}, "deleted", 2},
		"a Job that may create a pod":         {[]client.Object{job}, []client.Object{job}, "deleted", 2},
		"campaign of another name":            {nil, nil, "other", 2},
	} {
		newAPI := func(others []client.Object) client.Client {
			objects := []client.Object{resources.OpenSearchPolicy(c, cell), resources.LoaderPolicy(c, cell)}
			for _, o := range others {
				objects = append(objects, o.DeepCopyObject().(client.Object))
			}
			return fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).Build()
		}
		api := newAPI(tt.uncached)
		policies := &Policies{Reader: newAPI(tt.cached), Uncached: api, Writer: api}
		none := func(types.UID, string) bool { return false }
		if err := policies.DeleteUnused(t.Context(), types.NamespacedName{Namespace: "bench", Name: tt.key}, none); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var left networkingv1.NetworkPolicyList
		if err := api.List(t.Context(), &left); err != nil || len(left.Items) != tt.kept {
			t.Errorf("%s: %d NetworkPolicies are left, want %d (%v)", name, len(left.Items), tt.kept, err)
		}
	}
}
