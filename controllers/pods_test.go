package controllers_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// runningPod returns the running pod of a component in a namespace. For a loader pod, it returns the pod of a trial of this phase.
func runningPod(ns, component string, phase record.Phase) *corev1.Pod {
	GinkgoHelper()
	labels := client.MatchingLabels{resources.LabelComponent: component}
	if component == resources.ComponentLoader {
		labels[resources.LabelPhase] = string(phase)
	}
	var pod *corev1.Pod
	Eventually(func() *corev1.Pod {
		var pods corev1.PodList
		Expect(cluster.List(ctx, &pods, client.InNamespace(ns), labels)).To(Succeed())
		for i := range pods.Items {
			if pods.Items[i].Status.Phase == corev1.PodRunning && pods.Items[i].DeletionTimestamp.IsZero() {
				pod = &pods.Items[i]
			}
		}
		return pod
	}).ShouldNot(BeNil())
	return pod
}

// evict evicts a pod as a drain does.
func evict(pod *corev1.Pod) error {
	return cluster.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{})
}

// holder is a finalizer that keeps a deleted pod.
const holder = "knee.dev/kubelet"

// hold keeps a pod after its deletion until release is called.
func hold(pod *corev1.Pod) {
	GinkgoHelper()
	before := pod.DeepCopy()
	controllerutil.AddFinalizer(pod, holder)
	Expect(cluster.Patch(ctx, pod, client.MergeFrom(before))).To(Succeed())
}

func release(pod *corev1.Pod) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		Expect(cluster.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
		controllerutil.RemoveFinalizer(pod, holder)
		return cluster.Update(ctx, pod)
	})).To(Succeed())
}

// budgetsOf returns the PodDisruptionBudgets of a namespace.
func budgetsOf(ns string) []policyv1.PodDisruptionBudget {
	GinkgoHelper()
	var budgets policyv1.PodDisruptionBudgetList
	Expect(cluster.List(ctx, &budgets, client.InNamespace(ns))).To(Succeed())
	return budgets.Items
}

func deleteBudgets(ns string) {
	GinkgoHelper()
	Eventually(func() int { return len(budgetsOf(ns)) }).Should(Equal(2), "those of the trial before are deleted")
	Expect(cluster.DeleteAllOf(ctx, &policyv1.PodDisruptionBudget{}, client.InNamespace(ns))).To(Succeed())
}

var _ = Describe("the PodDisruptionBudgets of a trial", func() {
	It("refuse every eviction while the trial runs, and are deleted after it", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Loader: func(cfg record.Config, index int) *corev1.PodStatus {
			if cfg.Attempt.Phase != record.Sweep || cfg.Attempt.N > 1 {
				if index > 0 {
					return kubernetes.Ended(resources.ContainerTrial, 0, "")
				}
				return kubernetes.Figures(cfg)
			}
			return kubernetes.TrialRunning()
		}})
		w := wrappers.MakeCampaign("budget").Namespace(ns).VariantOnAnyNode("a").Nodes(3).Clients(2).ClientsPerPod(1).Repetitions(0).Retries(0)
		w.Spec.Retain = v1alpha1.RetainAlways
		c := start(w)
		loader := runningPod(ns, resources.ComponentLoader, record.Sweep)
		openSearch := runningPod(ns, resources.ComponentOpenSearch, "")
		Eventually(func(g Gomega) { // the real disruption controller has counted the pods
			for _, b := range budgetsOf(ns) {
				g.Expect(b.Status.CurrentHealthy).To(Equal(b.Status.DesiredHealthy), b.Name)
				g.Expect(b.Status.CurrentHealthy).To(BeNumerically(">=", 2), b.Name)
				g.Expect(b.Status.DisruptionsAllowed).To(BeZero(), b.Name)
			}
		}).Should(Succeed())
		for _, pod := range []*corev1.Pod{loader, openSearch} {
			err := evict(pod)
			Expect(apierrors.IsTooManyRequests(err)).To(BeTrue(), "%s: %v", pod.Name, err)
			matching := 0
			for _, b := range budgetsOf(ns) {
				selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
				Expect(err).NotTo(HaveOccurred())
				if selector.Matches(labels.Set(pod.Labels)) {
					matching++
				}
			}
			Expect(matching).To(Equal(1), "the API server evicts no pod that matches two budgets")
			Expect(pod.Annotations).To(And(HaveKeyWithValue("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), HaveKeyWithValue("karpenter.sh/do-not-disrupt", "true")))
		}

		By("the end of the trial")
		var pods corev1.PodList
		Expect(cluster.List(ctx, &pods, client.InNamespace(ns), client.MatchingLabels{batchv1.JobNameLabel: loader.Labels[batchv1.JobNameLabel]})).To(Succeed())
		Expect(pods.Items).To(HaveLen(2))
		for i := range pods.Items {
			pod := &pods.Items[i]
			cfg, err := kubernetes.TrialConfig(*pod)
			Expect(err).NotTo(HaveOccurred())
			pod.Status = *kubernetes.Figures(cfg)
			Expect(cluster.Status().Update(ctx, pod)).To(Succeed())
		}
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(budgetsOf(ns)).To(BeEmpty())
		Expect(evict(openSearch)).To(Succeed())
	})
})

