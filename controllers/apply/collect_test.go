package apply

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

const (
	jobName = "job"
	jobUID  = types.UID("uid-of-the-job")
)

// endedPod returns a pod of the Job named jobName that has ended with a record. owner is the UID of the pod's controller; empty: none.
func endedPod(t *testing.T, name string, owner types.UID, r record.Record) client.Object {
	t.Helper()
	status, err := kubernetes.Recorded(r)
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: name, Labels: map[string]string{batchv1.JobNameLabel: jobName}}, Status: *status}
	if owner != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: jobName, UID: owner, Controller: ptr.To(true)}}
	}
	return pod
}

// collected collects the record of the Job named jobName from the pods. The Job existed from created to ended.
func collected(t *testing.T, created, ended time.Time, pods func(record.Attempt) []client.Object) record.Record {
	t.Helper()
	c := wrappers.MakeCampaign("mine").Namespace("bench").UID("uid-mine").Variant("v").Obj()
	p := plan.Build(c)
	attempt := record.Attempt{Trial: p.SweepTrial(p.Cells[0], 1, 1), N: 1}
	api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(pods(attempt)...).Build()
	a := &Applier{Client: api, Uncached: api, Clock: clocktesting.NewFakePassiveClock(ended.Add(time.Second))}
	action := decide.Action{
		Kind: decide.Collect, Cell: p.Cells[0].Name, Attempt: attempt, Job: jobName, Ended: decide.EndedJob{UID: jobUID, Created: created, Ended: ended},
	}
	for try, want := range []int{1, 0} { // the second manager or Reconcile that collects the record did not create it
		created, err := a.Apply(t.Context(), c, p, []decide.Action{action})
		if err != nil {
			t.Fatal(err)
		}
		if len(created) != want {
			t.Errorf("try %d created %d records, want %d", try, len(created), want)
		}
	}
	var cm corev1.ConfigMap
	if err := api.Get(t.Context(), client.ObjectKey{Namespace: "bench", Name: resources.RecordName(jobName)}, &cm); err != nil {
		t.Fatal(err)
	}
	r, err := record.Decode([]byte(cm.Data[resources.RecordKey]))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCollect_podOfAnotherOwner_isIgnored checks that Knee reads the record only from a pod that the Job controls. A user who may create
// pods can give a pod the label of the Job.
func TestCollect_podOfAnotherOwner_isIgnored(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for name, owner := range map[string]types.UID{"no owner": "", "an earlier Job of the same name": "uid-of-an-earlier-job"} {
		r := collected(t, now, now.Add(time.Minute), func(a record.Attempt) []client.Object {
			return []client.Object{endedPod(t, "a-forged", owner, wrappers.MeasuredRecord(a, 9999)), endedPod(t, "b-true", jobUID, wrappers.MeasuredRecord(a, 1000))}
		})
		if rate, _ := r.Rate(); rate != 1000 {
			t.Errorf("%s: the record has %v docs/s, want those of the Job's own pod", name, rate)
		}
		r = collected(t, now, now.Add(time.Minute), func(a record.Attempt) []client.Object {
			return []client.Object{endedPod(t, "a-forged", owner, wrappers.MeasuredRecord(a, 9999))}
		})
		if r.Error == nil || r.Error.Reason != record.ReasonRecordLost {
			t.Errorf("%s: without a pod of the Job, the record has error %+v, want %s", name, r.Error, record.ReasonRecordLost)
		}
	}
}

// TestCollect_loaderClockOneDayOff_storesTimesOfJob checks that a record has the times of its Job, and that a loader cannot set them.
func TestCollect_loaderClockOneDayOff_storesTimesOfJob(t *testing.T) {
	created := time.Unix(1_800_000_000, 0)
	ended := created.Add(time.Minute)
	for _, off := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		r := collected(t, created, ended, func(a record.Attempt) []client.Object {
			r := wrappers.MeasuredRecord(a, 1000)
			r.StartedAt, r.FinishedAt = created.Add(off).UnixMilli(), ended.Add(off).UnixMilli()
			r.JobCreatedAt, r.JobEndedAt = 1, 2
			return []client.Object{endedPod(t, "pod", jobUID, r)}
		})
		if r.StartTime() != created.UnixMilli() || r.EndTime() != ended.UnixMilli() {
			t.Errorf("clock %s off: from %d to %d, want %d to %d", off, r.StartTime(), r.EndTime(), created.UnixMilli(), ended.UnixMilli())
		}
		if r.StartedAt != created.Add(off).UnixMilli() || r.FinishedAt != ended.Add(off).UnixMilli() {
			t.Errorf("clock %s off: the times by the loader's clock changed: %d to %d", off, r.StartedAt, r.FinishedAt)
		}
	}
	lost := collected(t, created, ended, func(record.Attempt) []client.Object { return nil })
	if lost.StartTime() != created.UnixMilli() || lost.EndTime() != ended.UnixMilli() {
		t.Errorf("without a pod: from %d to %d", lost.StartTime(), lost.EndTime())
	}
}
