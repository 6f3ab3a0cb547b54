package children

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
)

// These objects are shared by the tests of this file: campaign owns their StatefulSets.
var (
	campaign = &v1alpha1.BenchmarkCampaign{ObjectMeta: metav1.ObjectMeta{UID: "uid-x"}}
	owners   = []metav1.OwnerReference{{UID: "uid-x", Controller: ptr.To(true)}}
)

// TestReadClusters_podBeingDeleted_isNotOverdue checks the wait for a pod that is being deleted, which may stay ready
// for hours: the wait starts when the deletion should have ended.
func TestReadClusters_podBeingDeleted_isNotOverdue(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	made := metav1.NewTime(now.Add(-5 * time.Hour))
	labels := map[string]string{resources.LabelCellName: "x", resources.LabelComponent: resources.ComponentOpenSearch}
	set := appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: labels, CreationTimestamp: made, OwnerReferences: owners}}
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "x-0", Labels: labels, CreationTimestamp: made, DeletionTimestamp: &metav1.Time{Time: now}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: made},
		}},
	}
	c := ReadClusters(campaign, Objects{StatefulSets: []appsv1.StatefulSet{set}, Pods: []corev1.Pod{pod}})["x"]
	if c.Ready != 0 || c.Pods != 1 || !c.Since.Equal(now) {
		t.Errorf("ready %d of %d pods, since %s, want %s", c.Ready, c.Pods, c.Since, now)
	}
}

// TestReadClusters_nodeLostDuringTrial_isNotOverdue checks that the wait for a node that was lost during a trial
// starts at the end of the trial.
func TestReadClusters_nodeLostDuringTrial_isNotOverdue(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	made := metav1.NewTime(now.Add(-5 * time.Hour))
	labels := map[string]string{resources.LabelCellName: "x", resources.LabelComponent: resources.ComponentOpenSearch}
	set := appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: labels, CreationTimestamp: made, OwnerReferences: owners}}
	job := func(cell string, status corev1.ConditionStatus, at time.Time) batchv1.Job {
		return batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{resources.LabelCellName: cell}},
			Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{
				{Type: batchv1.JobFailed, Status: status, LastTransitionTime: metav1.NewTime(at)},
			}},
		}
	}
	found := ReadClusters(campaign, Objects{StatefulSets: []appsv1.StatefulSet{set}, Jobs: []batchv1.Job{
		job("x", corev1.ConditionTrue, now.Add(-time.Hour)), job("x", corev1.ConditionTrue, now),
		job("x", corev1.ConditionFalse, now.Add(time.Hour)), job("y", corev1.ConditionTrue, now.Add(time.Hour)),
	}})
	if got := found["x"].Since; !got.Equal(now) {
		t.Errorf("since %s, want %s", got, now)
	}
	if len(found) != 1 {
		t.Errorf("clusters %v", found)
	}
}
