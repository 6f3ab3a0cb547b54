package controllers_test

import (
	"bytes"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/bundle"
	"github.com/knee-bench/knee/internal/plugin/restore"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// recordMaps returns the ConfigMaps of the records in a namespace.
func recordMaps(ns string) []corev1.ConfigMap {
	GinkgoHelper()
	var list corev1.ConfigMapList
	Expect(cluster.List(ctx, &list, client.InNamespace(ns), client.MatchingLabels{resources.LabelComponent: resources.ComponentRecord})).To(Succeed())
	return list.Items
}

// trialsGive gives each trial a rate that shows in which run it was measured. Trials with more clients than most hang.
func trialsGive(rate float64, most int32) kubernetes.Behaviour {
	return kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
		if cfg.Attempt.Clients > most {
			return nil
		}
		status, err := kubernetes.Recorded(wrappers.MeasuredRecord(cfg.Attempt, rate*float64(cfg.Attempt.Clients)))
		Expect(err).NotTo(HaveOccurred())
		return status
	}}
}

// sweepRates returns the rates of the valid Sweep records, by client count.
func sweepRates(ns string) map[int32]float64 {
	GinkgoHelper()
	out := map[int32]float64{}
	for _, rec := range recordsOf(ns, record.Sweep) {
		rate, _ := rec.Rate()
		Expect(out).NotTo(HaveKey(rec.Attempt.Clients), "two records of one trial")
		out[rec.Attempt.Clients] = rate
	}
	return out
}

