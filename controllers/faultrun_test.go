package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// mostReconciles is more than a campaign takes by far.
const mostReconciles = 150

// soon is a RequeueAfter that stands for looking again, not for a deadline.
const soon = 15 * time.Second

// result is what a run came to: all that must not depend on what went wrong on the way.
type result struct {
	Records map[string]string // by attempt: the figure, or the reason of the error
	Verdict string
	Jobs    []string // attempts that were run
}

// faultWorld is where the runs take place.
type faultWorld struct {
	cached, direct client.Client
	watcher        *watcher
	nodes          *fakeNode
	log            func(failure)
	slots          chan struct{}                             // one for each run at a time
	campaign       func(namespace string) *wrappers.Campaign // that each run is of
}

// of is the same world with a campaign to run in it.
func (w *faultWorld) of(campaign func(namespace string) *wrappers.Campaign) *faultWorld {
	with := *w
	with.campaign = campaign
	return &with
}

// figures are a function of the trial, whatever the attempt.
func figures(cfg record.Config) *corev1.PodStatus {
	docs := 1000 * float64(cfg.Trial.Clients)
	if cfg.Trial.Variant == "b" {
		docs *= 1.25
	}
	r := wrappers.MeasuredRecord(cfg.Trial, docs+10*float64(cfg.Trial.Repetition))
	if cfg.Command != nil {
		r = wrappers.LoadRecord(cfg.Trial, "command", docs, "calls/s")
	}
	status, err := recordStatus(r)
	if err != nil {
		panic(err)
	}
	return status
}

// smallCampaign stops clusters, scales them up again, starts them fresh, warms up, sweeps, repeats and cleans up.
func smallCampaign(ns string) *wrappers.Campaign {
	return wrappers.MakeCampaign("small").Namespace(ns).VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1).Repetitions(1)
}

// fleetCampaign has nothing but trials, of two loader pods each, that load what is not Knee's. Each run has a system of its
// own, so that none waits for another.
func fleetCampaign(ns string) *wrappers.Campaign {
	w := wrappers.MakeCampaign("fleet").Namespace(ns).Variant("a").Clients(2).Repetitions(0).Command("ozone:1", "ozone").ClientsPerPod(1)
	w.Spec.Variants[0].Endpoint = &v1alpha1.Endpoint{URL: "http://" + ns}
	return w
}

// run brings the campaign to its end while the given faults come to pass, each but the first where the campaign is on its
// route without faults.
func (w *faultWorld) run(ctx context.Context, without route, faults ...point) (result, *session, error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "faults-"}}
	if err := w.direct.Create(ctx, ns); err != nil {
		return result{}, nil, err
	}
	w.nodes.behave(ns.Name, behaviour{trial: figures})
	c := w.campaign(ns.Name).Obj()
	if err := w.direct.Create(ctx, c); err != nil {
		return result{}, nil, err
	}
	s := &session{
		namespace: ns.Name, cached: w.cached, direct: w.direct, faults: map[point]bool{}, took: route{}, without: without,
		reached: map[point]bool{}, harmless: map[point]bool{}, creates: map[string]int{}, own: []ownWrite{{c, false}},
	}
	for _, f := range faults {
		s.faults[f] = true
	}
	events := &told{}
	if err := w.drive(ctx, s, c, events); err != nil {
		return result{}, s, err
	}
	out, err := w.result(ctx, s, c)
	if err != nil {
		return out, s, err
	}
	return out, s, w.sane(ctx, s, events)
}

// drive reconciles as the manager does: when something changed, or when the last Reconcile asked for it. A campaign that
// would not be looked at again before it is over hangs.
func (w *faultWorld) drive(ctx context.Context, s *session, c *v1alpha1.BenchmarkCampaign, events *told) error {
	var (
		before string // the world's shape
		again  = true
	)
	for range mostReconciles {
		now, err := s.settle(ctx, w.watcher)
		if err != nil {
			return fmt.Errorf("%s: %w", s.at, err)
		}
		if now.shape == before && !again {
			var over v1alpha1.BenchmarkCampaign
			if err := w.direct.Get(ctx, client.ObjectKeyFromObject(c), &over); err != nil {
				return err
			}
			if ready := meta.FindStatusCondition(over.Status.Conditions, v1alpha1.ConditionReady); ready == nil || ready.Reason != v1alpha1.ReasonFinished {
				return fmt.Errorf("%s: nothing makes the manager look again, and Ready is %+v", s.at, ready)
			}
			return nil
		}
		before = now.shape
		s.begin(now)
		if err := w.losePods(ctx, s); err != nil {
			return err
		}
		reconciler := &controllers.CampaignReconciler{
			Client: s, Uncached: s.reader(), Recorder: events, Clock: clock.RealClock{},
			Options: resources.Options{OpenSearchImage: "opensearch", OSBImage: "osb", AgentImage: "knee:test"},
		}
		res, err := reconciler.Reconcile(log.IntoContext(ctx, logr.Discard()), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c)})
		again = err != nil || res.RequeueAfter > 0 && res.RequeueAfter < soon || s.behind
	}
	return fmt.Errorf("%s: not over after %d Reconciles", s.at, mostReconciles)
}

