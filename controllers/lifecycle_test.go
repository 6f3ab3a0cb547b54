package controllers_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// expectNothingLeft waits until a namespace contains no object of Knee.
func expectNothingLeft(ns string) {
	GinkgoHelper()
	for _, list := range []client.ObjectList{
		&batchv1.JobList{}, &appsv1.StatefulSetList{}, &corev1.ServiceList{}, &corev1.ConfigMapList{},
		&corev1.PodList{}, &corev1.PersistentVolumeClaimList{}, &networkingv1.NetworkPolicyList{},
	} {
		Eventually(func() int { return count(list, ns, "") }).Should(BeZero(), "%T left", list)
	}
}

// holdPods keeps the pods of a namespace in their deletion, as pods that terminate slowly, until release is called.
func holdPods(ns string) (release func()) {
	GinkgoHelper()
	set := func(finalizers []string) {
		var pods corev1.PodList
		Expect(cluster.List(ctx, &pods, client.InNamespace(ns))).To(Succeed())
		for i := range pods.Items {
			patch := client.MergeFrom(pods.Items[i].DeepCopy())
			pods.Items[i].Finalizers = finalizers
			Expect(client.IgnoreNotFound(cluster.Patch(ctx, &pods.Items[i], patch))).To(Succeed())
		}
	}
	set([]string{"test.knee.dev/slow"})
	return func() { set(nil) }
}

// trialsHang keeps the trials of one phase running and ends all other trials.
func trialsHang(phase record.Phase) kubernetes.Behaviour {
	return kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
		if cfg.Attempt.Phase == phase {
			return nil
		}
		return kubernetes.Figures(cfg)
	}}
}

// phaseOf returns a function that reads the phase of the campaign's first cell.
func phaseOf(c *v1alpha1.BenchmarkCampaign) func() string {
	return func() string {
		if cells := get(c).Status.Cells; len(cells) > 0 {
			return cells[0].Phase
		}
		return ""
	}
}

