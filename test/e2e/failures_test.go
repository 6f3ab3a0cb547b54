package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// pod returns the first running pod of a component in the namespace, or nil if there is none.
func pod(ctx context.Context, ns, component string) *corev1.Pod {
	GinkgoHelper()
	var pods corev1.PodList
	Expect(cluster.List(ctx, &pods, client.InNamespace(ns), client.MatchingLabels{resources.LabelComponent: component})).To(Succeed())
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp.IsZero() {
			return p
		}
	}
	return nil
}

// load waits until OpenSearch indexes documents of an attempt that is no Warmup, and returns the attempt and its pod. It ignores the
// attempts in the parameter named not.
func load(ctx context.Context, ns string, not ...record.Attempt) (record.Attempt, *corev1.Pod) {
	GinkgoHelper()
	return loadOf(ctx, ns, And(HaveField("Phase", Not(Equal(record.Warmup))), Not(BeElementOf(not))))
}

// loadOf waits until OpenSearch indexes documents of an attempt that matches, and returns the attempt and its pod.
func loadOf(ctx context.Context, ns string, match types.GomegaMatcher) (attempt record.Attempt, loader *corev1.Pod) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		loader = pod(ctx, ns, resources.ComponentLoader)
		g.Expect(loader).NotTo(BeNil(), "a trial runs")
		var job batchv1.Job
		g.Expect(cluster.Get(ctx, client.ObjectKey{Namespace: ns, Name: loader.Labels[batchv1.JobNameLabel]}, &job)).To(Succeed())
		g.Expect(json.Unmarshal([]byte(job.Annotations[resources.AnnotationTrial]), &attempt)).To(Succeed())
		g.Expect(attempt).To(match)
		target := pod(ctx, ns, resources.ComponentOpenSearch)
		g.Expect(target).NotTo(BeNil(), "OpenSearch runs")
		g.Expect(documents(ctx, target)).To(BeNumerically(">", 0), "OpenSearch takes documents")
	}).Should(Succeed())
	return attempt, loader
}

// documents returns the number of documents in the index that OpenSearch reports. It returns 0 if the index does not
// exist or OpenSearch does not answer.
func documents(ctx context.Context, target *corev1.Pod) int {
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy/nyc_taxis/_stats/indexing", target.Namespace, target.Name, resources.HTTPPort)
	out, err := kubectlOutput(ctx, "get", "--raw", path)
	if err != nil {
		return 0
	}
	var stats struct {
		All struct {
			Primaries struct {
				Indexing struct {
					Total int `json:"index_total"`
				} `json:"indexing"`
			} `json:"primaries"`
		} `json:"_all"`
	}
	if json.Unmarshal(out, &stats) != nil {
		return 0
	}
	return stats.All.Primaries.Indexing.Total
}

// recorded waits for the record of an attempt and returns it.
func recorded(ctx context.Context, ns string, attempt record.Attempt) (out record.Record) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var found []record.Record
		for _, r := range records(ctx, ns) {
			if r.Attempt == attempt {
				found = append(found, r)
			}
		}
		g.Expect(found).To(HaveLen(1))
		out = found[0]
	}).Should(Succeed())
	return out
}

// leader returns the name of the manager's pod that holds the lease.
func leader(ctx context.Context) string {
	GinkgoHelper()
	var lease coordinationv1.Lease
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: "knee-system", Name: "knee.dev"}, &lease)).To(Succeed())
	holder, _, _ := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "_")
	return holder
}

// replicas sets the number of manager pods and waits until they are available.
func replicas(ctx context.Context, n int32) {
	GinkgoHelper()
	kubectl(ctx, "-n", "knee-system", "scale", "deployment/knee-manager", fmt.Sprintf("--replicas=%d", n))
	Eventually(func() int32 {
		var d appsv1.Deployment
		Expect(cluster.Get(ctx, client.ObjectKey{Namespace: "knee-system", Name: "knee-manager"}, &d)).To(Succeed())
		return d.Status.ReadyReplicas
	}).Should(Equal(n))
}

