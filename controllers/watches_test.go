package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestClaimChanged_status_wakesWaitingCampaigns checks which changes of a campaign's status wake the campaigns that wait for it: those that
// change the order of the queue or the nodes that the campaign may use.
func TestClaimChanged_status_wakesWaitingCampaigns(t *testing.T) {
	at := func(seconds int64) *metav1.Time { return &metav1.Time{Time: time.Unix(seconds, 0)} }
	counts := func(done int) v1alpha1.TrialCounts { return v1alpha1.NewTrialCounts(7, done, 0) }
	condition := func(kind, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, ObservedGeneration: 1}
	}
	for what, tt := range map[string]struct {
		change func(*v1alpha1.BenchmarkCampaign)
		wakes  bool
	}{
		"nothing":                     {func(*v1alpha1.BenchmarkCampaign) {}, false},
		"the campaign yields":         {func(c *v1alpha1.BenchmarkCampaign) { c.Status.YieldedAt = at(9) }, true},
		"it yields again":             {func(c *v1alpha1.BenchmarkCampaign) { c.Status.YieldedAt = at(8) }, true},
		"its turn begins":             {func(c *v1alpha1.BenchmarkCampaign) { c.Status.ActiveSince = at(9) }, true},
		"its turn ends":               {func(c *v1alpha1.BenchmarkCampaign) { c.Status.ActiveSince = nil }, true},
		"its first trial began":       {func(c *v1alpha1.BenchmarkCampaign) { c.Status.StartedAt = at(9) }, true},
		"its last trial ended":        {func(c *v1alpha1.BenchmarkCampaign) { c.Status.CompletedAt = at(9) }, true},
		"it is suspended":             {func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Suspend = ptr.To(true) }, true},
		"it is being deleted":         {func(c *v1alpha1.BenchmarkCampaign) { c.DeletionTimestamp = at(9) }, true},
		"the reason of Ready changes": {func(c *v1alpha1.BenchmarkCampaign) { c.Status.Conditions[0].Reason = v1alpha1.ReasonQueued }, true},
		"it becomes stalled": {func(c *v1alpha1.BenchmarkCampaign) {
			c.Status.Conditions = append(c.Status.Conditions, condition(v1alpha1.ConditionStalled, v1alpha1.ReasonProgressing))
		}, true},
		"a cell is measured":         {func(c *v1alpha1.BenchmarkCampaign) { c.Status.Cells[0].TrialCounts = counts(7) }, true},
		"a trial is done":            {func(c *v1alpha1.BenchmarkCampaign) { c.Status.Cells[0].TrialCounts = counts(4) }, false},
		"the progress changes":       {func(c *v1alpha1.BenchmarkCampaign) { c.Status.Progress = "4/14" }, false},
		"a message of Ready changes": {func(c *v1alpha1.BenchmarkCampaign) { c.Status.Conditions[0].Message = "4/14" }, false},
	} {
		was := wrappers.MakeCampaign("x").Namespace("ns").UID("uid-x").Variant("a").Variant("b").Obj()
		was.Generation, was.Status.ObservedGeneration = 1, 1
		was.Status.ActiveSince, was.Status.YieldedAt = at(2), at(3)
		was.Status.Conditions = []metav1.Condition{condition(v1alpha1.ConditionReady, v1alpha1.ReasonProgressing)}
		for _, variant := range []string{"a", "b"} {
			was.Status.Cells = append(was.Status.Cells, v1alpha1.CellStatus{Variant: variant, Topology: string(was.Spec.Topologies[0].Name), TrialCounts: counts(3)})
		}
		is := was.DeepCopy()
		tt.change(is)
		if got := claimChanged().Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}); got != tt.wakes {
			t.Errorf("%s: wakes %v, want %v", what, got, tt.wakes)
		}
	}
}