var _ = Describe("a trial whose Job the API server refuses", func() {
	It("has no PodDisruptionBudget, so that drains continue", func() {
		ns := newNamespace()
		quota(ns, list("count/jobs.batch", 0), list("count/jobs.batch", 0))
		var before policyv1.PodDisruptionBudgetList
		Expect(cluster.List(ctx, &before)).To(Succeed())
		changes, err := cluster.Watch(ctx, &policyv1.PodDisruptionBudgetList{}, client.InNamespace(ns), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: before.ResourceVersion}})
		Expect(err).NotTo(HaveOccurred())
		defer changes.Stop()
		c := start(wrappers.MakeCampaign("nobudget").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(ready(c)).Should(Equal("False/Forbidden"))
		for i := range int32(3) {
			change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Timeouts.YieldSeconds = ptr.To(1000 + i) })
			generation := get(c).Generation
			Eventually(func() int64 { return get(c).Status.ObservedGeneration }).Should(Equal(generation), "Knee tried again")
		}
		Consistently(changes.ResultChan(), "1s").ShouldNot(Receive(), "no budget was created")
		Expect(evict(runningPod(ns, resources.ComponentOpenSearch, ""))).To(Succeed())
	})
})

var _ = Describe("a trial whose pods have an injected sidecar that never ends", func() {
	It("is collected when its own container has ended, and its pods are deleted", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
			return kubernetes.WithSidecar(*kubernetes.Figures(cfg))
		}})
		c := start(wrappers.MakeCampaign("sidecar").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(1).Retries(0))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(recordsOf(ns, record.Warmup)).To(HaveLen(1), "the Jobs are kept until the cell is deleted: they show that the JVM is warm")
		for title, rec := range recordsOf(ns, record.Sweep) {
			Expect(rec.Error).To(BeNil(), title)
		}
		Expect(get(c).Status.Cells[0].NotMeasured).To(BeEmpty())
		Eventually(func() int { return count(&corev1.PodList{}, ns, resources.ComponentLoader) }).Should(BeZero())
	})

	It("is collected when its container has ended in all of its loader pods", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Loader: func(cfg record.Config, index int) *corev1.PodStatus {
			if index > 0 {
				return kubernetes.WithSidecar(*kubernetes.Ended(resources.ContainerTrial, 0, ""))
			}
			return kubernetes.WithSidecar(*kubernetes.Figures(cfg))
		}})
		c := start(wrappers.MakeCampaign("sidecars").Namespace(ns).VariantOnAnyNode("a").Clients(2).ClientsPerPod(1).Repetitions(0).Retries(0))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(recordsOf(ns, record.Sweep)).To(HaveLen(1))
		Expect(get(c).Status.Cells[0].NotMeasured).To(BeEmpty())
	})
})

var _ = Describe("a trial that Kubernetes disrupts", func() {
	for component, what := range map[string]string{resources.ComponentLoader: "its loader pod", resources.ComponentOpenSearch: "its OpenSearch pod"} {
		It("is measured again, without being charged to the retries, when "+what+" is evicted", func() {
			ns := newNamespace()
			nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
				if cfg.Attempt.Phase == record.Sweep && cfg.Attempt.N == 1 {
					return kubernetes.TrialRunning()
				}
				return kubernetes.Figures(cfg)
			}})
			c := start(wrappers.MakeCampaign("evicted").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0).Retries(0))
			runningPod(ns, resources.ComponentLoader, record.Sweep)
			pod := runningPod(ns, component, record.Sweep)
			hold(pod)         // a kubelet needs time to end the pod
			deleteBudgets(ns) // as a user may do whose drain cannot wait
			Eventually(func() error { return evict(pod) }).Should(Succeed())
			Eventually(func() map[string]record.Record { return recordsOf(ns, record.Sweep) }).Should(HaveLen(1), "while the pod is still terminating")
			release(pod)
			Eventually(ready(c)).Should(Equal("True/Finished"))
			sweep := recordsOf(ns, record.Sweep)
			Expect(sweep).To(HaveLen(2))
			disrupted := sweep["a/1p0r/Sweep/1 clients/repetition 1/attempt 1"]
			Expect(disrupted.Error).NotTo(BeNil())
			Expect(disrupted.Error.Reason).To(Equal(record.ReasonDisrupted))
			Expect(disrupted.Error.Message).To(And(ContainSubstring(pod.Name), ContainSubstring("EvictionByEvictionAPI")))
			Expect(get(c).Status.Cells[0].NotMeasured).To(BeEmpty())
			Expect(count(&batchv1.JobList{}, ns, "")).To(BeZero())
		})
	}
})