var _ = Describe("the life of a campaign", func() {
	stages := map[string]kubernetes.Behaviour{
		"Provisioning": {OpenSearch: func(corev1.Pod) *corev1.PodStatus { return nil }},
		"Warmup":       trialsHang(record.Warmup),
		"Sweep":        trialsHang(record.Sweep),
		"Final":        trialsHang(record.Final),
	}
	for phase, b := range stages {
		for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationBackground} {
			It("leaves nothing when it is deleted in its "+phase+", "+string(policy), func() {
				ns := newNamespace()
				nodes.Behave(ns, b)
				w := wrappers.MakeCampaign("gone").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(1)
				w.Spec.OpenSearch.Storage.Size = "1Gi"
				c := start(w)
				Eventually(phaseOf(c)).Should(Equal(phase))
				Expect(cluster.Delete(ctx, c, client.PropagationPolicy(policy))).To(Succeed())
				expectNothingLeft(ns)
			})
		}
	}

	for how, end := range map[string]func(*v1alpha1.BenchmarkCampaign){
		"its campaign is deleted in the background": func(c *v1alpha1.BenchmarkCampaign) {
			Expect(cluster.Delete(ctx, c, client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		},
		"its campaign is deleted in the foreground": func(c *v1alpha1.BenchmarkCampaign) {
			Expect(cluster.Delete(ctx, c, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		},
		"an edit replaces it": func(c *v1alpha1.BenchmarkCampaign) {
			change(c, func(s *v1alpha1.BenchmarkCampaignSpec) {
				s.Variants[0].Params = map[string]v1alpha1.ParamValue{"bulk_size": "500"}
			})
		},
	} {
		It("keeps the NetworkPolicies of a cell until its last pod is gone when "+how, func() {
			ns := newNamespace()
			nodes.Behave(ns, trialsHang(record.Sweep))
			c := start(wrappers.MakeCampaign("guarded").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
			Eventually(phaseOf(c)).Should(Equal("Sweep"))
			var policies networkingv1.NetworkPolicyList
			Expect(cluster.List(ctx, &policies, client.InNamespace(ns))).To(Succeed())
			Expect(policies.Items).To(HaveLen(2), "one for OpenSearch, one for the trials")
			release := holdPods(ns)
			end(c)
			Eventually(func() int { return count(&corev1.ServiceList{}, ns, "") }).Should(BeZero(), "the other objects are deleted first")
			Eventually(func(g Gomega) {
				var pods corev1.PodList
				g.Expect(cluster.List(ctx, &pods, client.InNamespace(ns))).To(Succeed())
				for _, pod := range pods.Items {
					g.Expect(pod.DeletionTimestamp).NotTo(BeNil(), pod.Name)
				}
			}).Should(Succeed(), "the pods are being deleted")
			exist := func() (n int) {
				for i := range policies.Items {
					err := cluster.Get(ctx, client.ObjectKeyFromObject(&policies.Items[i]), &networkingv1.NetworkPolicy{})
					Expect(client.IgnoreNotFound(err)).To(Succeed())
					if err == nil {
						n++
					}
				}
				return n
			}
			Expect(exist()).To(Equal(2), "the pods still run")
			release()
			Eventually(exist).Should(BeZero())
		})
	}

	It("is kept apart from campaigns of the same name, in another namespace or before it", func() {
		one, other := newNamespace(), newNamespace()
		make := func(ns string) *v1alpha1.BenchmarkCampaign {
			return start(wrappers.MakeCampaign("same").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		}
		first, second := make(one), make(other)
		Eventually(ready(first)).Should(Equal("True/Finished"))
		Eventually(ready(second)).Should(Equal("True/Finished"))
		Expect(cluster.Delete(ctx, first)).To(Succeed())
		again := make(one)
		Expect(again.UID).NotTo(Equal(first.UID))
		Eventually(ready(again)).Should(Equal("True/Finished"))
		Eventually(func(g Gomega) { // until the garbage collector has deleted the records of the first campaign
			for title, rec := range recordsOf(one, record.Sweep) {
				g.Expect(rec.Attempt.Campaign).To(Equal(string(again.UID)), title)
			}
		}).Should(Succeed())
		Expect(recordsOf(one, record.Sweep)).To(HaveLen(1))
		for title, rec := range recordsOf(other, record.Sweep) {
			Expect(rec.Attempt.Campaign).To(Equal(string(second.UID)), title)
		}
	})

	It("measures everything again with another rerun token, and keeps the earlier records", func() {
		ns := newNamespace()
		c := start(wrappers.MakeCampaign("rerun").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Rerun = "again" })
		c = get(c)
		Eventually(func() int64 { return get(c).Status.ObservedGeneration }).Should(Equal(c.Generation))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)).To(Equal(4), "a Warmup and a Sweep, twice")
	})

	It("measures a single point again on request, and keeps its earlier record", func() {
		ns := newNamespace()
		c := start(wrappers.MakeCampaign("by-hand").Namespace(ns).VariantOnAnyNode("a").Clients(1, 2).Repetitions(0))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		before := count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Sweep.Rerun = []v1alpha1.PointRerun{{Variant: "a", Topology: s.Topologies[0].Name, Clients: 2, Token: "by-hand"}}
		})
		Eventually(func() []int32 { return get(c).Status.Cells[0].MeasuredAgain }).Should(Equal([]int32{2}))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)).To(Equal(before+2), "the point, and the Warmup of its JVM")
	})

	It("measures only what an edit during the run changed", func() {
		ns := newNamespace()
		nodes.Behave(ns, trialsHang(record.Sweep))
		c := start(wrappers.MakeCampaign("edit").Namespace(ns).Variant("a").Variant("b").Clients(1).Repetitions(0))
		sweeps := func() map[string]batchv1.Job { // by variant, without Jobs that are being deleted
			var jobs batchv1.JobList
			Expect(cluster.List(ctx, &jobs, client.InNamespace(ns), client.MatchingLabels{resources.LabelPhase: string(record.Sweep)})).To(Succeed())
			out := map[string]batchv1.Job{}
			for _, j := range jobs.Items {
				if j.DeletionTimestamp.IsZero() {
					out[j.Labels[resources.LabelVariant]] = j
				}
			}
			return out
		}
		Eventually(sweeps).Should(HaveLen(2), "both sweep, on nodes of their own")
		before := sweeps()
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Variants[1].Params = map[string]v1alpha1.ParamValue{"bulk_size": "500"}
		})
		Eventually(func() bool {
			now := sweeps()
			return len(now) == 2 && now["b"].UID != before["b"].UID && now["b"].Labels[resources.LabelCell] != before["b"].Labels[resources.LabelCell]
		}).Should(BeTrue(), "b is another cell, whose trial is another Job")
		Expect(sweeps()["a"].UID).To(Equal(before["a"].UID), "a's trial runs on")
		nodes.Behave(ns, kubernetes.Behaviour{Trial: kubernetes.Figures})
		endTrials(ns, 2)
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(recordsOf(ns, record.Sweep)).To(HaveLen(2), "one of a, one of b as it is now")
		Expect(count(&batchv1.JobList{}, ns, "")).To(BeZero())
	})

	It("finishes the running trial when it is suspended, and continues there later", func() {
		ns := newNamespace()
		nodes.Behave(ns, trialsHang(record.Sweep))
		c := start(wrappers.MakeCampaign("pause").Namespace(ns).VariantOnAnyNode("a").Clients(1, 2).Repetitions(0))
		Eventually(phaseOf(c)).Should(Equal("Sweep"))
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Suspend = ptr.To(true) })
		endTrials(ns, 1)
		Eventually(ready(c)).Should(Equal("Unknown/Suspended"))
		Eventually(func() int { return len(recordsOf(ns, record.Sweep)) }).Should(Equal(1), "the trial that ran is measured")
		Eventually(func() string { return message(c) }).Should(ContainSubstring("are kept"))
		Expect(count(&appsv1.StatefulSetList{}, ns, "")).To(Equal(1), "its OpenSearch is kept")
		nodes.Behave(ns, kubernetes.Behaviour{Trial: kubernetes.Figures})
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Suspend = nil })
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(recordsOf(ns, record.Sweep)).To(HaveLen(2))
		Expect(recordsOf(ns, record.Warmup)).To(HaveLen(1), "its JVM was never stopped")
	})

	It("is left alone by another version of the manager while it runs", func() {
		ns := newNamespace()
		nodes.Behave(ns, trialsHang(record.Sweep))
		c := start(wrappers.MakeCampaign("upgrade").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(phaseOf(c)).Should(Equal("Sweep"))
		objects := func() []string {
			var out []string
			for _, list := range []client.ObjectList{&appsv1.StatefulSetList{}, &batchv1.JobList{}, &corev1.PodList{}, &corev1.ServiceList{}} {
				Expect(cluster.List(ctx, list, client.InNamespace(ns))).To(Succeed())
				out = append(out, kubernetes.ListShape(list, kubernetes.Shape))
			}
			return out
		}
		Eventually(func() int { return count(&corev1.PodList{}, ns, resources.ComponentLoader) }).Should(Equal(2), "the Warmup's and the Sweep's")
		before := objects()
		newer := &controllers.CampaignReconciler{
			Client: cluster, Uncached: cluster, Recorder: events.NewFakeRecorder(10), Clock: clock.RealClock{},
			Options: resources.Options{OpenSearchImage: "mirror/opensearch", OSBImage: "mirror/osb", AgentImage: "knee:newer"},
		}
		_, err := newer.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c)})
		Expect(err).NotTo(HaveOccurred())
		Expect(objects()).To(Equal(before))
	})
})
