package controllers

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/observe"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/wrappers"
)

// clustersLeft is a fake API server that has the given OpenSearchClusters.
type clustersLeft struct {
	client.Reader
	items     []unstructured.Unstructured
	onlyOlder bool // serves only the older group of the kind
}

func (c *clustersLeft) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(options)
	if c.onlyOlder && list.GetObjectKind().GroupVersionKind().GroupVersion() != resources.OpenSearchClusterGroups[1] {
		return &meta.NoKindMatchError{}
	}
	for _, item := range c.items {
		if o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(item.GetLabels())) {
			list.(*unstructured.UnstructuredList).Items = append(list.(*unstructured.UnstructuredList).Items, item)
		}
	}
	return nil
}

// operatedCampaign returns a campaign with one cluster of three nodes. The opensearch-k8s-operator creates this
// cluster.
func operatedCampaign(uid string) *v1alpha1.BenchmarkCampaign {
	w := wrappers.MakeCampaign("x").Namespace("bench").UID(uid).VariantOnAnyNode("a")
	w.Spec.OpenSearch.Provisioner = v1alpha1.ProvisionOpenSearchCluster
	w.Spec.Topologies[0].Nodes = ptr.To[int32](3)
	return w.Obj()
}

func operatedVolume(cell string, node int32) client.Object {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: resources.OperatedClaim(cell, node)}}
}

// rememberCells sets up a reconciler that has not yet looked for the opensearch-k8s-operator. It lets the reconciler
// remember the cells of a campaign.
func rememberCells(r *CampaignReconciler, c *v1alpha1.BenchmarkCampaign) {
	r.setUp()
	r.observer.Operator.SetWatches(observe.OperatorWatches{})
	r.leftovers.Remember(c, plan.Build(c))
}

// reconcileVolumes reconciles the campaign and returns the names of the volumes that are left.
func reconcileVolumes(t *testing.T, r *CampaignReconciler, c *v1alpha1.BenchmarkCampaign) []string {
	t.Helper()
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c)}); err != nil {
		t.Fatal(err)
	}
	var list corev1.PersistentVolumeClaimList
	if err := r.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, volume := range list.Items {
		kept = append(kept, volume.Name)
	}
	slices.Sort(kept)
	return kept
}

func TestLeftovers(t *testing.T) {
	c := operatedCampaign("1")
	p := plan.Build(c)
	cell := p.Cells[0].Name
	cluster := func(owners ...metav1.OwnerReference) []unstructured.Unstructured {
		o := unstructured.Unstructured{}
		o.SetName(cell)
		o.SetLabels(map[string]string{resources.LabelCampaign: "1"})
		o.SetOwnerReferences(owners)
		return []unstructured.Unstructured{o}
	}
	all := []string{resources.OperatedClaim(cell, 0), resources.OperatedClaim(cell, 2), "data-other-nodes-0"}
	for name, tt := range map[string]struct {
		left  []unstructured.Unstructured
		older bool
		kept  []string // remaining volumes
		event bool
	}{
		"deleted, cluster gone":     {nil, false, []string{"data-other-nodes-0"}, true},
		"deleted, cluster to go":    {cluster(metav1.OwnerReference{UID: "1", Controller: ptr.To(true)}), false, all, false}, // the opensearch-k8s-operator may still create volumes
		"deleted, cluster orphaned": {cluster(), false, all, false},
		"older group":               {nil, true, []string{"data-other-nodes-0"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(
				operatedVolume(cell, 0), operatedVolume(cell, 2), operatedVolume("other", 0)).Build()
			recorder := events.NewFakeRecorder(2)
			r := &CampaignReconciler{Client: api, Uncached: &clustersLeft{items: tt.left, onlyOlder: tt.older}, Recorder: recorder}
			rememberCells(r, c)
			reconcileVolumes(t, r, c)
			slices.Sort(tt.kept)
			if kept := reconcileVolumes(t, r, c); !slices.Equal(kept, tt.kept) { // the second Reconcile has nothing to do
				t.Errorf("volumes %v, want %v", kept, tt.kept)
			}
			close(recorder.Events)
			var notes []string
			for note := range recorder.Events {
				notes = append(notes, note)
			}
			if hasEvent := len(notes) == 1 && strings.Contains(notes[0], cell+"-dashboards-password"); hasEvent != tt.event || len(notes) > 1 {
				t.Errorf("events %q", notes)
			}
		})
	}
}

func TestLeftovers_clusterIsStillThere_waitsForItsEnd(t *testing.T) {
	c := operatedCampaign("1")
	p := plan.Build(c)
	cell := p.Cells[0].Name
	o := unstructured.Unstructured{}
	o.SetName(cell)
	o.SetLabels(map[string]string{resources.LabelCampaign: "1"})
	o.SetOwnerReferences([]metav1.OwnerReference{{UID: "1", Controller: ptr.To(true)}})
	left := &clustersLeft{items: []unstructured.Unstructured{o}}
	api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(operatedVolume(cell, 0)).Build()
	recorder := events.NewFakeRecorder(2)
	r := &CampaignReconciler{Client: api, Uncached: left, Recorder: recorder}
	rememberCells(r, c)
	reconcileVolumes(t, r, c)
	if len(recorder.Events) != 0 {
		t.Errorf("an event before the OpenSearchCluster is gone: %s", <-recorder.Events)
	}

	if err := api.Create(t.Context(), operatedVolume(cell, 1)); err != nil { // as if the opensearch-k8s-operator created this volume in the meantime
		t.Fatal(err)
	}
	left.items = nil
	if kept := reconcileVolumes(t, r, c); len(kept) > 0 {
		t.Errorf("volumes %v are left", kept)
	}
	if len(recorder.Events) != 1 {
		t.Errorf("%d events, want 1", len(recorder.Events))
	}
}

// TestLeftovers_campaignOfTheSameName_deletesVolumesOfTheOldOne checks a campaign that is deleted and another one
// that is created with the same name. Both have the same entry in the work queue.
func TestLeftovers_campaignOfTheSameName_deletesVolumesOfTheOldOne(t *testing.T) {
	old, c := operatedCampaign("1"), operatedCampaign("2")
	c.Spec.Suspend = ptr.To(true)
	oldCell, cell := plan.Build(old).Cells[0].Name, plan.Build(c).Cells[0].Name
	api := fake.NewClientBuilder().WithScheme(scheme.New()).WithStatusSubresource(c).WithObjects(c,
		operatedVolume(oldCell, 0), operatedVolume(cell, 0)).Build()
	r := &CampaignReconciler{Client: api, Uncached: &clustersLeft{}, Recorder: events.NewFakeRecorder(9), Clock: clocktesting.NewFakePassiveClock(time.Now())}
	rememberCells(r, old)
	if kept, want := reconcileVolumes(t, r, c), []string{resources.OperatedClaim(cell, 0)}; !slices.Equal(kept, want) {
		t.Errorf("volumes %v, want %v", kept, want)
	}
	if err := api.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if kept := reconcileVolumes(t, r, c); len(kept) > 0 {
		t.Errorf("volumes %v are left", kept)
	}
}
