package e2e_test

import (
	"context"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

const artifactsClaim = "artifacts"

// newClaim makes the volume claim for the campaign's artifacts.
func newClaim(ctx context.Context, ns string) {
	GinkgoHelper()
	Expect(cluster.Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: artifactsClaim},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	})).To(Succeed())
}

// artifactsFolder returns the folder of the artifacts claim on this machine.
func artifactsFolder(ctx context.Context, ns string) string {
	GinkgoHelper()
	var claim corev1.PersistentVolumeClaim
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: ns, Name: artifactsClaim}, &claim)).To(Succeed())
	var volume corev1.PersistentVolume
	Expect(cluster.Get(ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, &volume)).To(Succeed())
	folder, err := node.VolumeFolder(volume)
	Expect(err).NotTo(HaveOccurred())
	return folder
}

// report returns every file of a campaign's report, by name.
func report(ctx context.Context, c *v1alpha1.BenchmarkCampaign) map[string]string {
	GinkgoHelper()
	out := map[string]string{}
	for _, name := range get(ctx, c).Status.Reports {
		var part corev1.ConfigMap
		Expect(cluster.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &part)).To(Succeed())
		for file, text := range part.Data {
			out[file] = text
		}
	}
	return out
}

// plugin runs the kubectl plugin and returns its output.
func plugin(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, err := exec.CommandContext(ctx, filepath.Join(root, "bin", "kubectl-knee"), args...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "kubectl knee %v: %s", args, out)
	return string(out)
}

// rows returns the rows of a CSV file by column name.
func rows(text string) []map[string]string {
	GinkgoHelper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	Expect(err).NotTo(HaveOccurred())
	var out []map[string]string
	for _, line := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = line[i]
		}
		out = append(out, row)
	}
	return out
}

