package controllers_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// imageMissing is the behaviour of pods whose image cannot be pulled.
func imageMissing() kubernetes.Behaviour {
	return kubernetes.Behaviour{OpenSearch: func(corev1.Pod) *corev1.PodStatus {
		return &corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Name:  resources.ContainerOpenSearch,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "InvalidImageName", Message: "no such image"}},
		}}}
	}}
}

var _ = Describe("a campaign that cannot continue", func() {
	shared := func(name, ns, nodes string) *wrappers.Campaign {
		w := wrappers.MakeCampaign(name).Namespace(ns).VariantOnAnyNode("a").Clients(1, 2).Repetitions(0).OnNodes(nodes)
		w.Spec.Timeouts.YieldSeconds = ptr.To[int32](1)
		return w
	}
	create := func(w *wrappers.Campaign) *v1alpha1.BenchmarkCampaign {
		Expect(cluster.Create(ctx, w.Obj())).To(Succeed())
		return w.Obj()
	}
	replicas := func(ns string) []int32 {
		var sets appsv1.StatefulSetList
		Expect(cluster.List(ctx, &sets, client.InNamespace(ns))).To(Succeed())
		var out []int32
		for _, s := range sets.Items {
			out = append(out, *s.Spec.Replicas)
		}
		return out
	}

	It("yields its nodes to a campaign that waits, and has its turn again", func() {
		first, second := newNamespace(), newNamespace()
		pods := watchOverlaps(first, second)
		nodes.Behave(first, imageMissing())
		stalled := create(shared("stalled", first, first))
		Eventually(ready(stalled)).Should(Equal("False/ImagePullFailed"))
		nodes.Behave(second, trialsHang(record.Sweep))
		waiting := create(shared("waiting", second, first))
		Eventually(ready(stalled)).Should(Equal("Unknown/Queued"))
		Expect(get(stalled).Status.YieldedAt).NotTo(BeNil())
		Eventually(phaseOf(waiting)).Should(Equal("Sweep"))
		endTrials(second, 1)
		nodes.Behave(second, kubernetes.Behaviour{})
		nodes.Behave(first, kubernetes.Behaviour{})
		Eventually(ready(waiting)).Should(Equal("True/Finished"))
		Eventually(ready(stalled)).Should(Equal("True/Finished"))
		Expect(get(stalled).Status.YieldedAt).To(BeNil())
		met, _ := pods.found()
		Expect(met).To(BeEmpty())
	})

	It("ends at its deadline, keeps its records, and continues when the deadline is raised", func() {
		ns := newNamespace()
		nodes.Behave(ns, trialsHang(record.Sweep))
		w := shared("late", ns, ns)
		w.Spec.ActiveDeadlineSeconds = ptr.To[int64](4)
		c := create(w)
		Eventually(ready(c)).Should(Equal("False/DeadlineExceeded"))
		Eventually(func() int { return count(&corev1.PodList{}, ns, "") }).Should(BeZero())
		Eventually(func() int { return count(&batchv1.JobList{}, ns, "") + count(&appsv1.StatefulSetList{}, ns, "") }).Should(BeZero())
		before := recordsOf(ns, record.Warmup)
		nodes.Behave(ns, kubernetes.Behaviour{})
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](3600) })
		Eventually(ready(c)).Should(Equal("True/Finished"))
		after := recordsOf(ns, record.Warmup)
		for name, warmup := range before {
			Expect(after).To(HaveKeyWithValue(name, warmup))
		}
	})

	It("lets its trial end and releases its nodes when an edit makes its spec invalid", func() {
		ns := newNamespace()
		nodes.Behave(ns, trialsHang(record.Sweep))
		c := create(shared("typo", ns, ns))
		Eventually(phaseOf(c)).Should(Equal("Sweep"))
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Gates.Expressions = []v1alpha1.GateExpression{{Name: "bad", Expression: "trial.nodes.all(n, n.nothing < 10"}}
		})
		Eventually(ready(c)).Should(Equal("False/InvalidSpec"))
		Expect(replicas(ns)).To(ConsistOf(BeEquivalentTo(1)), "OpenSearch stays for the running trial")
		endTrials(ns, 1)
		Eventually(func() int { return len(recordsOf(ns, record.Sweep)) }).Should(Equal(1))
		Eventually(func() []int32 { return replicas(ns) }).Should(ConsistOf(BeEquivalentTo(0)))
		nodes.Behave(ns, kubernetes.Behaviour{})
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Gates.Expressions = nil })
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(recordsOf(ns, record.Sweep)).To(HaveLen(2), "the trial that ran during the edit counts")
	})

	It("stays finished when another manager refuses its spec", func() {
		ns := newNamespace()
		c := create(shared("done", ns, ns))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		var records corev1.ConfigMapList
		Expect(cluster.List(ctx, &records, client.InNamespace(ns), client.HasLabels{resources.LabelCell})).To(Succeed())
		done := get(c)
		done.Spec.Artifacts = &v1alpha1.Artifacts{ClaimName: "Not-A-Name"} // stands for a spec that a later version refuses
		objects := []client.Object{done}
		for i := range records.Items {
			objects = append(objects, &records.Items[i])
		}
		api := fake.NewClientBuilder().WithScheme(scheme.New()).WithStatusSubresource(done).WithObjects(objects...).Build()
		other := &controllers.CampaignReconciler{Client: api, Uncached: api, Recorder: events.NewFakeRecorder(99), Clock: clock.RealClock{},
			Options: resources.Options{OpenSearchImage: "opensearch", OSBImage: "osb", AgentImage: "knee:test"}}
		Expect(other.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(done)})).To(BeZero())
		var after v1alpha1.BenchmarkCampaign
		Expect(api.Get(ctx, client.ObjectKeyFromObject(done), &after)).To(Succeed())
		Expect(after.Status.Conditions).To(ContainElement(And(HaveField("Type", "Ready"), HaveField("Reason", "Finished"),
			HaveField("Message", ContainSubstring("would not accept the spec")))))
		Expect(after.Status.Result).To(Equal(done.Status.Result))
		Expect(after.Status.Progress).To(Equal(done.Status.Progress))
		var jobs batchv1.JobList
		Expect(api.List(ctx, &jobs)).To(Succeed())
		Expect(jobs.Items).To(BeEmpty())
	})
})
