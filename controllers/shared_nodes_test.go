package controllers_test

import (
	"slices"

	"context"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// overlaps watches some namespaces and records when two of them have OpenSearch pods at the same time.
type overlaps struct {
	mu    sync.Mutex
	there map[string]map[types.UID]bool // UIDs of the existing pods, by namespace
	seen  int
	met   []string
}

func (o *overlaps) note(e watch.Event) {
	pod, isPod := e.Object.(*corev1.Pod)
	if !isPod {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	pods, asked := o.there[pod.Namespace]
	if !asked {
		return
	}
	if e.Type == watch.Deleted {
		delete(pods, pod.UID)
		return
	}
	pods[pod.UID] = true
	o.seen++
	for ns, others := range o.there {
		if ns != pod.Namespace && len(others) > 0 {
			o.met = append(o.met, pod.Namespace+"/"+pod.Name+" beside pods of "+ns)
		}
	}
}

func watchOverlaps(namespaces ...string) *overlaps {
	o := &overlaps{there: map[string]map[types.UID]bool{}}
	for _, ns := range namespaces {
		o.there[ns] = map[types.UID]bool{}
	}
	watching, stop := context.WithCancel(ctx)
	w, err := cluster.Watch(watching, &corev1.PodList{}, client.MatchingLabels{resources.LabelComponent: resources.ComponentOpenSearch})
	Expect(err).NotTo(HaveOccurred())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for e := range w.ResultChan() {
			o.note(e)
		}
	}()
	DeferCleanup(func() {
		stop()
		w.Stop()
		Eventually(ended).Should(BeClosed())
	})
	return o
}

func (o *overlaps) found() (met []string, seen int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.met, o.seen
}

var _ = Describe("campaigns on one node pool", func() {
	shared := func(name, ns, nodes string) *wrappers.Campaign {
		return wrappers.MakeCampaign(name).Namespace(ns).VariantOnAnyNode("a").Clients(1, 2).Repetitions(0).OnNodes(nodes)
	}
	create := func(w *wrappers.Campaign) *v1alpha1.BenchmarkCampaign {
		Expect(cluster.Create(ctx, w.Obj())).To(Succeed())
		return w.Obj()
	}

	It("run one after the other, and the waiting campaign names the other", func() {
		first, second := newNamespace(), newNamespace()
		pods := watchOverlaps(first, second)
		nodes.Behave(first, trialsHang(record.Sweep))
		older := create(shared("older", first, first))
		Eventually(phaseOf(older)).Should(Equal("Sweep"))
		younger := create(shared("younger", second, first))
		Eventually(ready(younger)).Should(Equal("Unknown/Queued"))
		Expect(message(younger)).To(ContainSubstring("waits for campaign " + first + "/older"))
		got := get(younger)
		Expect(meta.IsStatusConditionTrue(got.Status.Conditions, v1alpha1.ConditionReconciling)).To(BeTrue())
		Expect(meta.FindStatusCondition(got.Status.Conditions, v1alpha1.ConditionStalled)).To(BeNil())
		Expect(got.Status.StartedAt).To(BeNil())
		Expect(count(&corev1.PodList{}, second, "")).To(BeZero())

		endTrials(first, 1)
		nodes.Behave(first, kubernetes.Behaviour{})
		Eventually(ready(older)).Should(Equal("True/Finished"))
		Eventually(ready(younger)).Should(Equal("True/Finished"))
		met, seen := pods.found()
		Expect(met).To(BeEmpty())
		Expect(seen).To(BeNumerically(">", 1))
	})

	It("wait for a suspended campaign until it releases its nodes, and it continues after them", func() {
		first, second := newNamespace(), newNamespace()
		pods := watchOverlaps(first, second)
		nodes.Behave(first, trialsHang(record.Sweep))
		holder := create(shared("holder", first, first))
		Eventually(phaseOf(holder)).Should(Equal("Sweep"))
		change(holder, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Suspend = ptr.To(true) })
		Eventually(ready(holder)).Should(Equal("Unknown/Suspended"))
		endTrials(first, 1)
		waiting := create(shared("waiting", second, first))
		Eventually(func() string { return message(waiting) }).Should(ContainSubstring("holder (Suspended)"))
		Expect(message(waiting)).To(ContainSubstring("ReleaseNodes"))

		nodes.Behave(first, kubernetes.Behaviour{})
		change(holder, func(s *v1alpha1.BenchmarkCampaignSpec) { s.WhenSuspended = v1alpha1.SuspendReleaseNodes })
		Eventually(ready(waiting)).Should(Equal("True/Finished"))
		Expect(ready(holder)()).To(Equal("Unknown/Suspended"))
		change(holder, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Suspend = nil })
		Eventually(ready(holder)).Should(Equal("True/Finished"))
		Expect(recordsOf(first, record.Sweep)).To(HaveLen(2), "the trial that ran when it was suspended counts")
		Expect(recordsOf(first, record.Warmup)).To(HaveLen(2), "one for each JVM")
		met, _ := pods.found()
		Expect(met).To(BeEmpty())
	})

	It("wait for a suspended campaign and do not keep other nodes from a campaign that can start", func() {
		ns := newNamespace()
		on := func(name string, pools ...string) *v1alpha1.BenchmarkCampaign {
			w := wrappers.MakeCampaign(name).Namespace(ns).Clients(1).Repetitions(0)
			for _, pool := range pools {
				w.Variant(pool)
			}
			w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
			return create(w.OnNodes(ns))
		}
		nodes.Behave(ns, trialsHang(record.Sweep))
		holder := on("holder", "x")
		Eventually(phaseOf(holder)).Should(Equal("Sweep"))
		change(holder, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Suspend = ptr.To(true) })
		Eventually(ready(holder)).Should(Equal("Unknown/Suspended"))
		blocked := on("blocked", "x", "y")
		Eventually(ready(blocked)).Should(Equal("Unknown/Queued"))
		nodes.Behave(ns, kubernetes.Behaviour{})
		other := on("other", "y")
		Eventually(ready(other)).Should(Equal("True/Finished"))
		Expect(ready(blocked)()).To(Equal("Unknown/Queued"))
		endTrials(ns, 1)
		change(holder, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Suspend = nil })
		Eventually(ready(holder)).Should(Equal("True/Finished"))
		Eventually(ready(blocked)).Should(Equal("True/Finished"))
	})

	It("wait for a finished campaign that retains its cluster until the TTL ends", func() {
		first, second := newNamespace(), newNamespace()
		w := shared("keeper", first, first)
		w.Spec.Retain = v1alpha1.RetainAlways
		keeper := create(w)
		Eventually(ready(keeper)).Should(Equal("True/Finished"))
		waiting := create(shared("waiting", second, first))
		Eventually(ready(waiting)).Should(Equal("Unknown/Queued"))
		Expect(message(waiting)).To(ContainSubstring("ttlSecondsAfterFinished"))
		change(keeper, func(s *v1alpha1.BenchmarkCampaignSpec) { s.TTLSecondsAfterFinished = ptr.To[int32](0) })
		Eventually(ready(waiting)).Should(Equal("True/Finished"))
		Eventually(ready(keeper)).Should(Equal("True/Finished"))
	})
})

