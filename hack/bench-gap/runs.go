package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// bench runs the same trials with Knee and with a bare loop.
type bench struct {
	client    client.WithWatch
	trials    int
	namespace string
}

func (b *bench) makeNamespace(ctx context.Context) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "knee-gap-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := b.client.Create(ctx, ns); err != nil {
		return err
	}
	b.namespace = ns.Name
	return nil
}

func (b *bench) removeNamespace() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}
	if err := b.client.Delete(ctx, ns); err != nil {
		fmt.Println("cannot delete namespace", b.namespace+":", err)
	}
}

// spec returns the campaign: one cell with a sweep of b.trials trials, each with a few seconds of load.
func (b *bench) spec() *v1alpha1.BenchmarkCampaign {
	w := wrappers.MakeCampaign("gap").Namespace(b.namespace).VariantOnAnyNode("a").Repetitions(0).Retries(0)
	w.Spec.Sweep = v1alpha1.Sweep{Range: &v1alpha1.ClientRange{Min: 1, Max: int32(b.trials), Step: 1}}
	w.Spec.OpenSearch.Heap = "512Mi"
	w.Spec.Workload.OSB = &v1alpha1.OSB{
		Version: "2.4.0", Workload: "nyc_taxis_mini", ClientsParam: "bulk_indexing_clients",
		From:          &v1alpha1.WorkloadSource{Image: &v1alpha1.ImageSource{Image: "knee.local/workload-nyc-taxis-mini:1", Path: "/workload"}},
		TestProcedure: "index-timed", IngestTasks: []string{"index"}, SetupTasks: []string{"type:create-index"},
		Params: map[string]v1alpha1.ParamValue{"bulk_size": "500", "warmup_time_period": "0", "time_period": "4"},
	}
	w.Spec.Timeouts = v1alpha1.Timeouts{ProvisioningSeconds: ptr.To[int32](180), TrialSeconds: ptr.To[int32](180), SettleSeconds: ptr.To[int32](20)}
	return w.Obj()
}

