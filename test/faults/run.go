package faults

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/invariants"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// maxReconciles bounds the Reconciles of a run. A campaign needs far fewer.
const maxReconciles = 150

// soon distinguishes retries from deadlines: a shorter RequeueAfter is a retry.
const soon = 15 * time.Second

// environment holds what all runs share.
type environment struct {
	cached, direct client.Client
	watcher        *watcher
	rules          *invariants.Statuses
	nodes          *kubernetes.Node
	log            func(failure)
	slots          chan struct{}                             // limits the number of runs at the same time
	campaign       func(namespace string) *wrappers.Campaign // makes the campaign of a run
	trial          func(cfg record.Config) *corev1.PodStatus // the status of a loader pod
}

// with returns a copy of the environment that runs the given campaign.
func (e *environment) with(campaign func(namespace string) *wrappers.Campaign, trial func(cfg record.Config) *corev1.PodStatus) *environment {
	out := *e
	out.campaign, out.trial = campaign, trial
	return &out
}

// smallCampaign returns a campaign with two variants that share a node. So its clusters are stopped, scaled up again
// and started fresh. It also has Warmups, a sweep, Finals and a clean-up.
func smallCampaign(ns string) *wrappers.Campaign {
	return wrappers.MakeCampaign("small").Namespace(ns).VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1).Repetitions(1)
}

// fleetCampaign returns a campaign that has only trials, without a cluster of Knee. Each trial has two loader pods and
// loads an endpoint that Knee did not provision. Each run has its own endpoint, so no run waits for another.
func fleetCampaign(ns string) *wrappers.Campaign {
	w := wrappers.MakeCampaign("fleet").Namespace(ns).Variant("a").Clients(2).Repetitions(0).Command("ozone:1", "ozone").ClientsPerPod(1)
	w.Spec.Variants[0].Endpoint = &v1alpha1.Endpoint{URL: "http://" + ns}
	return w
}

// sidecarCampaign returns a campaign that has only a Warmup and one trial.
func sidecarCampaign(ns string) *wrappers.Campaign {
	w := wrappers.MakeCampaign("sidecar").Namespace(ns).Variant("a").Clients(1).Repetitions(0).Command("ozone:1", "ozone")
	w.Spec.Variants[0].Endpoint = &v1alpha1.Endpoint{URL: "http://" + ns}
	return w
}

// withSidecar returns the status of a loader pod with an injected sidecar, which still runs after the trial.
func withSidecar(cfg record.Config) *corev1.PodStatus {
	return kubernetes.WithSidecar(*kubernetes.Figures(cfg))
}

// run runs the campaign to its end and injects the given faults. Each fault except the first happens only while the
// campaign is on the reference route.
func (e *environment) run(ctx context.Context, reference route, faults ...point) (result, *session, error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "faults-"}}
	if err := e.direct.Create(ctx, ns); err != nil {
		return result{}, nil, err
	}
	e.nodes.Behave(ns.Name, kubernetes.Behaviour{Trial: e.trial})
	c := e.campaign(ns.Name).Obj()
	if err := e.direct.Create(ctx, c); err != nil {
		return result{}, nil, err
	}
	s := &session{
		namespace: ns.Name, cached: e.cached, direct: e.direct, faults: map[point]bool{}, taken: route{}, reference: reference,
		reached: map[point]bool{}, harmless: map[point]bool{}, creates: map[string]int{}, own: []ownWrite{{c, false}},
	}
	for _, f := range faults {
		s.faults[f] = true
	}
	events := &recorder{}
	if err := e.drive(ctx, s, c, events); err != nil {
		return result{}, s, err
	}
	out, err := e.result(ctx, s, c)
	if err != nil {
		return out, s, err
	}
	return out, s, e.check(ctx, s, events)
}

// drive reconciles like the manager: when an object changed, or when the last Reconcile requested it. It returns an
// error if the campaign is not finished and nothing causes another Reconcile.
func (e *environment) drive(ctx context.Context, s *session, c *v1alpha1.BenchmarkCampaign, events *recorder) error {
	var (
		before string // the last world's shape
		again  = true
	)
	for range maxReconciles {
		now, err := s.settle(ctx, e.watcher)
		if err != nil {
			return fmt.Errorf("%s: %w", s.at, err)
		}
		if now.shape == before && !again {
			var finished v1alpha1.BenchmarkCampaign
			if err := e.direct.Get(ctx, client.ObjectKeyFromObject(c), &finished); err != nil {
				return err
			}
			if ready := meta.FindStatusCondition(finished.Status.Conditions, v1alpha1.ConditionReady); ready == nil || ready.Reason != v1alpha1.ReasonFinished {
				return fmt.Errorf("%s: nothing causes another Reconcile, and Ready is %+v", s.at, ready)
			}
			return nil
		}
		before = now.shape
		s.begin(now)
		if err := e.losePods(ctx, s); err != nil {
			return err
		}
		reconciler := &controllers.CampaignReconciler{
			Client: s, Uncached: s.reader(), Recorder: events, Clock: clock.RealClock{},
			Options: resources.Options{OpenSearchImage: "opensearch", OSBImage: "osb", AgentImage: "knee:test"},
		}
		res, err := reconciler.Reconcile(log.IntoContext(ctx, logr.Discard()), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c)})
		again = err != nil || res.RequeueAfter > 0 && res.RequeueAfter < soon || s.isBehind
	}
	return fmt.Errorf("%s: not finished after %d Reconciles", s.at, maxReconciles)
}

// losePods deletes the pods of trials that have ended but have no record yet, if the run injects this fault.
func (e *environment) losePods(ctx context.Context, s *session) error {
	var (
		jobs batchv1.JobList
		maps corev1.ConfigMapList
	)
	if err := s.cached.List(ctx, &jobs, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	if err := s.cached.List(ctx, &maps, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if !kubernetes.JobEnded(job) { // a pod with a sidecar may still show its record while it is being deleted
			continue
		}
		if slices.ContainsFunc(maps.Items, func(cm corev1.ConfigMap) bool { return cm.Name == resources.RecordName(job.Name) }) {
			continue
		}
		at := s.at
		at.what = "pod of " + title(job)
		if !s.inject(at, podIsGone) {
			continue
		}
		if err := e.direct.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(s.namespace),
			client.MatchingLabels{batchv1.JobNameLabel: job.Name}, client.GracePeriodSeconds(0)); err != nil {
			return err
		}
	}
	return nil
}
