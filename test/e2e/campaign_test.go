package e2e_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// campaign returns a small real campaign for the embedded cluster. A trial loads for a few seconds.
func campaign(name, ns string) *wrappers.Campaign {
	c := wrappers.MakeCampaign(name).Namespace(ns).Clients(1, 2).Repetitions(0).Retries(0)
	c.Spec.OpenSearch.Heap = "512Mi"
	c.OnAnyDisk()
	c.Spec.Workload.OSB = &v1alpha1.OSB{
		Workload:      "nyc_taxis_mini",
		From:          &v1alpha1.WorkloadSource{Image: &v1alpha1.ImageSource{Image: "knee.local/workload-nyc-taxis-mini:1"}},
		TestProcedure: "index-timed",
		Params:        map[string]v1alpha1.ParamValue{"bulk_size": "500", "warmup_time_period": "0", "time_period": "5"},
	}
	c.Spec.Timeouts = v1alpha1.Timeouts{
		ProvisioningSeconds: ptr.To[int32](180), TrialSeconds: ptr.To[int32](180), SettleSeconds: ptr.To[int32](20),
	}
	return c
}

// bulkCampaign is campaign with Knee's own loader, which starts in less than a second.
func bulkCampaign(name, ns string) *wrappers.Campaign {
	c := campaign(name, ns)
	c.Spec.Workload = smallBulk
	return c
}

// smallBulk is a load of a few seconds by Knee's own loader.
var smallBulk = v1alpha1.Workload{
	Index:   v1alpha1.Index{Name: "nyc_taxis"},
	Drivers: v1alpha1.Drivers{Bulk: &v1alpha1.Bulk{Dataset: v1alpha1.DatasetSmall, Documents: ptr.To[int64](200_000), FlushBytes: "200k"}},
}

func start(ctx context.Context, c *wrappers.Campaign) *v1alpha1.BenchmarkCampaign {
	GinkgoHelper()
	Expect(cluster.Create(ctx, c.Obj())).To(Succeed())
	return c.Obj()
}

func get(ctx context.Context, c *v1alpha1.BenchmarkCampaign) *v1alpha1.BenchmarkCampaign {
	GinkgoHelper()
	var out v1alpha1.BenchmarkCampaign
	Expect(cluster.Get(ctx, client.ObjectKeyFromObject(c), &out)).To(Succeed())
	return &out
}

// condition returns a function that formats a condition as "Status/Reason: message".
func condition(ctx context.Context, c *v1alpha1.BenchmarkCampaign, kind string) func() string {
	return func() string {
		cond := meta.FindStatusCondition(get(ctx, c).Status.Conditions, kind)
		if cond == nil {
			return "absent"
		}
		return string(cond.Status) + "/" + cond.Reason + ": " + cond.Message
	}
}

func ready(ctx context.Context, c *v1alpha1.BenchmarkCampaign) func() string {
	return condition(ctx, c, v1alpha1.ConditionReady)
}

// records returns the campaign's records, by the name of their ConfigMap.
func records(ctx context.Context, ns string) []record.Record {
	GinkgoHelper()
	var list corev1.ConfigMapList
	Expect(cluster.List(ctx, &list, client.InNamespace(ns), client.MatchingLabels{resources.LabelComponent: resources.ComponentRecord})).To(Succeed())
	var out []record.Record
	for _, cm := range list.Items {
		r, err := record.Decode([]byte(cm.Data[resources.RecordKey]))
		Expect(err).NotTo(HaveOccurred(), cm.Name)
		out = append(out, r)
	}
	return out
}

// left returns a function that counts the objects that a campaign has made in a namespace, without records and reports.
func left(ctx context.Context, ns string) func() map[string]int {
	return func() map[string]int {
		out := map[string]int{}
		for kind, list := range map[string]client.ObjectList{
			"StatefulSet": &appsv1.StatefulSetList{}, "Job": &batchv1.JobList{}, "Service": &corev1.ServiceList{},
			"Pod": &corev1.PodList{}, "PersistentVolumeClaim": &corev1.PersistentVolumeClaimList{},
		} {
			Expect(cluster.List(ctx, list, client.InNamespace(ns))).To(Succeed())
			if n := meta.LenList(list); n > 0 {
				out[kind] = n
			}
		}
		return out
	}
}