// campaign runs the trials with Knee and returns their records without the Warmup, which the bare loop does not have.
func (b *bench) campaign(ctx context.Context) ([]record.Record, error) {
	c := b.spec()
	if err := b.client.Create(ctx, c); err != nil {
		return nil, err
	}
	err := b.until(ctx, &v1alpha1.BenchmarkCampaignList{}, c.Name, func(o client.Object) (bool, error) {
		campaign := o.(*v1alpha1.BenchmarkCampaign)
		ready := meta.FindStatusCondition(campaign.Status.Conditions, v1alpha1.ConditionReady)
		if ready != nil && ready.Status == metav1.ConditionFalse {
			return false, errors.New(ready.Message)
		}
		return ready != nil && ready.Status == metav1.ConditionTrue, nil
	})
	if err != nil {
		return nil, err
	}
	var maps corev1.ConfigMapList
	if err := b.client.List(ctx, &maps, client.InNamespace(b.namespace), client.MatchingLabels{resources.LabelPhase: string(record.Sweep)}); err != nil {
		return nil, err
	}
	var out []record.Record
	for _, cm := range maps.Items {
		r, err := usable([]byte(cm.Data[resources.RecordKey]))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func usable(encoded []byte) (record.Record, error) {
	r, err := record.Decode(encoded)
	switch {
	case err != nil:
		return r, err
	case r.Error != nil:
		return r, fmt.Errorf("attempt %+v was not measured: %w", r.Attempt, r.Error)
	case r.Ingest == nil:
		return r, fmt.Errorf("attempt %+v has no figures of the index", r.Attempt)
	}
	return r, nil
}

// bareLoop runs the same Jobs on the same OpenSearch one after the other, like a shell script. The objects have no
// label and no owner, so Knee ignores them.
func (b *bench) bareLoop(ctx context.Context) ([]record.Record, error) {
	c := b.spec()
	c.Name, c.UID = "bare", "bare"
	p := plan.Build(c)
	cell := p.Cells[0]
	options := resources.Options{
		OpenSearchImage: "knee.local/opensearch", OSBImage: "knee.local/opensearch-benchmark", AgentImage: "knee.local/knee:dev",
	}
	set := resources.StatefulSet(c, cell, resources.Placement{Number: 1}, options, p.ProvisioningTimeout, time.Now())
	for _, o := range []client.Object{resources.Service(c, cell), resources.SettingsConfigMap(c, cell), set} {
		if err := b.create(ctx, o); err != nil {
			return nil, err
		}
	}
	if err := b.until(ctx, &corev1.PodList{}, resources.PodName(cell, 0), podReady); err != nil {
		return nil, fmt.Errorf("OpenSearch: %w", err)
	}
	var out []record.Record
	for i, trial := range p.SweepTrials(cell) {
		job, err := resources.Job(c, p, cell, record.Attempt{Trial: trial, N: 1}, resources.Running{}, options)
		if err != nil {
			return nil, err
		}
		if err := b.create(ctx, job); err != nil {
			return nil, err
		}
		if err := b.until(ctx, &batchv1.JobList{}, job.Name, jobComplete); err != nil {
			return nil, fmt.Errorf("Job %d: %w", i+1, err)
		}
		r, err := b.recordOf(ctx, job.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, b.client.Delete(ctx, set)
}

// create creates an object that Knee ignores: the object and its pods have no label or annotation of Knee.
func (b *bench) create(ctx context.Context, o client.Object) error {
	o.SetOwnerReferences(nil)
	metas := []metav1.Object{o}
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		metas = append(metas, &o.Spec.Template)
	case *batchv1.Job:
		metas = append(metas, &o.Spec.Template)
	}
	for _, m := range metas {
		delete(m.GetLabels(), resources.LabelManagedBy)
		delete(m.GetAnnotations(), resources.AnnotationCampaignName)
	}
	return b.client.Create(ctx, o)
}

func (b *bench) recordOf(ctx context.Context, job string) (record.Record, error) {
	var pods corev1.PodList
	if err := b.client.List(ctx, &pods, client.InNamespace(b.namespace), client.MatchingLabels{batchv1.JobNameLabel: job}); err != nil {
		return record.Record{}, err
	}
	for _, pod := range pods.Items {
		for _, s := range pod.Status.ContainerStatuses {
			if s.Name == resources.ContainerTrial && s.State.Terminated != nil {
				return usable([]byte(s.State.Terminated.Message))
			}
		}
	}
	return record.Record{}, fmt.Errorf("Job %s left no record", job)
}

func podReady(o client.Object) (bool, error) {
	for _, c := range o.(*corev1.Pod).Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return true, nil
		}
	}
	return false, nil
}

func jobComplete(o client.Object) (bool, error) {
	for _, c := range o.(*batchv1.Job).Status.Conditions {
		if c.Status == corev1.ConditionTrue && c.Type == batchv1.JobFailed {
			return false, errors.New(c.Message)
		}
		if c.Status == corev1.ConditionTrue && c.Type == batchv1.JobComplete {
			return true, nil
		}
	}
	return false, nil
}

// until watches one object until done returns true for it.
func (b *bench) until(ctx context.Context, list client.ObjectList, name string, done func(client.Object) (bool, error)) error {
	events, err := b.client.Watch(ctx, list, &client.ListOptions{
		Namespace: b.namespace, FieldSelector: fields.OneTermEqualSelector("metadata.name", name),
	})
	if err != nil {
		return err
	}
	defer events.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e, open := <-events.ResultChan():
			if !open || e.Type == watch.Error {
				return fmt.Errorf("the watch of %s ended: %v", name, e.Object)
			}
			over, err := done(e.Object.(client.Object))
			if over || err != nil {
				return err
			}
		}
	}
}
