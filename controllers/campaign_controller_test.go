package controllers_test

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// get reads the current campaign from the API server.
func get(c *v1alpha1.BenchmarkCampaign) *v1alpha1.BenchmarkCampaign {
	var out v1alpha1.BenchmarkCampaign
	Expect(cluster.Get(ctx, client.ObjectKeyFromObject(c), &out)).To(Succeed())
	return &out
}

// ready returns a function that reads the campaign's Ready condition as "Status/Reason".
func ready(c *v1alpha1.BenchmarkCampaign) func() string {
	return func() string {
		cond := meta.FindStatusCondition(get(c).Status.Conditions, v1alpha1.ConditionReady)
		if cond == nil {
			return ""
		}
		return string(cond.Status) + "/" + cond.Reason
	}
}

func message(c *v1alpha1.BenchmarkCampaign) string {
	cond := meta.FindStatusCondition(get(c).Status.Conditions, v1alpha1.ConditionReady)
	if cond == nil {
		return ""
	}
	return cond.Message
}

// count returns the number of objects of the list's kind in a namespace. If component is not empty, it counts only
// objects of that component.
func count(list client.ObjectList, ns string, component string) int {
	options := []client.ListOption{client.InNamespace(ns), client.MatchingLabels{resources.LabelManagedBy: resources.ManagedBy}}
	if component != "" {
		options = append(options, client.MatchingLabels{resources.LabelComponent: component})
	}
	Expect(cluster.List(ctx, list, options...)).To(Succeed())
	return meta.LenList(list)
}

// start creates a campaign on nodes of its own namespace. So it does not wait for a campaign of another spec.
func start(c *wrappers.Campaign) *v1alpha1.BenchmarkCampaign {
	c.OnNodes(c.GetNamespace())
	Expect(cluster.Create(ctx, c.Obj())).To(Succeed())
	return c.Obj()
}