// These specs inject every fault that can hit a trial into one campaign.
var _ = Describe("a campaign that has bad luck", Ordered, func() {
	var (
		ns   string
		c    *v1alpha1.BenchmarkCampaign
		seen []record.Attempt // attempts that a spec disturbed
	)

	BeforeAll(func(ctx SpecContext) {
		ns = newNamespace(ctx)
		// The campaign allows one retry. Deleting a trial's pod must not use up this retry: a trial is still measured
		// if its OpenSearch is killed first and its pod is deleted later.
		w := campaign("unlucky", ns).VariantOnAnyNode("a").Clients(1, 2).Retries(1)
		w.Spec.Workload.OSB.Params["time_period"] = "15"
		w.Spec.OpenSearch.Storage.Size, w.Spec.Loader.Cache.Size = "1Gi", "1Gi"
		w.Spec.Timeouts.ActivitySeconds = ptr.To[int32](20)
		c = start(ctx, w)
	}, NodeTimeout(time.Minute))

	It("measures a trial again whose OpenSearch was killed under its load, and says why", func(ctx SpecContext) {
		attempt, _ := load(ctx, ns)
		seen = append(seen, attempt)
		target := pod(ctx, ns, resources.ComponentOpenSearch)
		processes, err := node.Processes(ctx, *target, resources.ContainerOpenSearch)
		Expect(err).NotTo(HaveOccurred())
		Expect(node.Signal(ctx, "KILL", processes[0])).To(Succeed())
		r := recorded(ctx, ns, attempt)
		Expect(r.Error).NotTo(BeNil())
		AddReportEntry("what the record says", r.Error.Reason+": "+r.Error.Message)
		Expect(r.Error.Message).To(Or(ContainSubstring(target.Name), ContainSubstring("OpenSearch")), "it names what was lost")
	}, SpecTimeout(6*time.Minute))

	It("measures a trial again whose pod was deleted under its load, and does not charge it", func(ctx SpecContext) {
		attempt, loader := load(ctx, ns, seen...)
		seen = append(seen, attempt)
		Expect(attempt.N).To(BeEquivalentTo(2), "the only retry")
		Expect(cluster.Delete(ctx, loader)).To(Succeed())
		r := recorded(ctx, ns, attempt)
		Expect(r.Error).NotTo(BeNil())
		AddReportEntry("what the record says", r.Error.Reason+": "+r.Error.Message)
	}, SpecTimeout(6*time.Minute))

	It("goes on under another manager when the leader's pod is deleted", func(ctx SpecContext) {
		replicas(ctx, 2)
		DeferCleanup(func(ctx SpecContext) { replicas(ctx, 1) })
		attempt, _ := load(ctx, ns, seen...)
		seen = append(seen, attempt)
		Expect(attempt.N).To(BeEquivalentTo(3), "what was deleted was not charged")
		old := leader(ctx)
		kubectl(ctx, "-n", "knee-system", "delete", "pod", old, "--wait=false")
		Expect(recorded(ctx, ns, attempt).Error).To(BeNil(), "no trial was disturbed")
		Expect(leader(ctx)).NotTo(Equal(old))
	}, SpecTimeout(6*time.Minute))

	It("lets a trial finish when it is suspended, and goes on when it is resumed", func(ctx SpecContext) {
		attempt, _ := load(ctx, ns, seen...)
		seen = append(seen, attempt)
		Expect(attempt.Clients).NotTo(Equal(seen[0].Clients), "the first trial is done")
		suspend := func(word string) {
			kubectl(ctx, "-n", ns, "patch", "bcamp", c.Name, "--type=merge", "-p", `{"spec":{"suspend":`+word+`}}`)
		}
		suspend("true")
		Eventually(ready(ctx, c)).Should(ContainSubstring(v1alpha1.ReasonSuspended))
		Expect(recorded(ctx, ns, attempt).Error).To(BeNil())
		suspend("false")
		Eventually(ready(ctx, c)).Should(HavePrefix("True/Finished"))
		Eventually(left(ctx, ns)).Should(BeEmpty())
	}, SpecTimeout(6*time.Minute))

	It("ends a trial whose opensearch-benchmark hangs long before its deadline", func(ctx SpecContext) {
		kubectl(ctx, "-n", ns, "patch", "bcamp", c.Name, "--type=merge", "-p", `{"spec":{"sweep":{"clients":[1,2,3]},"timeouts":{"trialSeconds":600}}}`)
		attempt, loader := load(ctx, ns, seen...)
		processes, err := node.Processes(ctx, *loader, resources.ContainerTrial)
		Expect(err).NotTo(HaveOccurred())
		Expect(len(processes)).To(BeNumerically(">", 1), "the agent, and opensearch-benchmark")
		Expect(node.Signal(ctx, "STOP", processes[1:]...)).To(Succeed())
		stopped := time.Now()
		r := recorded(ctx, ns, attempt)
		Expect(time.Since(stopped)).To(BeNumerically("<", 2*time.Minute))
		Expect(r.Error).NotTo(BeNil())
		AddReportEntry("what the record says", r.Error.Reason+": "+r.Error.Message)
		Expect(r.Error.Message).To(ContainSubstring("activitySeconds"))
		Eventually(ready(ctx, c)).Should(HavePrefix("True/Finished"))
		Expect(get(ctx, c).Status.Progress).To(Equal("3/3"))
		Eventually(left(ctx, ns)).Should(BeEmpty())
	}, SpecTimeout(8*time.Minute))
})

