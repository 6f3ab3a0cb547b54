package controllers

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/wrappers"
)

// clustersLeft is an API server that has the given OpenSearchClusters: a fake.
type clustersLeft struct {
	client.Reader
	items []unstructured.Unstructured
}

func (c clustersLeft) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*unstructured.UnstructuredList).Items = c.items
	return nil
}

func TestCleanUp(t *testing.T) {
	w := wrappers.MakeCampaign("x").Namespace("bench").UID("1").VariantOnAnyNode("a")
	w.Spec.OpenSearch.Provisioner = v1alpha1.ProvisionOpenSearchCluster
	w.Spec.Topologies[0].Nodes = ptr.To[int32](3)
	c := w.Obj()
	p := plan.Build(c)
	cell := p.Cells[0].Name
	cluster := func(owners ...metav1.OwnerReference) []unstructured.Unstructured {
		o := unstructured.Unstructured{}
		o.SetName(cell)
		o.SetOwnerReferences(owners)
		return []unstructured.Unstructured{o}
	}
	newer, older := resources.OpenSearchClusterGroups[0], resources.OpenSearchClusterGroups[1]
	for name, tt := range map[string]struct {
		left  []unstructured.Unstructured
		older bool
		kept  []string // volumes
		tells bool
	}{
		"deleted, cluster gone":     {nil, false, []string{"data-other-nodes-0"}, true},
		"deleted, cluster to go":    {cluster(metav1.OwnerReference{UID: "1", Controller: ptr.To(true)}), false, []string{"data-other-nodes-0"}, true},
		"deleted, cluster orphaned": {cluster(), false, []string{"data-" + cell + "-nodes-0", "data-" + cell + "-nodes-2", "data-other-nodes-0"}, false},
		"older group":               {nil, true, []string{"data-other-nodes-0"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var volumes []client.Object
			for _, volume := range []string{resources.OperatedClaim(cell, 0), resources.OperatedClaim(cell, 2), "data-other-nodes-0"} {
				volumes = append(volumes, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: volume}})
			}
			api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(volumes...).Build()
			told := events.NewFakeRecorder(2)
			r := &CampaignReconciler{Client: api, Uncached: clustersLeft{items: tt.left}, Recorder: told}
			r.operator.kind = &newer
			if tt.older {
				r.operator.kind = &older
			}
			r.leftovers.remember(c, p)
			for range 2 { // the second look has nothing to do
				if err := r.cleanUp(t.Context(), client.ObjectKeyFromObject(c)); err != nil {
					t.Fatal(err)
				}
			}
			var list corev1.PersistentVolumeClaimList
			if err := api.List(t.Context(), &list); err != nil {
				t.Fatal(err)
			}
			var kept []string
			for _, volume := range list.Items {
				kept = append(kept, volume.Name)
			}
			slices.Sort(kept)
			slices.Sort(tt.kept)
			if !slices.Equal(kept, tt.kept) {
				t.Errorf("volumes %v, want %v", kept, tt.kept)
			}
			close(told.Events)
			var notes []string
			for note := range told.Events {
				notes = append(notes, note)
			}
			if tells := len(notes) == 1 && strings.Contains(notes[0], cell+"-dashboards-password"); tells != tt.tells || len(notes) > 1 {
				t.Errorf("events %q", notes)
			}
		})
	}
}
