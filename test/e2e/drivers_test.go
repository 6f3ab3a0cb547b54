package e2e_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// fakes is the container image of the programs in test/fakes.
const fakes = "knee.local/fakes:1"

// fixed returns a campaign without a sweep. Each Final repetition measures each client count.
func fixed(name, ns string, clients ...int32) *wrappers.Campaign {
	c := campaign(name, ns).Clients(clients...).Repetitions(1)
	c.Spec.Sweep.Mode = v1alpha1.SweepFixed
	return c
}

// finals returns the records of the Final phase. All of them must be valid.
func finals(all []record.Record) []record.Record {
	GinkgoHelper()
	var out []record.Record
	for _, r := range all {
		Expect(r.Error).To(BeNil(), "%+v", r.Attempt)
		if r.Attempt.Phase == record.Final {
			out = append(out, r)
		}
	}
	return out
}

var _ = Describe("the bulk driver", func() {
	const clients, each = 4, 5000

	It("loads a data stream on one node and on three, with a pod for each client, where the matrix says so", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		w := fixed("bulk", ns, clients).VariantOnAnyNode("a").VariantOnAnyNode("b")
		w.Spec.OpenSearch.Heap = "384Mi"
		w.Spec.Variants[1].OpenSearch.Heap = "448Mi"
		w.Spec.Topologies = []v1alpha1.Topology{
			{Name: "1n", Primaries: 1, RefreshInterval: "1s"},
			{Name: "3n", Nodes: ptr.To[int32](3), Primaries: 3, Replicas: ptr.To[int32](1), RefreshInterval: "5s", Replication: "SEGMENT"},
		}
		w.Spec.Matrix = &v1alpha1.Matrix{Exclude: []v1alpha1.CellSelector{{Variant: "b", Topology: "3n"}}}
		w.Spec.Comparisons = []v1alpha1.Comparison{{
			Cell: v1alpha1.CellName{Variant: "a", Topology: "3n"}, Baseline: v1alpha1.CellName{Variant: "a", Topology: "1n"},
		}}
		w.Spec.Workload = v1alpha1.Workload{
			Index:         v1alpha1.Index{Name: "logs-knee", DataStream: ptr.To(true)},
			ClientsPerPod: ptr.To[int32](1),
			Drivers:       v1alpha1.Drivers{Bulk: &v1alpha1.Bulk{Dataset: v1alpha1.DatasetOTelLogs, DocumentsPerClient: ptr.To[int64](each), FlushDocuments: ptr.To[int32](500)}},
		}
		c := start(ctx, w)
		pods := map[string]bool{}
		Eventually(func() string {
			var list corev1.PodList
			Expect(cluster.List(ctx, &list, client.InNamespace(ns), client.MatchingLabels{resources.LabelComponent: resources.ComponentLoader})).To(Succeed())
			for _, p := range list.Items {
				pods[p.Name] = true
			}
			return ready(ctx, c)()
		}).WithTimeout(10 * time.Minute).Should(Or(HavePrefix("True/"), HavePrefix("False/")))
		Expect(ready(ctx, c)()).To(HavePrefix("True/Finished"))
		all := records(ctx, ns)
		Expect(len(pods)).To(Equal(clients*len(all)), "each trial had a pod for each client")
		var cells []string
		for _, r := range finals(all) {
			cells = append(cells, r.Attempt.Variant+"/"+r.Attempt.Topology)
			Expect(r.Driver.Name).To(Equal("bulk"))
			Expect(r.Rejections.Total()).To(BeZero())
			Expect(r.Ingest.Corpus).To(BeEquivalentTo(clients * each))
			Expect(r.Ingest.Count).To(BeEquivalentTo(clients*each), "every document of every pod is in the index, once")
			Expect(r.Tasks[0].ServiceTime).NotTo(BeNil(), "merged histograms")
			Expect(r.Tasks[0].ServiceTime.P99).To(BeNumerically(">=", r.Tasks[0].ServiceTime.P50))
			Expect(r.Loader.UtilizationOfTime).To(BeNumerically(">", 0))
			nodes := map[string]int32{"1n": 1, "3n": 3}[r.Attempt.Topology]
			Expect(r.Ingest.Primaries).To(Equal(nodes))
			Expect(r.Nodes).To(HaveLen(int(nodes)), "all nodes' telemetry")
			for _, n := range r.Nodes {
				Expect(n.CPU).NotTo(BeNil(), n.Name)
			}
		}
		slices.Sort(cells)
		Expect(cells).To(Equal([]string{"a/1n", "a/3n", "b/1n"}))
		Expect(report(ctx, c)["report.md"]).To(ContainSubstring("3n"))
		Eventually(left(ctx, ns)).Should(BeEmpty())
	}, SpecTimeout(14*time.Minute))
})

var _ = Describe("a topology with an ISM policy", func() {
	It("says which plugin the real OpenSearch lacks, and tries no second time", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		Expect(cluster.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "policies"},
			Data:       map[string]string{"rollover.json": `{"policy": {"description": "rolls over", "default_state": "hot", "states": [{"name": "hot", "actions": [{"rollover": {"min_primary_shard_size": "50gb"}}]}]}}`},
		})).To(Succeed())
		w := fixed("no-plugin", ns, 2).VariantOnAnyNode("a").Retries(2)
		w.Spec.OpenSearch.Heap = "384Mi"
		w.Spec.Topologies[0].ISMPolicyFrom = &v1alpha1.ConfigMapKey{Name: "policies", Key: "rollover.json"}
		w.Spec.Workload = v1alpha1.Workload{
			Index:   v1alpha1.Index{Name: "logs-knee", DataStream: ptr.To(true)},
			Drivers: v1alpha1.Drivers{Bulk: &v1alpha1.Bulk{Dataset: v1alpha1.DatasetOTelLogs, Documents: ptr.To[int64](1000)}},
		}
		c := start(ctx, w)
		Eventually(ready(ctx, c)).Should(And(HavePrefix("False/PluginMissing"), ContainSubstring("index-management")))
		all := records(ctx, ns)
		Expect(all).NotTo(BeEmpty())
		for _, r := range all {
			Expect(r.Error).NotTo(BeNil())
			Expect(r.Error.Reason).To(Equal(record.ReasonPluginMissing))
			Expect(r.Attempt.N).To(BeEquivalentTo(1))
		}
	}, SpecTimeout(6*time.Minute))
})