var _ = Describe("records that are kept", func() {
	kept := func(ns string) *wrappers.Campaign {
		w := wrappers.MakeCampaign("kept").Namespace(ns).VariantOnAnyNode("a").Clients(1, 2, 4).Repetitions(0)
		w.Spec.RecordsWhenDeleted = v1alpha1.RecordsKeep
		return w
	}
	expectGone := func(c *v1alpha1.BenchmarkCampaign, ns string) {
		GinkgoHelper()
		Eventually(func() bool {
			return apierrors.IsNotFound(cluster.Get(ctx, client.ObjectKeyFromObject(c), c.DeepCopy()))
		}).Should(BeTrue())
		Eventually(func() int { return count(&corev1.PodList{}, ns, "") }).Should(BeZero())
	}

	It("outlive their campaign, and a campaign of the same name continues with them", func() {
		ns := newNamespace()
		nodes.Behave(ns, trialsGive(1000, 2))
		first := start(kept(ns))
		Eventually(func() int { return len(recordsOf(ns, record.Sweep)) }).Should(Equal(2), "the third hangs")
		Expect(cluster.Delete(ctx, first)).To(Succeed())
		expectGone(first, ns)
		Expect(recordsOf(ns, record.Sweep)).To(HaveLen(2))

		nodes.Behave(ns, trialsGive(1001, 99))
		second := start(kept(ns))
		Eventually(ready(second)).Should(Equal("True/Finished"))
		Expect(sweepRates(ns)).To(Equal(map[int32]float64{1: 1000, 2: 2000, 4: 4004}), "two trials of the first campaign, one of the second")
		Expect(get(second).Status.Progress).To(Equal("3/3"))
		for _, cm := range recordMaps(ns) {
			Expect(cm.Labels).To(HaveKeyWithValue(resources.LabelCampaign, string(second.UID)))
			Expect(cm.OwnerReferences).To(BeEmpty())
		}
	})

	It("are not adopted by a campaign with other cells", func() {
		ns := newNamespace()
		nodes.Behave(ns, trialsGive(1000, 99))
		first := start(kept(ns))
		Eventually(ready(first)).Should(Equal("True/Finished"))
		Expect(cluster.Delete(ctx, first)).To(Succeed())
		expectGone(first, ns)
		before := len(recordMaps(ns))

		other := kept(ns)
		other.Spec.Rerun = "again"
		second := start(other)
		Eventually(ready(second)).Should(Equal("True/Finished"))
		Expect(recordMaps(ns)).To(HaveLen(2 * before))
	})

	It("get or lose their owner when recordsWhenDeleted changes", func() {
		ns := newNamespace()
		c := start(wrappers.MakeCampaign("switch").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		owned := func() (n int) {
			for _, cm := range recordMaps(ns) {
				if metav1.IsControlledBy(&cm, c) {
					n++
				}
			}
			return n
		}
		Expect(owned()).To(Equal(2), "a Warmup and a Sweep")
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.RecordsWhenDeleted = v1alpha1.RecordsKeep })
		Eventually(owned).Should(BeZero())
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.RecordsWhenDeleted = v1alpha1.RecordsDelete })
		Eventually(owned).Should(Equal(2))
		Expect(cluster.Delete(ctx, c)).To(Succeed())
		expectNothingLeft(ns)
	})

	It("are used after a restore from a backup only if they have no owner of the old UID", func() {
		ns := newNamespace()
		nodes.Behave(ns, trialsGive(1000, 99))
		first := start(kept(ns))
		Eventually(ready(first)).Should(Equal("True/Finished"))
		backup := recordMaps(ns)
		Expect(cluster.Delete(ctx, first)).To(Succeed())
		expectGone(first, ns)
		for i := range backup {
			Expect(cluster.Delete(ctx, backup[i].DeepCopy())).To(Succeed())
		}
		owned := func(cm corev1.ConfigMap) bool { return cm.Labels[resources.LabelPhase] == string(record.Warmup) }
		for _, cm := range backup {
			cm.UID, cm.ResourceVersion = "", ""
			if owned(cm) { // as a record of a campaign with recordsWhenDeleted Delete is stored in a backup
				cm.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkCampaign", Name: first.Name, UID: first.UID}}
			}
			Expect(cluster.Create(ctx, &cm)).To(Succeed())
		}
		Eventually(func() (n int) {
			for _, cm := range recordMaps(ns) {
				if owned(cm) {
					n++
				}
			}
			return n
		}).Should(BeZero(), "the garbage collector deletes what an object that does not exist owns")

		nodes.Behave(ns, trialsGive(1001, 99))
		second := start(kept(ns))
		Eventually(ready(second)).Should(Equal("True/Finished"))
		Expect(sweepRates(ns)).To(Equal(map[int32]float64{1: 1000, 2: 2000, 4: 4000}), "nothing is measured again")
	})

	It("come back from a bundle, and a new campaign continues with them", func() {
		ns := newNamespace()
		nodes.Behave(ns, trialsGive(1000, 2))
		w := wrappers.MakeCampaign("exported").Namespace(ns).VariantOnAnyNode("a").Clients(1, 2, 4).Repetitions(0)
		first := start(w)
		spec := first.DeepCopy().Spec
		Eventually(func() int { return len(recordsOf(ns, record.Sweep)) }).Should(Equal(2), "the third hangs")
		exported := bundle.Bundle{Campaign: get(first), Versions: bundle.Versions{Format: bundle.Format, Record: record.Version}, Records: map[string][]byte{}}
		for _, cm := range recordMaps(ns) {
			exported.Records[cm.Name] = []byte(cm.Data[resources.RecordKey])
		}
		var file bytes.Buffer
		Expect(bundle.Write(&file, &exported)).To(Succeed())
		Expect(cluster.Delete(ctx, first)).To(Succeed())
		expectNothingLeft(ns)

		b, err := bundle.Read(&file)
		Expect(err).NotTo(HaveOccurred())
		result, err := restore.Import(ctx, cluster, ns, b, false)
		Expect(err).NotTo(HaveOccurred())
		Expect(result).To(Equal(restore.Result{Written: 3}), "a Warmup and two Sweeps")

		nodes.Behave(ns, trialsGive(1001, 99))
		second := wrappers.MakeCampaign("exported").Namespace(ns).Obj()
		second.Spec = spec
		Expect(cluster.Create(ctx, second)).To(Succeed())
		Eventually(ready(second)).Should(Equal("True/Finished"))
		Expect(sweepRates(ns)).To(Equal(map[int32]float64{1: 1000, 2: 2000, 4: 4004}), "two imported trials, one new trial")
		again, err := restore.Import(ctx, cluster, ns, b, false)
		Expect(err).NotTo(HaveOccurred())
		Expect(again).To(Equal(restore.Result{Existing: 3, Campaign: true}))
		Expect(cluster.Delete(ctx, second)).To(Succeed())
		expectNothingLeft(ns)
	})
})
