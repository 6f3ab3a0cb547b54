package controllers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/content"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/wrappers"
)

// bodyCampaign is a campaign in the middle of its first trial, on a fake API server. It uses a ConfigMap "body" that
// no record mentions yet.
type bodyCampaign struct {
	*v1alpha1.BenchmarkCampaign
	api        client.WithWatch
	reconciler *CampaignReconciler
	getBody    error // error of a read of the ConfigMap
}

func newBodyCampaign(t *testing.T) *bodyCampaign {
	t.Helper()
	w := wrappers.MakeCampaign("x").Namespace("bench").UID("1").VariantOnAnyNode("a").Clients(1, 2)
	w.Spec.Workload.Index.BodyFrom = &v1alpha1.ConfigMapKey{Name: "body", Key: "index.json"}
	b := &bodyCampaign{BenchmarkCampaign: w.Obj()}
	b.Generation = 1
	options := resources.Options{OpenSearchImage: "opensearch", OSBImage: "osb", AgentImage: "knee:test"}
	p := plan.BuildWith(b.BenchmarkCampaign, plan.Contents{Digests: map[plan.ConfigMap]string{{Name: "body", Key: "index.json"}: content.Digest([]byte("{}"))}})
	cell := p.Cells[0]
	job, err := resources.Job(b.BenchmarkCampaign, p, cell, record.Attempt{Trial: p.SweepTrial(cell, 1, 1), N: 1}, resources.Running{}, options)
	if err != nil {
		t.Fatal(err)
	}
	job.CreationTimestamp = metav1.Now()
	set := resources.StatefulSet(b.BenchmarkCampaign, cell, resources.Placement{Number: 1}, options, p.ProvisioningTimeout, time.Now())
	b.api = fake.NewClientBuilder().WithScheme(scheme.New()).WithStatusSubresource(b.BenchmarkCampaign, job).
		WithObjects(b.BenchmarkCampaign, set, job).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if key.Name == "body" && b.getBody != nil {
				return b.getBody
			}
			return c.Get(ctx, key, o, options...)
		},
	}).Build()
	b.reconciler = &CampaignReconciler{Client: b.api, Uncached: b.api, Options: options, Recorder: events.NewFakeRecorder(99), Clock: clocktesting.NewFakePassiveClock(time.Now())}
	return b
}

// finishTrial ends the Job of the trial. The Job has no pod.
func (b *bodyCampaign) finishTrial(t *testing.T) {
	t.Helper()
	var jobs batchv1.JobList
	if err := b.api.List(t.Context(), &jobs); err != nil {
		t.Fatal(err)
	}
	jobs.Items[0].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	if err := b.api.Status().Update(t.Context(), &jobs.Items[0]); err != nil {
		t.Fatal(err)
	}
}

// check runs a Reconcile and checks the condition Ready. It also checks that the cluster and the Job of the trial
// still exist.
func (b *bodyCampaign) check(t *testing.T, status metav1.ConditionStatus, reason, message string) (ctrl.Result, error) {
	t.Helper()
	result, err := b.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(b)})
	if err := b.api.Get(t.Context(), client.ObjectKeyFromObject(b), b.BenchmarkCampaign); err != nil {
		t.Fatal(err)
	}
	ready := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != status || ready.Reason != reason || !strings.Contains(ready.Message, message) {
		t.Errorf("Ready %+v, want %s/%s with %q", ready, status, reason, message)
	}
	var sets appsv1.StatefulSetList
	var jobs batchv1.JobList
	if err := errors.Join(b.api.List(t.Context(), &sets), b.api.List(t.Context(), &jobs)); err != nil {
		t.Fatal(err)
	}
	if len(sets.Items) != 1 || len(jobs.Items) != 1 {
		t.Errorf("%d StatefulSets and %d Jobs are left, want 1 and 1", len(sets.Items), len(jobs.Items))
	}
	return result, err
}