var _ = Describe("a real campaign", func() {
	It("gates a trial whose bulks are rejected: never a knee", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		w := campaign("rejected", ns).VariantOnAnyNode("tiny-queue").Clients(1, 16)
		w.Spec.OpenSearch.Settings["thread_pool.write.queue_size"] = "1"
		w.Spec.OpenSearch.Settings["thread_pool.write.size"] = "1"
		c := start(ctx, w)
		Eventually(ready(ctx, c)).WithTimeout(8 * time.Minute).Should(Or(HavePrefix("True/"), HavePrefix("False/")))
		cell := get(ctx, c).Status.Cells[0]
		Expect(cell.Knee).NotTo(HaveValue(HaveField("Clients", BeEquivalentTo(16))))
		Expect(cell.NotMeasured).To(ContainElement(And(HavePrefix("16"), ContainSubstring("maxRejections"))))
		rejected := 0
		for _, r := range records(ctx, ns) {
			if r.Attempt.Clients == 16 && r.Attempt.Phase == record.Sweep {
				rejected++
				Expect(r.Error).To(BeNil(), "rejections are a measurement, not an error")
				Expect(r.Driver.ExitCode).To(BeZero(), "opensearch-benchmark calls it a success")
				Expect(r.Rejections.Total()).To(BeNumerically(">", 0))
				Expect(r.Tasks[0].ErrorRate).To(BeNumerically(">", 0))
			}
		}
		Expect(rejected).To(Equal(1))
	}, SpecTimeout(10*time.Minute))

	It("shows a trial as Errored whose index could not be made while OSB exits 0", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		w := campaign("no-index", ns).VariantOnAnyNode("a").Clients(1)
		w.Spec.Workload.OSB.TestProcedure = "create-index-fails"
		w.Spec.Workload.OSB.SetupTasks = []string{"create-index"}
		c := start(ctx, w)
		Eventually(ready(ctx, c)).WithTimeout(6 * time.Minute).Should(HavePrefix("False/NothingMeasured"))
		all := records(ctx, ns)
		Expect(all).NotTo(BeEmpty())
		for _, r := range all {
			Expect(r.Error).NotTo(BeNil())
			Expect(r.Error.Reason).To(Equal(record.ReasonIndexNotMade))
			Expect(r.Driver.RunID).NotTo(BeEmpty(), "opensearch-benchmark ran")
			Expect(r.Driver.ExitCode).To(BeZero(), "and calls it a success")
		}
		Eventually(left(ctx, ns)).Should(BeEmpty())
	}, SpecTimeout(8*time.Minute))
})

var _ = Describe("bad input", func() {
	It("is Stalled with OpenSearch's own words when it cannot start, and goes on once corrected", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		w := bulkCampaign("unknown-setting", ns).VariantOnAnyNode("a").Clients(1)
		w.Spec.OpenSearch.Settings["no.such.setting"] = "1"
		c := start(ctx, w)
		Eventually(ready(ctx, c)).Should(And(HavePrefix("False/ProvisioningFailed"), ContainSubstring("no.such.setting")))
		Expect(condition(ctx, c, v1alpha1.ConditionStalled)()).To(HavePrefix("True/"))
		kubectl(ctx, "-n", ns, "patch", "bcamp", c.Name, "--type=merge", "-p", `{"spec":{"opensearch":{"settings":{"no.such.setting":null}}}}`)
		Eventually(ready(ctx, c)).Should(HavePrefix("True/Finished"))
		Eventually(left(ctx, ns)).Should(BeEmpty())
	}, SpecTimeout(8*time.Minute))

	It("names an image that cannot be pulled", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		w := campaign("no-image", ns).VariantOnAnyNode("a")
		w.Spec.OpenSearch.Image = "knee.local/no-such-image:1"
		w.Spec.Timeouts.ProvisioningSeconds = ptr.To[int32](20)
		c := start(ctx, w)
		Eventually(ready(ctx, c)).Should(And(HavePrefix("False/ImagePullFailed"), ContainSubstring("knee.local/no-such-image:1")))
	}, SpecTimeout(3*time.Minute))

	It("says that no node matches a pool", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		w := campaign("no-node", ns).Variant("a")
		w.Spec.Timeouts.ProvisioningSeconds = ptr.To[int32](10)
		c := start(ctx, w)
		Eventually(ready(ctx, c)).Should(And(HavePrefix("False/Unschedulable"), ContainSubstring("node affinity")))
	}, SpecTimeout(3*time.Minute))
})

var _ = Describe("deletion", func() {
	It("leaves nothing in the middle of a trial", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		w := campaign("deleted", ns).VariantOnAnyNode("a")
		w.Spec.OpenSearch.Storage.Size = "1Gi"
		c := start(ctx, w)
		Eventually(func() bool {
			var pods corev1.PodList
			Expect(cluster.List(ctx, &pods, client.InNamespace(ns), client.MatchingLabels{resources.LabelComponent: resources.ComponentLoader})).To(Succeed())
			return len(pods.Items) == 1 && pods.Items[0].Status.Phase == corev1.PodRunning
		}).Should(BeTrue(), "a trial runs")
		Expect(cluster.Delete(ctx, c)).To(Succeed())
		Eventually(left(ctx, ns)).Should(BeEmpty())
		Eventually(func() int {
			var maps corev1.ConfigMapList
			Expect(cluster.List(ctx, &maps, client.InNamespace(ns), client.MatchingLabels{resources.LabelManagedBy: resources.ManagedBy})).To(Succeed())
			return len(maps.Items)
		}).Should(BeZero(), "records and reports go with their campaign")
	}, SpecTimeout(5*time.Minute))
})