// These specs check one campaign that uses all features. Each spec checks another part of its results.
var _ = Describe("a whole campaign", Ordered, ContinueOnFailure, func() {
	var (
		ns  string
		c   *v1alpha1.BenchmarkCampaign
		all []record.Record
	)

	BeforeAll(func(ctx SpecContext) {
		ns = newNamespace(ctx)
		newClaim(ctx, ns)
		w := campaign("whole", ns).VariantOnAnyNode("small").VariantOnAnyNode("large").Repetitions(1)
		w.Spec.OpenSearch.Storage.Size = "1Gi"
		w.Spec.OpenSearch.DiskLimits.MiBPerSecond = ptr.To[int32](100_000)
		w.Spec.Currency = "EUR"
		w.Spec.Variants[0].PricePerHour = v1alpha1.ToDecimal("0.5")
		w.Spec.Variants[1].PricePerHour = v1alpha1.ToDecimal("0.6")
		w.Spec.Variants[1].OpenSearch.Heap = "768Mi"
		w.Spec.Retries = ptr.To[int32](1)
		w.Spec.Sweep.Repetitions = ptr.To[int32](2)
		w.Spec.Final.Search = ptr.To(true)
		w.Spec.Artifacts = &v1alpha1.Artifacts{ClaimName: artifactsClaim, Path: "raw"}
		w.Spec.Gates.Expressions = []v1alpha1.GateExpression{{Name: "worked", Expression: "trial.nodes.all(n, n.cpuPercent > 1.0)", Message: "OpenSearch did nothing"}}
		osb := w.Spec.Workload.OSB
		osb.TestProcedure, osb.SearchTasks = "index-timed-and-search", []string{"term", "range", "date_histogram_agg"}
		osb.Params["iterations"], osb.Params["warmup_iterations"] = "60", "10"
		c = start(ctx, w)
		kubectl(ctx, "-n", ns, "wait", "--for=condition=Ready", "bcamp/whole", "--timeout=18m")
		all = records(ctx, ns)
	}, NodeTimeout(20*time.Minute))

	It("finds the knees, compares, and cleans up", func(ctx SpecContext) {
		Expect(left(ctx, ns)()).To(Equal(map[string]int{"PersistentVolumeClaim": 1}), "the artifacts stay")
		status := get(ctx, c).Status
		Expect(status.Knees).To(MatchRegexp(`^small=[12] large=[12]$`))
		Expect(status.SharedClients).To(MatchRegexp(`^[12]`))
		Expect(status.Result).To(MatchRegexp(`^large [0-9.]+x small`))
		Expect(kubectl(ctx, "-n", ns, "get", "benchmarkcampaigns")).To(ContainSubstring(status.Knees))
		for _, cell := range status.Cells {
			Expect(cell.Knee).To(HaveValue(HaveField("StabilityPercent", HaveValue(BeNumerically(">", 0)))), "%s: the sweep has repeats", cell.Variant)
		}
		Expect(all).NotTo(BeEmpty())
		sweep := map[int32]int{}
		for _, r := range all {
			Expect(r.Error).To(BeNil(), "%+v", r.Attempt)
			Expect(r.Rejections.Total()).To(BeZero())
			Expect(r.Ingest.Count).To(Equal(r.Ingest.TotalIndexed), "documents in the index are those the counters saw")
			if r.Attempt.Phase == record.Sweep {
				sweep[r.Attempt.Repetition]++
			}
			if r.Attempt.Phase != record.Warmup { // the mean of opensearch-benchmark is rough for a load of 5 s: its start has the same weight as the rest
				Expect(r.Ingest.OSBDocsPerSecond/r.Ingest.DocsPerSecond).To(BeNumerically("~", 1, 0.5), "docs/s beside OSB's own figure")
			}
		}
		Expect(sweep).To(Equal(map[int32]int{1: 4, 2: 4}), "two repeats of two client counts on two cells")
	}, SpecTimeout(22*time.Minute))

	It("records what the machines and the JVM did", func(SpecContext) {
		for _, r := range all {
			Expect(r.Nodes).To(HaveLen(1))
			n := r.Nodes[0]
			Expect(n.CPU).NotTo(BeNil(), "the probe's figures")
			Expect(n.CPU.Busy()).To(BeNumerically(">", 5))
			Expect(n.Environment.CPUModel).NotTo(BeEmpty())
			Expect(n.Network).NotTo(BeNil())
			Expect(n.Network.ReceiveMiBs).To(BeNumerically(">", 0))
			Expect(n.WritePool).NotTo(BeNil())
			Expect(n.WritePool.Threads).To(BeNumerically(">", 0))
			Expect(n.Memory).NotTo(BeNil())
			Expect(n.Memory.ResidentMax).To(BeNumerically(">", 256<<20), "resident memory of a JVM with 512 MiB of heap or more")
			Expect(n.GC.Pauses).NotTo(BeNil(), "the collector's log")
			p := n.GC.Pauses
			Expect(p.Young+p.Mixed+p.Full).To(BeNumerically("<=", p.Count), "%+v", p)
			Expect(p.Millis > 0).To(Equal(p.Count > 0), "pauses take time, and only pauses: %+v", p)
			Expect(p.Millis).To(BeNumerically("<", 1000*r.Ingest.Seconds), "the pauses of a window are shorter than it: %+v", p)
			Expect(p.Max*float64(p.Count)).To(BeNumerically(">=", 0.99*p.Millis), "none is longer than the longest: %+v", p)
			Expect(r.Ingest.Segments).To(BeNumerically(">", 0))
			Expect(r.Loader.CPUCores).To(BeNumerically(">", 0))
			Expect(r.Loader.MemoryBytes).To(BeNumerically(">", 50<<20))
		}
		pauses, active := int64(0), int64(0)
		for _, r := range all {
			pauses += r.Nodes[0].GC.Pauses.Count
			active += r.Nodes[0].WritePool.ActiveMax
		}
		Expect(active).To(BeNumerically(">", 0), "looked at every 5 s: some load was seen at work")
		Expect(pauses).To(BeNumerically(">", 0), "some load filled a young generation")
	})

	It("measures the searches of each Final repetition", func(SpecContext) {
		finals := 0
		for _, r := range all {
			searches := map[string]record.Task{}
			for _, t := range r.Tasks {
				if t.Search {
					searches[t.Name] = t
				}
			}
			if r.Attempt.Phase != record.Final {
				Expect(searches).To(BeEmpty())
				continue
			}
			finals++
			Expect(searches).To(HaveLen(3))
			for name, t := range searches {
				Expect(t.ErrorRate).To(BeZero(), name)
				Expect(t.ServiceTime).NotTo(BeNil(), name)
				Expect(t.Latency).NotTo(BeNil(), name)
				Expect(t.ServiceTime.P50).To(BeNumerically(">", 0), name)
				Expect(t.ServiceTime.P90).To(BeNumerically(">=", t.ServiceTime.P50), "%s: of 60 requests OSB tells no 99th percentile", name)
			}
			Expect(searches["range"].Target).To(BeNumerically("==", 20))
			Expect(searches["term"].Target).To(BeZero(), "a closed loop")
		}
		Expect(finals).To(Equal(2))
	})

	It("keeps the raw files of every attempt", func(ctx SpecContext) {
		folder := filepath.Join(artifactsFolder(ctx, ns), "raw")
		for _, r := range all {
			Expect(r.Artifacts).To(HavePrefix(record.ArtifactsPath + "/"))
			attempt := filepath.Join(folder, strings.TrimPrefix(r.Artifacts, record.ArtifactsPath))
			for _, name := range []string{"osb-result.json", "osb.log", "documents.csv", "series.csv", "pauses.csv", "record.json"} {
				data, err := os.ReadFile(filepath.Join(attempt, name))
				Expect(err).NotTo(HaveOccurred())
				Expect(data).NotTo(BeEmpty(), name)
				if name == "documents.csv" {
					readings := rows(string(data))
					Expect(len(readings)).To(BeNumerically(">", 10), "5 s of load are read every 0.1 s")
					Expect(readings[0]).To(And(HaveKey("time_ms"), HaveKey("documents")))
				}
			}
		}
	}, SpecTimeout(time.Minute))

	It("makes every figure again from a bundle, to the byte", func(ctx SpecContext) {
		files := report(ctx, c)
		for _, name := range []string{"report.md", "report.html", "results.csv", "comparison.csv", "tune_results_small_1p0r.csv", "tune_results_large_1p0r.csv"} {
			Expect(files).To(HaveKey(name))
		}
		Expect(rows(files["results.csv"])).To(HaveLen(len(all)), "a row for each attempt")
		Expect(files["report.md"]).To(And(ContainSubstring("EUR"), ContainSubstring("date_histogram_agg"), ContainSubstring("worked")))
		dir := GinkgoT().TempDir()
		bundle := filepath.Join(dir, "whole.tar.gz")
		plugin(ctx, "-n", ns, "export", "whole", "--bundle", bundle)
		plugin(ctx, "report", "--from-bundle", bundle, "--verify")
		plugin(ctx, "report", "--from-bundle", bundle, "-o", dir)
		for name, text := range files {
			again, err := os.ReadFile(filepath.Join(dir, name))
			Expect(err).NotTo(HaveOccurred())
			Expect(string(again) == text).To(BeTrue(), "%s is another one from the bundle", name)
		}
	}, SpecTimeout(2*time.Minute))

	It("can be read on a screen, a phone and paper, without a network", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		page := filepath.Join(dir, "report.html")
		Expect(os.WriteFile(page, []byte(report(ctx, c)["report.html"]), 0o644)).To(Succeed())
		cmd := exec.CommandContext(ctx, "go", "run", ".", "-out", filepath.Join(root, ".cache", "report-check"), page)
		cmd.Dir = filepath.Join(root, "hack", "report-check")
		out, err := cmd.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s", out)
	}, SpecTimeout(5*time.Minute))

	// This spec must be the last one, because it changes the campaign.
	It("is judged anew when a gate changes, and measures nothing again", func(ctx SpecContext) {
		const gate = `{"spec":{"gates":{"expressions":[{"name":"no-finals","expression":"trial.phase != 'Final'","message":"this one is never good enough"}]}}}`
		kubectl(ctx, "-n", ns, "patch", "bcamp", c.Name, "--type=merge", "-p", gate)
		Eventually(func() string { return report(ctx, c)["report.md"] }).WithTimeout(time.Minute).Should(ContainSubstring("this one is never good enough"))
		Eventually(func() string { return get(ctx, c).Status.Result }).WithTimeout(time.Minute).ShouldNot(ContainSubstring("x small"), "no Final is Measured: there is no ratio")
		Eventually(ready(ctx, c)).WithTimeout(time.Minute).Should(HavePrefix("True/"))
		Expect(records(ctx, ns)).To(HaveLen(len(all)))
		Expect(left(ctx, ns)()).To(Equal(map[string]int{"PersistentVolumeClaim": 1}))
	}, SpecTimeout(3*time.Minute))
})