var _ = Describe("a campaign", func() {
	It("runs to its verdict and leaves only records and reports", func() {
		ns := newNamespace()
		c := start(wrappers.MakeCampaign("demo").Namespace(ns).Variant("arm").Variant("intel").Repetitions(2))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		got := get(c)
		Expect(got.Status.Progress).To(Equal("10/10"), "2 cells: 3 Sweep, 2 Final each")
		Expect(got.Status.Knees).To(Equal("arm=4 intel=4"))
		Expect(got.Status.SharedClients).To(Equal("4"))
		Expect(got.Status.Result).To(HavePrefix("intel 1.000x arm"))
		Expect(got.Status.StartedAt).NotTo(BeNil())
		Expect(got.Status.CompletedAt).NotTo(BeNil())
		Expect(meta.IsStatusConditionTrue(got.Status.Conditions, v1alpha1.ConditionReconciling)).To(BeFalse())

		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)).To(Equal(12))
		var report corev1.ConfigMap
		Expect(cluster.Get(ctx, client.ObjectKey{Namespace: ns, Name: got.Status.Reports[0]}, &report)).To(Succeed())
		Expect(report.Data).To(HaveKey("results.csv"))
		Expect(report.Data).To(HaveKey("report.md"))
		Expect(report.Data).To(HaveKey("tune_results_arm_1p0r.csv"))
		for _, list := range []client.ObjectList{&appsv1.StatefulSetList{}, &batchv1.JobList{}, &corev1.ServiceList{}} {
			Expect(count(list, ns, "")).To(BeZero(), "%T left after the end", list)
		}
		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentOpenSearch)).To(BeZero())
	})

	It("measures only what is new when its sweep is extended", func() {
		ns := newNamespace()
		c := start(wrappers.MakeCampaign("longer").Namespace(ns).VariantOnAnyNode("a").Clients(1, 2).Repetitions(0))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		before := count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Sweep.Clients = []int32{1, 2, 4} })
		Eventually(func() string { return get(c).Status.Knees }).Should(Equal("a=4"))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)).To(Equal(before+2), "the added trial and the Warmup of its JVM")
	})

	It("judges a new gate from the old records", func() {
		ns := newNamespace()
		c := start(wrappers.MakeCampaign("gates").Namespace(ns).VariantOnAnyNode("a").Repetitions(0))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		before := count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Gates.MaxCPUPercent = v1alpha1.ToDecimal("50") })
		Eventually(ready(c)).Should(Equal("False/NothingMeasured"))
		Expect(message(c)).To(ContainSubstring("maxCPUPercent"))
		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)).To(Equal(before))
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Gates.MaxCPUPercent = nil })
		Eventually(ready(c)).Should(Equal("True/Finished"))
	})

	It("shows a trial that keeps failing and finishes the rest", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
			if cfg.Attempt.Phase == record.Sweep && cfg.Attempt.Clients == 4 {
				return kubernetes.Ended(resources.ContainerTrial, 137, "")
			}
			status, err := kubernetes.Recorded(wrappers.MeasuredRecord(cfg.Attempt, 1000))
			Expect(err).NotTo(HaveOccurred())
			return status
		}})
		c := start(wrappers.MakeCampaign("failing").Namespace(ns).VariantOnAnyNode("a").Repetitions(0).Retries(1))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		got := get(c)
		Expect(got.Status.Cells[0].Knee).To(HaveValue(HaveField("Clients", BeEquivalentTo(1))))
		Expect(got.Status.Cells[0].NotMeasured).To(ContainElement(ContainSubstring("137")))
		var jobs corev1.ConfigMapList
		Expect(cluster.List(ctx, &jobs, client.InNamespace(ns), client.MatchingLabels{resources.LabelPhase: "Sweep"})).To(Succeed())
		Expect(jobs.Items).To(HaveLen(4), "1, 2, and two attempts at 4")
	})

	It("is Stalled with the cause while its OpenSearch cannot start, and continues once it can", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{OpenSearch: func(corev1.Pod) *corev1.PodStatus {
			status := kubernetes.Ended(resources.ContainerOpenSearch, 1, "unknown setting [no.such.setting]")
			status.Phase = corev1.PodRunning
			status.ContainerStatuses[0].RestartCount = 2
			return status
		}})
		c := start(wrappers.MakeCampaign("broken").Namespace(ns).VariantOnAnyNode("a").Repetitions(0))
		Eventually(ready(c)).Should(Equal("False/ProvisioningFailed"))
		Expect(message(c)).To(ContainSubstring("unknown setting [no.such.setting]"))
		Expect(meta.IsStatusConditionTrue(get(c).Status.Conditions, v1alpha1.ConditionStalled)).To(BeTrue())
		Expect(meta.FindStatusCondition(get(c).Status.Conditions, v1alpha1.ConditionReconciling)).To(BeNil())

		nodes.Behave(ns, kubernetes.Behaviour{})
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.OpenSearch.Settings = map[string]v1alpha1.ParamValue{"action.auto_create_index": "false"}
		})
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(meta.FindStatusCondition(get(c).Status.Conditions, v1alpha1.ConditionStalled)).To(BeNil())
		Expect(count(&appsv1.StatefulSetList{}, ns, "")).To(BeZero(), "the broken cell's objects are gone too")
	})

	It("is Stalled when no node takes its OpenSearch in time", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{OpenSearch: func(corev1.Pod) *corev1.PodStatus {
			return &corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
				Message: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
			}}}
		}})
		w := wrappers.MakeCampaign("nowhere").Namespace(ns).Variant("a")
		w.Spec.Timeouts.ProvisioningSeconds = ptr.To[int32](10)
		c := start(w)
		Eventually(func() string { return message(c) }).Should(ContainSubstring("0/1 nodes are available"), "said before the deadline")
		Eventually(ready(c)).Should(Equal("False/Unschedulable"))
		Expect(message(c)).To(ContainSubstring("the wait took longer than 10s"))
	})

	It("rejects a record of another attempt", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
			attempt := cfg.Attempt
			if attempt.Phase == record.Sweep && attempt.N == 1 {
				attempt.Clients++
			}
			status, err := kubernetes.Recorded(wrappers.MeasuredRecord(attempt, 1000))
			Expect(err).NotTo(HaveOccurred())
			return status
		}})
		c := start(wrappers.MakeCampaign("mixup").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		var records corev1.ConfigMapList
		Expect(cluster.List(ctx, &records, client.InNamespace(ns), client.MatchingLabels{resources.LabelPhase: "Sweep"})).To(Succeed())
		Expect(records.Items).To(HaveLen(2))
		Expect(slices.ContainsFunc(records.Items, func(cm corev1.ConfigMap) bool {
			r, err := record.Decode([]byte(cm.Data[resources.RecordKey]))
			return err == nil && r.Error != nil && r.Error.Reason == record.ReasonRecordUnreadable
		})).To(BeTrue())
	})

	It("measures a trial again when its record was damaged", func() {
		ns := newNamespace()
		c := start(wrappers.MakeCampaign("damaged").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		var records corev1.ConfigMapList
		Expect(cluster.List(ctx, &records, client.InNamespace(ns), client.MatchingLabels{resources.LabelPhase: "Sweep"})).To(Succeed())
		damaged := records.Items[0].DeepCopy()
		Expect(cluster.Delete(ctx, &records.Items[0])).To(Succeed())
		damaged.ResourceVersion, damaged.UID = "", ""
		damaged.Data[resources.RecordKey] = damaged.Data[resources.RecordKey][:100]
		Expect(cluster.Create(ctx, damaged)).To(Succeed())
		Eventually(func() int {
			Expect(cluster.List(ctx, &records, client.InNamespace(ns), client.MatchingLabels{resources.LabelPhase: "Sweep"})).To(Succeed())
			return len(records.Items)
		}).Should(Equal(2), "the damaged one and the second attempt")
		Eventually(ready(c)).Should(Equal("True/Finished"))
	})

	It("names a missing ConfigMap that its trials mount, and continues once it exists", func() {
		ns := newNamespace()
		w := wrappers.MakeCampaign("body").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0)
		w.Spec.Workload.Index.BodyFrom = &v1alpha1.ConfigMapKey{Name: "body", Key: "index.json"}
		c := start(w)
		Eventually(ready(c)).Should(Equal("False/InvalidSpec"))
		Expect(message(c)).To(And(ContainSubstring("spec.workload.index.bodyFrom"), ContainSubstring("ConfigMap body")))
		body := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "body"}, Data: map[string]string{"index.json": "{}"}}
		Expect(cluster.Create(ctx, body)).To(Succeed())
		Eventually(ready(c)).Should(Equal("True/Finished"))
	})

	It("names the owner of an object whose name it needs, and leaves the object alone", func() {
		ns := newNamespace()
		taken := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "taken-report"}, Data: map[string]string{"mine": "1"}}
		Expect(cluster.Create(ctx, taken)).To(Succeed())
		c := start(wrappers.MakeCampaign("taken").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(ready(c)).Should(Equal("False/NameConflict"))
		Expect(message(c)).To(ContainSubstring("taken-report"))
		Expect(cluster.Get(ctx, client.ObjectKeyFromObject(taken), taken)).To(Succeed())
		Expect(taken.Data).To(Equal(map[string]string{"mine": "1"}))
		Expect(cluster.Delete(ctx, taken)).To(Succeed())
		Eventually(ready(c)).Should(Equal("True/Finished"))
	})

	It("leaves nothing when it is deleted while it runs", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(record.Config) *corev1.PodStatus { return nil }})
		w := wrappers.MakeCampaign("gone").Namespace(ns).VariantOnAnyNode("a")
		w.Spec.OpenSearch.Storage.Size = "1Gi"
		c := start(w)
		Eventually(func() int { return count(&batchv1.JobList{}, ns, "") }).Should(Equal(1))
		Expect(cluster.Delete(ctx, c)).To(Succeed())
		for _, list := range []client.ObjectList{
			&batchv1.JobList{}, &appsv1.StatefulSetList{}, &corev1.ServiceList{}, &corev1.ConfigMapList{},
			&corev1.PodList{}, &corev1.PersistentVolumeClaimList{},
		} {
			Eventually(func() int { return count(list, ns, "") }).Should(BeZero(), "%T left", list)
		}
	})

	It("writes nothing once it is finished", func() {
		ns := newNamespace()
		c := start(wrappers.MakeCampaign("still").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		version := get(c).ResourceVersion
		poke(c)
		poked := get(c).ResourceVersion
		Expect(poked).NotTo(Equal(version))
		Consistently(func() string { return get(c).ResourceVersion }, "1s").Should(Equal(poked))
	})
})
