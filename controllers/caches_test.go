package controllers

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
)

func (h *held) reconcile(t *testing.T, r *CampaignReconciler) (writes int) {
	t.Helper()
	before := h.writes
	if _, err := r.Reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(h.campaign)}); err != nil {
		t.Fatal(err)
	}
	return h.writes - before
}

// component returns the ConfigMap of a component with the first name in alphabetical order.
func (h *held) component(component string) *corev1.ConfigMap {
	var names []string
	for name, cm := range h.maps {
		if cm.Labels[resources.LabelComponent] == component {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return h.maps[names[0]]
}

// TestReconcile_warmCaches_changeNothing checks that a reconciler with warm caches writes the same objects as a
// reconciler that has just started. Records, the spec and reports are changed in between.
func TestReconcile_warmCaches_changeNothing(t *testing.T) {
	h := large(t, 3, 2, 1)
	warm := h.reconciler()
	h.settle(t, warm)
	finished := h.campaign.DeepCopy()
	if h.reconcile(t, warm) != 0 || h.reconcile(t, h.reconciler()) != 0 {
		t.Fatal("a finished campaign is written to: by the same reconciler, or by one that was just started")
	}
	for _, step := range []struct {
		what   string
		change func()
		writes bool
	}{
		{"a report is edited", func() {
			edited := h.component(resources.ComponentReport).DeepCopy()
			edited.Data = map[string]string{"report.md": "all is well"}
			h.hold(edited)
		}, true},
		{"a report is deleted", func() { delete(h.maps, h.component(resources.ComponentReport).Name) }, true},
		{"a record is damaged", func() {
			damaged := h.component(resources.ComponentRecord).DeepCopy()
			damaged.Data = map[string]string{resources.RecordKey: "{"}
			h.hold(damaged)
		}, true},
		{"a record is deleted", func() { delete(h.maps, h.component(resources.ComponentRecord).Name) }, true},
		{"a gate is set", func() {
			h.campaign.Spec.Gates.MaxIOWaitPercent = v1alpha1.ToDecimal("1")
			h.campaign.Generation++
		}, true},
		{"a label is set", func() { h.campaign.Labels = map[string]string{"poke": "1"} }, false},
	} {
		step.change()
		if wrote := h.reconcile(t, warm) > 0; wrote != step.writes {
			t.Errorf("%s: writes %v", step.what, wrote)
		}
		h.settle(t, warm)
		status, report := h.campaign.Status.DeepCopy(), h.component(resources.ComponentReport).DeepCopy()
		h.campaign.Status = v1alpha1.BenchmarkCampaignStatus{Conditions: status.Conditions}
		h.settle(t, h.reconciler())
		if diff := cmp.Diff(status, &h.campaign.Status); diff != "" {
			t.Errorf("%s: one that was just started says otherwise (-warm +started):\n%s", step.what, diff)
		}
		if diff := cmp.Diff(report.Data, h.component(resources.ComponentReport).Data); diff != "" {
			t.Errorf("%s: reports differ:\n%s", step.what, diff)
		}
	}
	if cmp.Equal(finished.Status, h.campaign.Status) {
		t.Error("the changes changed nothing")
	}
}