func (b *bodyCampaign) records(t *testing.T) int {
	t.Helper()
	var maps corev1.ConfigMapList
	if err := b.api.List(t.Context(), &maps, client.MatchingLabels{resources.LabelComponent: resources.ComponentRecord}); err != nil {
		t.Fatal(err)
	}
	return len(maps.Items)
}

func TestReconcile_configMapUnreadable_collectsAndReports(t *testing.T) {
	b := newBodyCampaign(t)
	b.finishTrial(t)
	b.getBody = apierrors.NewTimeoutError("injected", 0)
	if _, err := b.check(t, metav1.ConditionUnknown, v1alpha1.ReasonProgressing, "read ConfigMap body"); !apierrors.IsTimeout(err) {
		t.Errorf("error %v, want the timeout: the work queue tries again", err)
	}
	if n := b.records(t); n != 1 {
		t.Errorf("%d records, want 1", n)
	}
	if conclusive := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionConclusive); conclusive == nil || conclusive.Status != metav1.ConditionFalse {
		t.Errorf("Conclusive %+v", conclusive)
	}
}

func TestReconcile_configMapForbidden_isStalled(t *testing.T) {
	b := newBodyCampaign(t)
	b.finishTrial(t)
	b.getBody = apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "body", errors.New("injected"))
	if result, err := b.check(t, metav1.ConditionFalse, v1alpha1.ReasonForbidden, "read ConfigMap body"); err != nil || result.RequeueAfter != children.RetryInterval {
		t.Errorf("%+v, %v", result, err)
	}
	if n := b.records(t); n != 1 {
		t.Errorf("%d records, want 1", n)
	}
}

// TestReconcile_configMapMissing_keepsRunningCluster checks that a cluster is kept while its ConfigMap is missing:
// kubectl replace --force deletes the ConfigMap and creates it again.
// TestReconcile_configMapForbiddenLong_givesUpTurn checks that a campaign whose ConfigMap stays unreadable releases its nodes and its turn,
// once.
func TestReconcile_configMapForbiddenLong_givesUpTurn(t *testing.T) {
	b := newBodyCampaign(t)
	b.finishTrial(t)
	b.getBody = apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "body", errors.New("injected"))
	clock := b.reconciler.Clock.(*clocktesting.FakePassiveClock)
	for _, after := range []time.Duration{0, time.Hour, time.Hour} {
		clock.SetTime(clock.Now().Add(after))
		if _, err := b.check(t, metav1.ConditionFalse, v1alpha1.ReasonForbidden, "read ConfigMap body"); err != nil {
			t.Fatal(err)
		}
		if b.Status.YieldedAt == nil != (after == 0) {
			t.Fatalf("after %v: yielded at %v", after, b.Status.YieldedAt)
		}
	}
	if want := clock.Now().Add(-time.Hour); b.Status.YieldedAt.Unix() != want.Unix() {
		t.Errorf("yielded at %v, want %v", b.Status.YieldedAt, want)
	}
	var sets appsv1.StatefulSetList
	if err := b.api.List(t.Context(), &sets); err != nil {
		t.Fatal(err)
	}
	if n := *sets.Items[0].Spec.Replicas; n != 0 {
		t.Errorf("OpenSearch has %d replicas, want 0", n)
	}
}

func TestReconcile_configMapMissing_keepsRunningCluster(t *testing.T) {
	b := newBodyCampaign(t)
	const field = "spec.workload.index.bodyFrom: "
	if result, err := b.check(t, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, field+"there is no ConfigMap body"); err != nil || result.RequeueAfter != children.RetryInterval {
		t.Errorf("%+v, %v", result, err)
	}
	body := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "body"}}
	if err := b.api.Create(t.Context(), body); err != nil {
		t.Fatal(err)
	}
	if _, err := b.check(t, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, field+"ConfigMap body has no key index.json"); err != nil {
		t.Error(err)
	}
	body.Data = map[string]string{"index.json": "{}"}
	if err := b.api.Update(t.Context(), body); err != nil {
		t.Fatal(err)
	}
	if _, err := b.check(t, metav1.ConditionUnknown, v1alpha1.ReasonProgressing, "running"); err != nil {
		t.Error(err)
	}
}
