package simulatedfaults

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/invariants"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/simulated"
)

const (
	// maxReconciles bounds the Reconciles of a run. A campaign needs far fewer.
	maxReconciles = 2000

	// soon distinguishes retries from deadlines: a shorter RequeueAfter is a retry.
	soon = 15 * time.Second
)

// run is one run of a campaign, or the rest of a run from one of its Reconciles on.
type run struct {
	scenario *scenario
	cluster  *simulated.Cluster
	ctx      context.Context      // of the current Reconcile
	past     []*simulated.Cluster // before each Reconcile
	points   []point              // all faults of the run without faults
	fault    *point               // nil: the run without faults
	hit      bool                 // the fault has happened

	statuses  *invariants.Statuses
	lastEvent string
	violated  []string // rules that were broken

	// The causes of the next Reconcile:
	changed bool          // an event
	failed  bool          // the last Reconcile returned an error
	retry   time.Duration // the last Reconcile requested another one after this time; 0: it did not

	// Fields of the current Reconcile:
	at       call
	read     map[string]bool    // kinds that were read from the cache
	isDead   bool               // the manager died and makes no more calls
	isBehind bool               // a read returned an old answer: the manager is notified when the cache has caught up
	lag      *simulated.Cluster // what the whole cache shows; nil: what is true

	expired     string             // a kind whose watch expired; empty: none
	expiredView *simulated.Cluster // what the cache shows of this kind
	relistAt    int                // the number of the Reconcile at which the cache lists the kind again
}

// start returns the run without faults.
func start(s *scenario) *run {
	r := &run{scenario: s, cluster: s.newCluster(), statuses: invariants.New(), changed: true}
	r.cluster.Seen = r.checkChange
	return r
}

// fork returns a run that continues this run at the Reconcile of a fault.
func (r *run) fork(p point) *run {
	n := p.at.reconcile
	out := &run{scenario: r.scenario, cluster: r.past[n].Copy(), past: r.past[:n:n], fault: &p, statuses: invariants.New(), changed: true}
	out.cluster.Seen = out.checkChange
	for _, c := range simulated.All[*v1alpha1.BenchmarkCampaign](out.cluster) {
		out.statuses.Check(c, c) // the progress so far
	}
	return out
}

// before returns the cluster as it was n Reconciles before the current one, or as it was at the start. It returns nil in the
// first Reconcile.
func (r *run) before(n int) *simulated.Cluster {
	last := len(r.past) - 1 // the current Reconcile
	if last < 1 {
		return nil
	}
	return r.past[max(0, last-n)]
}

// inject records that a fault can happen at a call, and reports whether the fault happens now.
func (r *run) inject(f fault) bool {
	p := point{r.at, f}
	if r.fault == nil {
		r.points = append(r.points, p)
		return false
	}
	if r.hit || p != *r.fault {
		return false
	}
	r.hit = true
	return true
}

func (r *run) violate(format string, args ...any) {
	r.violated = append(r.violated, fmt.Sprintf(format, args...))
}

// checkChange checks a change of the cluster, and notes whether it causes a Reconcile.
func (r *run) checkChange(before, after client.Object) {
	if isWatched(before, after) && kubernetes.KindOf(anyOf(before, after)) != r.expired {
		r.changed = true
	}
	switch o := anyOf(before, after).(type) {
	case *batchv1.Job:
		if before == nil && r.cluster.Created(o) > 1 {
			r.violate("Job %s was created twice", o.Name)
		}
	case *corev1.ConfigMap:
		if after == nil && o.Labels[resources.LabelComponent] == resources.ComponentRecord && !r.scenario.deletes {
			r.violate("record %s was deleted", o.Name)
		}
	case *v1alpha1.BenchmarkCampaign:
		was, isCampaign := before.(*v1alpha1.BenchmarkCampaign)
		if after != nil && isCampaign {
			r.statuses.Check(was, o)
		}
	}
}

func anyOf(before, after client.Object) client.Object {
	if after != nil {
		return after
	}
	return before
}