// losePods takes the pods of trials that ended and were not collected yet from under the reconciler.
func (w *faultWorld) losePods(ctx context.Context, s *session) error {
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
		if slices.ContainsFunc(maps.Items, func(cm corev1.ConfigMap) bool { return cm.Name == resources.RecordName(job.Name) }) {
			continue
		}
		at := s.at
		at.what = "pod of " + title(job)
		if !s.goes(at, podIsGone) {
			continue
		}
		if err := w.direct.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(s.namespace),
			client.MatchingLabels{batchv1.JobNameLabel: job.Name}, client.GracePeriodSeconds(0)); err != nil {
			return err
		}
	}
	return nil
}

// result reads what the run came to.
func (w *faultWorld) result(ctx context.Context, s *session, c *v1alpha1.BenchmarkCampaign) (result, error) {
	out := result{Records: map[string]string{}}
	var now v1alpha1.BenchmarkCampaign
	if err := w.direct.Get(ctx, client.ObjectKeyFromObject(c), &now); err != nil {
		return out, err
	}
	out.Verdict = fmt.Sprint(now.Status.Progress, "; ", now.Status.Knees, "; ", now.Status.SharedClients, "; ", now.Status.Result)
	var maps corev1.ConfigMapList
	if err := w.direct.List(ctx, &maps, client.InNamespace(s.namespace), client.MatchingLabels{resources.LabelComponent: resources.ComponentRecord}); err != nil {
		return out, err
	}
	byJob := map[string]string{}
	for _, cm := range maps.Items {
		rec, err := record.Decode([]byte(cm.Data[resources.RecordKey]))
		if err != nil {
			return out, fmt.Errorf("record %s: %w", cm.Name, err)
		}
		what := "no figure"
		switch {
		case rec.Error != nil:
			what = rec.Error.Reason
		default:
			if rate, unit := rec.Rate(); unit != "" {
				what = fmt.Sprint(rate)
			}
		}
		out.Records[trialTitle(rec.Trial)] = what
		byJob[cm.Name] = trialTitle(rec.Trial)
	}
	w.watcher.mu.Lock()
	defer w.watcher.mu.Unlock()
	for name, uids := range w.watcher.jobs[s.namespace] {
		if len(uids) != 1 || s.creates[name] != 1 {
			return out, fmt.Errorf("job %s was created %d times (%d by the client's count), want once", name, len(uids), s.creates[name])
		}
		out.Jobs = append(out.Jobs, byJob[resources.RecordName(name)])
	}
	slices.Sort(out.Jobs)
	if lost := w.watcher.lost[s.namespace]; len(lost) > 0 {
		return out, fmt.Errorf("records %v were deleted", lost)
	}
	return out, nil
}

// sane checks what holds after every run: nothing is left, and events tell transitions only.
func (w *faultWorld) sane(ctx context.Context, s *session, events *told) error {
	for _, list := range []client.ObjectList{
		&appsv1.StatefulSetList{}, &batchv1.JobList{}, &corev1.PodList{}, &corev1.PersistentVolumeClaimList{},
		&corev1.ServiceList{}, &networkingv1.NetworkPolicyList{},
	} {
		if err := w.direct.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		if n := meta.LenList(list); n > 0 {
			return fmt.Errorf("%d of %s are left", n, kindOf(list))
		}
	}
	var settings corev1.ConfigMapList
	if err := w.direct.List(ctx, &settings, client.InNamespace(s.namespace), client.MatchingLabels{resources.LabelComponent: resources.ComponentOpenSearch}); err != nil {
		return err
	}
	if n := len(settings.Items); n > 0 {
		return fmt.Errorf("%d ConfigMaps of OpenSearch are left", n)
	}
	return events.transitions()
}

// told are the events of one campaign.
type told struct {
	mu      sync.Mutex
	reasons []string
}

// Eventf is events.EventRecorder's.
func (t *told) Eventf(_, _ runtime.Object, _, reason, _, _ string, _ ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reasons = append(t.reasons, reason)
}

// transitions says which event tells what the one before it told.
func (t *told) transitions() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := 1; i < len(t.reasons); i++ {
		if t.reasons[i] == t.reasons[i-1] {
			return fmt.Errorf("events %s: the same twice in a row", strings.Join(t.reasons, ", "))
		}
	}
	return nil
}

// differs says how a run came to something else than the one without faults. A record that is lost is measured again.
func (r result) differs(got result, faults []point) string {
	if len(faults) == 1 && faults[0].goes == podIsGone {
		attempt := lostAttempt(faults[0])
		if got.Records[attempt] != record.ReasonRecordLost || len(got.Records) != len(r.Records)+1 {
			return fmt.Sprintf("%s is to be RecordLost, and measured again; records %v", attempt, got.Records)
		}
		r, got = r.withLost(attempt), got.withLost(attempt)
	}
	return cmp.Diff(r, got)
}

// withLost leaves out what differs when an attempt's record is lost: the ordinals of Warmups, and that attempt; its
// trial's next attempt stands in its place.
func (r result) withLost(attempt string) result {
	out := result{Records: map[string]string{}, Verdict: r.Verdict}
	second := strings.TrimSuffix(attempt, "attempt 1") + "attempt 2"
	for a, figure := range r.Records {
		switch {
		case strings.Contains(a, "/"+string(record.Warmup)+"/"):
		case a == second, a == attempt && figure != record.ReasonRecordLost:
			out.Records[attempt] = figure
		case a != attempt:
			out.Records[a] = figure
		}
	}
	return out
}