var _ = Describe("two campaigns for one node", func() {
	It("run one after the other, and the younger says whom it waits for; one whose loader has no memory says that", func(ctx SpecContext) {
		ns, other := newNamespace(ctx), newNamespace(ctx)
		w := campaign("elder", ns).VariantOnAnyNode("a").Clients(1)
		w.Spec.Loader.Resources.Memory = "96Mi" // too little: opensearch-benchmark needs about 250 MB
		elder := start(ctx, w)
		Eventually(func() *corev1.Pod { return pod(ctx, ns, resources.ComponentOpenSearch) }).ShouldNot(BeNil())
		younger := start(ctx, bulkCampaign("younger", other).VariantOnAnyNode("a").Clients(1))
		Eventually(ready(ctx, younger)).WithTimeout(time.Minute).Should(And(
			HavePrefix("Unknown/"+v1alpha1.ReasonQueued), ContainSubstring(ns+"/elder")))

		Eventually(ready(ctx, elder)).Should(HavePrefix("False/NothingMeasured"))
		Expect(pod(ctx, other, resources.ComponentOpenSearch)).To(BeNil(), "the younger had to wait until now")
		for _, r := range records(ctx, ns) {
			Expect(r.Error).NotTo(BeNil())
			AddReportEntry("what the record says", r.Error.Reason+": "+r.Error.Message)
			Expect(r.Error.Message).To(Or(ContainSubstring("OOMKilled"), ContainSubstring("memory limit")))
		}
		Eventually(ready(ctx, younger)).Should(HavePrefix("True/Finished"))
		Eventually(left(ctx, ns)).Should(BeEmpty())
		Eventually(left(ctx, other)).Should(BeEmpty())
	}, SpecTimeout(10*time.Minute))
})

var _ = Describe("an API server that refuses", func() {
	It("is quoted: a quota without pods, and the campaign goes on when there are some", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "no-pods"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
		}
		Expect(cluster.Create(ctx, quota)).To(Succeed())
		Eventually(func() bool {
			Expect(cluster.Get(ctx, client.ObjectKeyFromObject(quota), quota)).To(Succeed())
			_, counted := quota.Status.Hard[corev1.ResourcePods]
			return counted
		}).Should(BeTrue())
		c := start(ctx, campaign("no-quota", ns).VariantOnAnyNode("a").Clients(1))
		Eventually(ready(ctx, c)).WithTimeout(2 * time.Minute).Should(And(
			HavePrefix("False/"+v1alpha1.ReasonForbidden), ContainSubstring("exceeded quota: no-pods")))
		Expect(condition(ctx, c, v1alpha1.ConditionStalled)()).To(HavePrefix("True/"))
		Expect(cluster.Delete(ctx, quota)).To(Succeed())
		Eventually(func() *corev1.Pod { return pod(ctx, ns, resources.ComponentOpenSearch) }).ShouldNot(BeNil())
		Eventually(ready(ctx, c)).WithTimeout(2 * time.Minute).Should(HavePrefix("Unknown/"))
		Expect(cluster.Delete(ctx, c)).To(Succeed())
		Eventually(left(ctx, ns)).Should(BeEmpty())
	}, SpecTimeout(8*time.Minute))

	It("is quoted: a namespace without privileged pods, and the campaign goes on when it needs none", func(ctx SpecContext) {
		const flag = "--allow-sysctl-init"
		manager := func(ctx context.Context, patch string) {
			kubectl(ctx, "-n", "knee-system", "patch", "deployment", "knee-manager", "--type=json", "-p", patch)
			kubectl(ctx, "-n", "knee-system", "rollout", "status", "deployment/knee-manager", "--timeout=2m")
		}
		var before appsv1.Deployment
		Expect(cluster.Get(ctx, client.ObjectKey{Namespace: "knee-system", Name: "knee-manager"}, &before)).To(Succeed())
		args := before.Spec.Template.Spec.Containers[0].Args
		Expect(args).NotTo(ContainElement(flag), "it is not so by default")
		manager(ctx, `[{"op":"add","path":"/spec/template/spec/containers/0/args/-","value":"`+flag+`"}]`)
		DeferCleanup(func(ctx SpecContext) {
			manager(ctx, fmt.Sprintf(`[{"op":"remove","path":"/spec/template/spec/containers/0/args/%d"}]`, len(args)))
		})

		ns := newNamespace(ctx)
		w := campaign("privileged", ns).VariantOnAnyNode("a").Clients(1)
		w.Spec.OpenSearch.SysctlInit = ptr.To(true)
		c := start(ctx, w)
		Eventually(ready(ctx, c)).WithTimeout(2 * time.Minute).Should(And(
			HavePrefix("False/"+v1alpha1.ReasonForbidden), ContainSubstring("violates PodSecurity"), ContainSubstring("privileged")))
		kubectl(ctx, "-n", ns, "patch", "bcamp", c.Name, "--type=merge", "-p", `{"spec":{"opensearch":{"sysctlInit":null}}}`)
		Eventually(func() *corev1.Pod { return pod(ctx, ns, resources.ComponentOpenSearch) }).ShouldNot(BeNil())
		Eventually(ready(ctx, c)).WithTimeout(2 * time.Minute).Should(HavePrefix("Unknown/"))
		Expect(cluster.Delete(ctx, c)).To(Succeed())
		Eventually(left(ctx, ns)).Should(BeEmpty())
	}, SpecTimeout(8*time.Minute))
})
