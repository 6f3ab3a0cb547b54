package gitops

import (
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/simulated"
	"github.com/knee-bench/knee/test/wrappers"
)

// namespace is the namespace of all campaigns in a world.
const namespace = "bench"

// world is a simulated cluster with the manager.
type world struct {
	t       *testing.T
	cluster *simulated.Cluster
	node    *kubernetes.Node
	api     client.Client
	manager *controllers.CampaignReconciler
	changed bool // an object changed since the last Reconcile
}

func newWorld(t *testing.T) *world {
	node := &kubernetes.Node{}
	w := &world{t: t, cluster: simulated.New(node), node: node}
	w.api = simulated.Client{Cluster: w.cluster}
	w.manager = &controllers.CampaignReconciler{
		Client: w.api, Uncached: w.api, Recorder: noEvents{}, Clock: w.cluster,
		Options: resources.Options{OpenSearchImage: "opensearch", OSBImage: "osb", AgentImage: "knee:test"},
	}
	w.cluster.Seen = func(_, _ client.Object) { w.changed = true }
	return w
}

// create creates a campaign and returns its name.
func (w *world) create(c *wrappers.Campaign) string {
	w.t.Helper()
	if err := w.cluster.CreateCampaign(c.Namespace(namespace).Obj()); err != nil {
		w.t.Fatal(err)
	}
	return c.Name
}

// get returns a copy of a campaign.
func (w *world) get(name string) *v1alpha1.BenchmarkCampaign {
	w.t.Helper()
	var c v1alpha1.BenchmarkCampaign
	if err := w.api.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &c); err != nil {
		w.t.Fatal(err)
	}
	return c.DeepCopy()
}

// edit changes a campaign as a user does.
func (w *world) edit(name string, change func(*v1alpha1.BenchmarkCampaign)) {
	w.t.Helper()
	c := w.get(name)
	change(c)
	if err := w.api.Update(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}

// reason returns the reason of the condition Ready, or an empty text.
func (w *world) reason(name string) string {
	if ready := meta.FindStatusCondition(w.get(name).Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		return ready.Reason
	}
	return ""
}

// runUntil reconciles all campaigns, makes the steps of the cluster and moves the clock, until isOver returns true. The manager sees only settled
// clusters.
func (w *world) runUntil(isOver func() bool) {
	w.t.Helper()
	for range 5000 {
		var wait time.Duration
		w.changed = false
		for _, c := range simulated.All[*v1alpha1.BenchmarkCampaign](w.cluster) {
			if again := w.reconcile(client.ObjectKeyFromObject(c)); again > 0 && (wait == 0 || again < wait) {
				wait = again
			}
		}
		if isOver() {
			return
		}
		for range 1000 {
			if !w.cluster.Step() {
				break
			}
		}
		if !w.changed && wait == 0 {
			w.fatal("nothing causes another Reconcile")
		}
		if !w.changed {
			w.cluster.Wait(wait)
		}
	}
	w.fatal("not reached")
}

func (w *world) fatal(what string) {
	w.t.Helper()
	for _, c := range simulated.All[*v1alpha1.BenchmarkCampaign](w.cluster) {
		w.t.Logf("%s: %+v", c.Name, c.Status)
	}
	w.t.Fatal(what)
}

// reconcile reconciles a campaign. It returns when the manager wants to reconcile it again, or zero.
func (w *world) reconcile(key client.ObjectKey) time.Duration {
	result, err := w.manager.Reconcile(log.IntoContext(w.t.Context(), logr.Discard()), ctrl.Request{NamespacedName: key})
	if err != nil { // the manager tries again
		return max(result.RequeueAfter, time.Second)
	}
	return result.RequeueAfter
}

// noEvents implements events.EventRecorder.
type noEvents struct{}

func (noEvents) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}

// runUntilReason creates a campaign, runs it until its condition Ready has the reason, and returns its name.
func (w *world) runUntilReason(c *wrappers.Campaign, reason string) string {
	w.t.Helper()
	name := w.create(c)
	w.runUntil(func() bool { return w.reason(name) == reason })
	return name
}

// finish creates a campaign, runs it to its verdict, and returns its name.
func (w *world) finish(c *wrappers.Campaign) string {
	w.t.Helper()
	return w.runUntilReason(c, v1alpha1.ReasonFinished)
}

// stopAtSweep creates a campaign, runs it until a trial of its sweep runs, and returns its name.
func (w *world) stopAtSweep(c *wrappers.Campaign) string {
	w.t.Helper()
	name := w.create(c)
	w.runUntil(func() bool {
		return slices.ContainsFunc(simulated.All[*corev1.Pod](w.cluster), func(p *corev1.Pod) bool {
			return p.Labels[resources.LabelPhase] == string(record.Sweep) && p.Status.Phase == corev1.PodRunning && len(w.get(name).Status.Running) > 0
		})
	})
	return name
}