var _ = Describe("the history of a campaign", func() {
	It("is cut to its limit once the current cells are measured", func() {
		ns := newNamespace()
		c := start(wrappers.MakeCampaign("history").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		cells := func() []string {
			var maps corev1.ConfigMapList
			Expect(cluster.List(ctx, &maps, client.InNamespace(ns), client.MatchingLabels{resources.LabelPhase: string(record.Sweep)})).To(Succeed())
			var out []string
			for _, cm := range maps.Items {
				out = append(out, cm.Labels[resources.LabelCell])
			}
			return out
		}
		first := cells()
		Expect(first).To(HaveLen(1))
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Rerun, s.HistoryLimit = "2", ptr.To[int32](1) })
		Eventually(cells).Should(And(HaveLen(2), ContainElement(first[0])))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		second := cells()
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Rerun = "3" })
		Eventually(cells).Should(And(HaveLen(2), Not(ContainElement(first[0])), Not(ConsistOf(second))), "the second and the third are left")
		Eventually(ready(c)).Should(Equal("True/Finished"))
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.HistoryLimit = ptr.To[int32](0) })
		Eventually(cells).Should(HaveLen(1))
		Eventually(ready(c)).Should(Equal("True/Finished"))
	})
})

// change edits the current spec of a campaign and repeats the edit after a conflict.
func change(c *v1alpha1.BenchmarkCampaign, edit func(*v1alpha1.BenchmarkCampaignSpec)) {
	Eventually(func() error {
		is := get(c)
		edit(&is.Spec)
		return cluster.Update(ctx, is)
	}).Should(Succeed())
}

// poke causes a Reconcile of a campaign without a change of its spec.
func poke(c *v1alpha1.BenchmarkCampaign) { pokeWith(c, "1") }

// pokeWith is poke for a campaign that was poked before: the value must be another one.
func pokeWith(c *v1alpha1.BenchmarkCampaign, value string) {
	Eventually(func() error {
		is := get(c)
		is.Annotations = map[string]string{"poke": value}
		return cluster.Update(ctx, is)
	}).Should(Succeed())
}

// endTrials ends the n hanging Sweep trials of a namespace.
func endTrials(ns string, n int) {
	var pods corev1.PodList
	Eventually(func() int {
		Expect(cluster.List(ctx, &pods, client.InNamespace(ns), client.MatchingLabels{resources.LabelPhase: string(record.Sweep)})).To(Succeed())
		pods.Items = slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return !p.DeletionTimestamp.IsZero() })
		return len(pods.Items)
	}).Should(Equal(n))
	for i := range pods.Items {
		cfg, err := kubernetes.TrialConfig(pods.Items[i])
		Expect(err).NotTo(HaveOccurred())
		pods.Items[i].Status = *kubernetes.Figures(cfg)
		Expect(cluster.Status().Update(ctx, &pods.Items[i])).To(Succeed())
	}
}
