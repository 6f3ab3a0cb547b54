package children

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestFindClaimants_jobWithoutPod_holdsItsEndpoint checks that the Job of a trial holds its endpoint before it has a
// pod, until the Job has ended or is being deleted.
func TestFindClaimants_jobWithoutPod_holdsItsEndpoint(t *testing.T) {
	const endpoint = "search.example.org:443"
	job := func(change func(*batchv1.Job)) batchv1.Job {
		j := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "x-s1-1-1", Labels: map[string]string{resources.LabelCampaign: "uid-x"}}}
		j.Spec.Template = corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{
				Labels:      map[string]string{resources.LabelComponent: resources.ComponentLoader},
				Annotations: map[string]string{resources.AnnotationEndpoint: endpoint},
			},
			Spec: corev1.PodSpec{Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname}},
			}}},
		}
		change(&j)
		return j
	}
	for what, tt := range map[string]struct {
		change func(*batchv1.Job)
		holds  bool
	}{
		"just made":     {func(*batchv1.Job) {}, true},
		"of a cluster":  {func(j *batchv1.Job) { j.Spec.Template.Annotations = nil }, false},
		"being deleted": {func(j *batchv1.Job) { j.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, false},
		"ended": {func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		}, false},
	} {
		j := job(tt.change)
		held := FindClaimants(nil, nil, []batchv1.Job{j}, nil)["uid-x"].Holds
		if got := plan.MayShare(held, []plan.Pool{{Endpoint: endpoint}}); got != tt.holds || len(HeldPools(&j)) > 0 != tt.holds {
			t.Errorf("%s: holds %+v, want %v", what, held, tt.holds)
		}
	}
}

// TestFindClaimants_campaignThatCannotStart_wantsNoNodes checks that a campaign that cannot start anything does not
// keep other campaigns from nodes. With reason NameConflict trials may run, if only a report has the name of another object.
func TestFindClaimants_campaignThatCannotStart_wantsNoNodes(t *testing.T) {
	for reason, want := range map[string]bool{
		v1alpha1.ReasonProgressing: true, v1alpha1.ReasonUnschedulable: true,
		v1alpha1.ReasonNameConflict: true, v1alpha1.ReasonOperatorMissing: false,
	} {
		c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").Obj()
		c.UID = "uid-x"
		c.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Reason: reason, ObservedGeneration: c.Generation}}
		if got := FindClaimants([]v1alpha1.BenchmarkCampaign{*c}, nil, nil, nil)["uid-x"].Wants; len(got) > 0 != want {
			t.Errorf("%s: wants %v", reason, got)
		}
	}
}

// TestReadClaim_measuredCells_areNotUnmeasured checks which pools a campaign still needs, as its status shows it.
func TestReadClaim_measuredCells_areNotUnmeasured(t *testing.T) {
	pool := func(names ...string) (out []plan.Pool) {
		for _, name := range names {
			out = append(out, plan.Pool{NodeSelector: map[string]string{"pool": name}})
		}
		return out
	}
	for what, tt := range map[string]struct {
		change func(*v1alpha1.BenchmarkCampaign)
		want   []plan.Pool
	}{
		"one cell is measured":                 {func(*v1alpha1.BenchmarkCampaign) {}, pool("b")},
		"the status describes an earlier spec": {func(c *v1alpha1.BenchmarkCampaign) { c.Generation = 2 }, pool("a", "b")},
		"the status has no counts":             {func(c *v1alpha1.BenchmarkCampaign) { c.Status.Cells = nil }, pool("a", "b")},
		"the counts are not known":             {func(c *v1alpha1.BenchmarkCampaign) { c.Status.Cells[0].TrialCounts = v1alpha1.TrialCounts{} }, pool("a", "b")},
		"the variant has a cell that is not": {func(c *v1alpha1.BenchmarkCampaign) {
			c.Spec.Topologies = append(c.Spec.Topologies, v1alpha1.Topology{Name: "more"})
		}, pool("a", "b")},
		"the campaign is suspended": {func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Suspend = ptr.To(true) }, nil},
	} {
		w := wrappers.MakeCampaign("x").Variant("a").Variant("b")
		w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
		c := w.Obj()
		c.Generation, c.Status.ObservedGeneration = 1, 1
		topology := string(c.Spec.Topologies[0].Name)
		c.Status.Cells = []v1alpha1.CellStatus{
			{Variant: "a", Topology: topology, TrialCounts: v1alpha1.NewTrialCounts(7, 7, 0)},
			{Variant: "b", Topology: topology, TrialCounts: v1alpha1.NewTrialCounts(7, 6, 0)},
		}
		tt.change(c)
		if diff := cmp.Diff(tt.want, ReadClaim(c).Unmeasured); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}