// drive reconciles like the manager: after an event, after an error, or when the last Reconcile requested it. When nothing of
// this is due, it makes the next step of the cluster. So the manager sees every state between two changes, except in a scenario
// with a slow manager, which sees only settled clusters. drive stops when isOver returns true before a Reconcile.
func (r *run) drive(ctx context.Context, isOver func() bool) error {
	hasRetried := false
	for len(r.past) < maxReconciles {
		if r.scenario.slow {
			for r.cluster.Step() {
				hasRetried = false
			}
		}
		switch {
		case r.changed, r.failed && !hasRetried:
			hasRetried = r.failed && !r.changed
			if isOver() {
				return nil
			}
			r.reconcile(ctx)
		case r.cluster.Step():
			hasRetried = false
		case r.expired != "":
			r.relist()
		case r.failed, r.retry > 0:
			r.cluster.Wait(r.retry)
			r.reconcile(ctx)
		default:
			return r.checkEnd()
		}
	}
	return fmt.Errorf("not finished after %d Reconciles", maxReconciles)
}

func (r *run) relist() { r.expired, r.changed = "", true }

// checkEnd returns an error if the campaign is not finished although nothing causes another Reconcile.
func (r *run) checkEnd() error {
	for _, c := range simulated.All[*v1alpha1.BenchmarkCampaign](r.cluster) {
		ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Reason != v1alpha1.ReasonFinished {
			return fmt.Errorf("nothing causes another Reconcile, and Ready is %+v", ready)
		}
	}
	return nil
}

// reconcile makes the next Reconcile. The reconciler remembers nothing from earlier Reconciles.
func (r *run) reconcile(ctx context.Context) {
	r.ctx, r.at = ctx, call{reconcile: len(r.past)}
	r.past = append(r.past, r.cluster.Copy())
	r.changed, r.failed, r.retry = false, false, 0
	r.read, r.isDead, r.isBehind, r.lag = map[string]bool{}, false, false, nil
	if r.expired != "" && r.at.reconcile >= r.relistAt {
		r.relist()
		r.changed = false
	}
	r.losePods()
	r.at.what = "the whole Reconcile"
	for _, l := range lags {
		if old := r.before(l.reconciles); old != nil && !old.HasSameObjects(r.cluster) && r.inject(l.fault) {
			r.lag, r.isBehind = old, true
		}
	}
	m := manager{r: r}
	r.call(ctx, m, uncached{m}, r.isAlive)
	r.changed = r.changed || r.isBehind
	if r.scenario.twoManagers {
		r.reconcileOther(ctx)
	}
}

func (r *run) isAlive() bool { return !r.isDead }

// reconcileOther makes a Reconcile of another manager without a fault.
func (r *run) reconcileOther(ctx context.Context) {
	api := simulated.Client{Cluster: r.cluster}
	r.call(ctx, api, api, func() bool { return true })
}

// call reconciles with the given clients.
func (r *run) call(ctx context.Context, cached client.Client, direct client.Reader, isAlive func() bool) {
	reconciler := &controllers.CampaignReconciler{
		Client: cached, Uncached: direct, Recorder: recorder{r, isAlive}, Clock: r.cluster, LeaseNamespace: r.scenario.leases,
		Options: resources.Options{OpenSearchImage: "opensearch", OSBImage: "osb", AgentImage: "knee:test"},
	}
	res, err := reconciler.Reconcile(log.IntoContext(ctx, logr.Discard()), ctrl.Request{NamespacedName: r.scenario.key()})
	if err != nil || !isAlive() { // when a manager starts, it reconciles every campaign
		r.failed = true
	}
	if res.RequeueAfter > 0 && res.RequeueAfter < soon {
		r.retry = res.RequeueAfter
	}
}

// losePods removes the pods of a trial that has no record yet, if the fault of the run is at this Reconcile.
func (r *run) losePods() {
	recorded := map[string]bool{}
	for _, cm := range simulated.All[*corev1.ConfigMap](r.cluster) {
		recorded[cm.Name] = true
	}
	for _, pod := range simulated.All[*corev1.Pod](r.cluster) {
		if !kubernetes.IsTrialPod(*pod) || recorded[resources.RecordName(pod.Labels[batchv1.JobNameLabel])] {
			continue
		}
		r.at.what = fmt.Sprintf("pod %s (%s)", pod.Name, pod.Status.Phase)
		if r.inject(podIsGone) {
			r.cluster.Lose(pod)
		}
	}
}

// recorder checks that no Event repeats the Event before.
type recorder struct {
	r       *run
	isAlive func() bool
}

// Eventf implements events.EventRecorder.
func (e recorder) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	if !e.isAlive() {
		return
	}
	event := reason + ": " + fmt.Sprintf(note, args...)
	if event == e.r.lastEvent {
		e.r.violate("the same Event twice in a row: %s", event)
	}
	e.r.lastEvent = event
}