var _ = Describe("the command driver", func() {
	It("compares what a program prints, with no OpenSearch at all", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		w := wrappers.MakeCampaign("freon").Namespace(ns).VariantOnAnyNode("old").VariantOnAnyNode("new").Clients(10, 20).Repetitions(2)
		w.Spec.OpenSearch = v1alpha1.OpenSearch{}
		w.Spec.Topologies = nil
		w.Spec.Workload = v1alpha1.Workload{Drivers: v1alpha1.Drivers{Command: &v1alpha1.Command{
			Image: fakes, Preset: v1alpha1.PresetFreon,
			Command: []string{"/bin/freon"},
			Args:    []string{"ockrw", "-n", "$(calls)", "-t", "$(KNEE_CLIENTS)", "--rate", "$(rate)"},
			Params:  map[string]v1alpha1.ParamValue{"calls": "2000", "rate": "100"},
		}}}
		w.Spec.Variants[1].Params = map[string]v1alpha1.ParamValue{"rate": "150"}
		c := start(ctx, w)
		Eventually(ready(ctx, c)).Should(Or(HavePrefix("True/"), HavePrefix("False/")))
		Expect(ready(ctx, c)()).To(HavePrefix("True/Finished"))
		all := finals(records(ctx, ns))
		Expect(all).To(HaveLen(4))
		for _, r := range all {
			Expect(r.Load).NotTo(BeNil())
			Expect(r.Load.Unit).To(Equal("calls/s"))
			Expect(r.Load.Operations).To(BeEquivalentTo(2000))
			Expect(r.Load.Latency).NotTo(BeNil())
			Expect(r.Ingest).To(BeNil(), "no index was filled")
		}
		Expect(get(ctx, c).Status.Result).To(HavePrefix("new 1.500x old"))
		Expect(report(ctx, c)["report.md"]).To(ContainSubstring("calls/s"))
		Eventually(left(ctx, ns)).Should(BeEmpty())
	}, SpecTimeout(8*time.Minute))
})

var _ = Describe("the stream driver", func() {
	It("compares the transports between two nodes, as the sample does", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		w := &wrappers.Campaign{}
		sample, err := os.ReadFile(filepath.Join(root, "config", "samples", "stream-transport.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(yaml.UnmarshalStrict(sample, &w.BenchmarkCampaign)).To(Succeed())
		small := campaign(w.Name, ns) // for the settings that all campaigns of these tests share: any disk, short timeouts
		w.Namespace(ns).Clients(4).Repetitions(2).Retries(0)
		w.Spec.OpenSearch.Image, w.Spec.OpenSearch.Heap, w.Spec.OpenSearch.Resources = "knee.local/opensearch:3.8.0", "512Mi", small.Spec.OpenSearch.Resources
		maps.Copy(w.Spec.OpenSearch.Settings, small.Spec.OpenSearch.Settings)
		w.Spec.OpenSearch.Settings["arrow.flight.channel.outbound_buffer_threshold"] = "4mb"
		w.Spec.Sweep.Mode, w.Spec.Timeouts, w.Spec.Loader = v1alpha1.SweepFixed, small.Spec.Timeouts, small.Spec.Loader
		maps.Copy(w.Spec.Workload.Stream.Params, map[string]v1alpha1.ParamValue{"rows": "10000", "batch_size": "1000", "total_requests": "100"})
		c := start(ctx, w)
		Eventually(ready(ctx, c)).WithTimeout(10 * time.Minute).Should(Or(HavePrefix("True/"), HavePrefix("False/")))
		Expect(ready(ctx, c)()).To(HavePrefix("True/Finished"))
		all := finals(records(ctx, ns))
		Expect(all).To(HaveLen(2*2), "variants x repetitions")
		for _, r := range all {
			Expect(r.Load.Unit).To(Equal("rows/s"))
			Expect(r.Load.Operations).To(BeEquivalentTo(10_000*100), "rows x requests")
			Expect(r.Load.Latency.P99).To(BeNumerically(">=", r.Load.Latency.P50))
			Expect(r.Nodes).To(HaveLen(2))
			var received float64
			for _, n := range r.Nodes {
				received += n.Network.ReceiveMiBs
			}
			// The probe's window is longer than the load, so the limit is only a tenth of the rate. A node that streams
			// to itself would receive nothing.
			Expect(received).To(BeNumerically(">", r.Load.MiBs/10), "the rows cross the network of the pods")
		}
		files := report(ctx, c)
		Expect(files["report.md"]).To(And(ContainSubstring("rows/s"), ContainSubstring("regular"), ContainSubstring("stream")))
		Expect(get(ctx, c).Status.Result).To(MatchRegexp(`^stream [0-9.]+x regular`))
		AddReportEntry("report.md", files["report.md"])
	}, SpecTimeout(12*time.Minute))
})
