package report_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// TestFiles_droppedCollections_areEmpty checks that garbage collections dropped from a record are shown as unknown, and
// never as 0.
func TestFiles_droppedCollections_areEmpty(t *testing.T) {
	c := twoVariants("t")
	in := finished(c, func(trial record.Trial) record.Record {
		r := plain(trial)
		if trial.Variant == "b" { // the record as it is after Encode dropped disks and garbage collections for lack of space
			for i := range r.Nodes {
				r.Nodes[i].Disk, r.Nodes[i].GC = nil, record.GC{}
			}
			r.Dropped = []record.Drop{"node.disk,gc"}
		}
		return r
	})
	files := report.Files(in)
	for _, row := range rows(t, files["results.csv"]) {
		want := map[string]string{"a": "42 1500", "b": " "}[row["variant"]]
		if got := row["gc_collections"] + " " + row["gc_millis"]; got != want {
			t.Errorf("%s: collections and ms %q, want %q", row["variant"], got, want)
		}
	}
	seen := 0
	for _, row := range rows(t, files["comparison.csv"]) {
		if f := row["figure"]; f == "gc_pauses_per_minute" || f == "gc_percent_of_time" {
			seen++
			if row["value"] != "" || row["baseline_value"] == "" || row["ratio"] != "" {
				t.Errorf("%s at %s: %q against %q, ratio %q", f, row["at"], row["value"], row["baseline_value"], row["ratio"])
			}
		}
	}
	if seen == 0 {
		t.Error("comparison.csv has no rows of collections at all")
	}
}

// TestFiles_noCollections_areZero checks that a node without garbage collections shows 0.
func TestFiles_noCollections_areZero(t *testing.T) {
	in := finished(twoVariants("t"), func(trial record.Trial) record.Record {
		r := plain(trial)
		r.Nodes[0].GC = record.GC{}
		return r
	})
	for _, row := range rows(t, report.Files(in)["results.csv"]) {
		if row["gc_collections"] != "0" || row["gc_millis"] != "0" {
			t.Fatalf("%q collections, %q ms, want 0", row["gc_collections"], row["gc_millis"])
		}
	}
}

// TestFiles_targetThroughput_notReachedBelow97Percent checks that a target throughput counts as not reached only if the throughput is
// below 97 % of the target. A high latency alone only means that requests waited.
func TestFiles_targetThroughput_notReachedBelow97Percent(t *testing.T) {
	for throughput, want := range map[float64]string{
		2:    "latency far above service time: requests waited before they were sent",
		1.96: "latency far above service time: requests waited before they were sent",
		1.5:  "the target throughput was not reached",
	} {
		in := finished(twoVariants("t"), func(trial record.Trial) record.Record {
			r := plain(trial)
			if trial.Phase == record.Final {
				r.Tasks = append(r.Tasks, record.Task{Name: "range", Search: true, Throughput: throughput, Unit: "ops/s", Target: 2,
					Latency: &record.Latency{Mean: 90, P50: 80, P99: 300}, ServiceTime: &record.Latency{Mean: 9, P50: 8, P99: 30}})
			}
			return r
		})
		text := report.Files(in)["report.md"]
		has(t, text, want)
		if held := throughput >= 0.97*2; held == strings.Contains(text, "target throughput was not reached") {
			t.Errorf("throughput %v of a target of 2: held is %t in\n%s", throughput, held, text)
		}
	}
}

// TestHTML_plotsWithoutMeasuredFinals checks plots of a variant whose Finals all failed a gate: they show the known
// figures and leave out the unknown ones.
func TestHTML_plotsWithoutMeasuredFinals(t *testing.T) {
	in := finished(twoVariants("t"), func(trial record.Trial) record.Record {
		r := plain(trial)
		if trial.Phase == record.Final && trial.Variant == "a" {
			r.Rejections.WritePool = 1
		}
		return r
	})
	var says string
	for _, n := range elements(t, report.HTML(in)) {
		if n.Data == "desc" && strings.Contains(text(n), "repetitions") {
			says = text(n)
		}
	}
	has(t, says, "a: 0 of 4 repetitions Measured.", "b: 4 repetitions from ")
	for _, never := range []string{"median ,", "from  to", "CV  %"} {
		if strings.Contains(report.HTML(in), never) {
			t.Errorf("%q in the page", never)
		}
	}
}

// TestHTML_latencyPlots_nameTheLoop checks the caption of latency plots. A task with a target throughput is an open loop,
// so its latency is not the reciprocal of the throughput.
func TestHTML_latencyPlots_nameTheLoop(t *testing.T) {
	for target, want := range map[float64]string{0: "Ingest latency, closed loop", 100: "Ingest latency, at a target throughput"} {
		in := finished(twoVariants("t"), func(trial record.Trial) record.Record {
			r := plain(trial)
			r.Tasks[0].Target = target
			return r
		})
		page := report.HTML(in)
		has(t, page, want)
		if strings.Contains(page, "Closed loop: latency is the reciprocal") != (target == 0) {
			t.Errorf("target %v: the caption speaks of the other loop", target)
		}
	}
	in := finished(twoVariants("t"), plain)
	for _, line := range strings.Split(report.Files(in)["columns.md"], "\n") {
		if strings.HasPrefix(line, "| latency_p50_ms | ms |") && !strings.Contains(line, "in a closed loop") {
			t.Errorf("columns.md says of every latency: %s", line)
		}
	}
}

// TestComparison_namedTwice_appearsOnce checks that a comparison appears only once, even if the campaign names a comparison that exists
// anyway.
func TestComparison_namedTwice_appearsOnce(t *testing.T) {
	c := twoVariants("t", "u")
	for _, pair := range [][4]string{{"b", "t", "a", "t"}, {"a", "t", "a", "u"}} {
		c.Spec.Comparisons = append(c.Spec.Comparisons, v1alpha1.Comparison{
			Cell:     v1alpha1.CellName{Variant: v1alpha1.Name(pair[0]), Topology: v1alpha1.Name(pair[1])},
			Baseline: v1alpha1.CellName{Variant: v1alpha1.Name(pair[2]), Topology: v1alpha1.Name(pair[3])},
		})
	}
	c.Spec.Comparisons = append(c.Spec.Comparisons, c.Spec.Comparisons[1])
	count := map[string]int{}
	for _, r := range rows(t, report.Files(finished(c, plain))["comparison.csv"]) {
		if r["at"] == "final" && r["figure"] == "docs_per_second" {
			count[r["variant"]+"/"+r["topology"]+" "+r["baseline"]+"/"+r["baseline_topology"]]++
		}
	}
	if len(count) != 3 || count["b/t a/t"] != 1 || count["b/u a/u"] != 1 || count["a/t a/u"] != 1 {
		t.Errorf("%v, want b/t a/t, b/u a/u and a/t a/u once each", count)
	}
}

// TestFiles_foreignTexts_areEscaped checks texts of drivers and machines: a spreadsheet must not read them as formulas, and
// Markdown must not read them as HTML elements.
func TestFiles_foreignTexts_areEscaped(t *testing.T) {
	c := twoVariants("t")
	c.Spec.Retries = ptr.To[int32](0)
	evil := []string{`=HYPERLINK("x")`, "+1+1", "-2+3", "@SUM(1)"}
	in := finished(c, func(trial record.Trial) record.Record {
		r := plain(trial)
		r.Loader.BusiestProcess = evil[int(trial.Clients)%len(evil)]
		r.Settle.Note = "<script>alert(1)</script> & more"
		r.Nodes[0].Environment.CPUModel = "<img src=x>"
		r.Driver.ExitCode = 0
		if trial.Clients == 1 {
			r.Driver.ExitCode = -1
		}
		return r
	})
	files := report.Files(in)
	codes := map[string]bool{}
	for _, row := range rows(t, files["results.csv"]) {
		codes[row["driver_exit_code"]] = true
		if got := row["loader_busiest_process"]; !strings.HasPrefix(got, "'") || !slices.Contains(evil, got[1:]) {
			t.Errorf("a process called %q may be a formula", got)
		}
	}
	if !codes["-1"] {
		t.Errorf("exit codes %v, want -1 among them as it is", codes)
	}
	md := files["report.md"]
	has(t, md, "&lt;script>alert(1)&lt;/script> &amp; more", "&lt;img src=x>")
	for _, never := range []string{"<script", "<img"} {
		if strings.Contains(md, never) {
			t.Errorf("%q in report.md", never)
		}
	}
}

// TestShowcaseRecords_areAsStored checks that the showcase uses stored records. Its clusters are so large that some
// records had to drop parts.
func TestShowcaseRecords_areAsStored(t *testing.T) {
	dropped := 0
	for _, r := range finished(showcase(), showcaseRecords()).Records {
		again := campaigntest.Stored(t, r)
		if r.Ingest != nil && math.Abs(again.Ingest.DocsPerSecond-r.Ingest.DocsPerSecond) > 0 {
			t.Fatalf("docs/s of %v became %v: the showcase is not made of stored records", r.Ingest.DocsPerSecond, again.Ingest.DocsPerSecond)
		}
		if len(r.Dropped) > 0 {
			dropped++
		}
	}
	if dropped == 0 {
		t.Error("no record of the showcase had to leave something out")
	}
}

// TestFiles_figuresOfAllNodes_coverAllOrAreEmpty checks that figures of all OpenSearch nodes cover all nodes or are empty, even if a record
// has space for only a few nodes.
func TestFiles_figuresOfAllNodes_coverAllOrAreEmpty(t *testing.T) {
	for _, nodes := range []int{3, 13, 60} {
		c := twoVariants("t")
		left := nodes
		in := finished(c, func(trial record.Trial) record.Record {
			r := plain(trial)
			one := r.Nodes[0]
			r.Nodes = nil
			for i := range nodes {
				n := one
				n.Name = fmt.Sprintf("opensearch-node-%03d", i)
				n.Environment.Host = fmt.Sprintf("machine-%03d", i)
				n.GC = record.GC{Collections: 10, Millis: 200}
				n.Disk = &record.Disk{ReadMiBs: 1, WriteMiBs: 2, IOPS: 3}
				n.Network = &record.Network{ReceiveMiBs: 4, TransmitMiBs: 5}
				n.Pressure = &record.Pressure{CPU: 20, Memory: float64(i), IO: 7}
				r.Nodes = append(r.Nodes, n)
			}
			r = campaigntest.Stored(t, r)
			left = min(left, len(r.Nodes))
			return r
		})
		if (left < nodes) != (nodes == 60) {
			t.Fatalf("a record of %d nodes holds %d", nodes, left)
		}
		want := map[string]float64{
			"cpu_cores": 16, "gc_collections": 10, "gc_millis": 200, "disk_read_mib_per_second": 1, "disk_write_mib_per_second": 2, "disk_iops": 3,
			"network_receive_mib_per_second": 4, "network_transmit_mib_per_second": 5,
		}
		known := 0
		for _, row := range rows(t, report.Files(in)["results.csv"]) {
			for name, each := range want {
				switch row[name] {
				case "":
				case fmt.Sprint(each * float64(nodes)):
					known++
				default:
					t.Fatalf("%d nodes: %s is %s, want %v or nothing", nodes, name, row[name], each*float64(nodes))
				}
			}
			if got := row["pressure_memory_percent"]; got != fmt.Sprint(nodes-1) {
				t.Fatalf("%d nodes: the highest memory pressure is %q, want %d", nodes, got, nodes-1)
			}
		}
		if known == 0 {
			t.Errorf("%d nodes: no figure of all nodes is known", nodes)
		}
	}
}

// TestFiles_allRequestsRefused_zeroDocsPerSecond checks a load whose requests were all refused. The load has 0 docs/s; only Errored
// trials have no docs/s. The load does not count in peaks and medians. There is also no ratio of docs/s, whether the
// variant or the baseline has this load.
func TestFiles_allRequestsRefused_zeroDocsPerSecond(t *testing.T) {
	for _, variant := range []string{"a", "b"} {
		in := finished(twoVariants("t"), func(trial record.Trial) record.Record {
			r := plain(trial)
			if trial.Variant == variant {
				refuse(&r)
			}
			return r
		})
		files := report.Files(in)
		seen := 0
		for _, row := range rows(t, files["results.csv"]) {
			if row["variant"] != variant {
				continue
			}
			seen++
			if row["verdict"] != "Gated" || row["docs_per_second"] != "0" || row["whole_docs_per_second"] != "0" || row["osb_docs_per_second"] != "" {
				t.Fatalf("%s %s: %q, whole %q, the driver's %q", row["verdict"], row["failures"], row["docs_per_second"], row["whole_docs_per_second"], row["osb_docs_per_second"])
			}
		}
		if seen == 0 {
			t.Errorf("results.csv has no rows of %s", variant)
		}
		for _, row := range rows(t, files["comparison.csv"]) {
			if row["ratio"] != "" && strings.Contains(row["figure"], "docs") && row["figure"] != "highest_docs_per_second" {
				t.Errorf("%s at %s: ratio %q of %q and %q", row["figure"], row["at"], row["ratio"], row["value"], row["baseline_value"])
			}
		}
		for name, text := range files {
			for _, bad := range []string{"NaN", "Inf"} {
				if strings.Contains(text, bad) {
					t.Errorf("%s holds %s", name, bad)
				}
			}
		}
	}
}

// refuse changes a record into the record of a load whose requests were all refused.
func refuse(r *record.Record) {
	i := r.Ingest
	i.Documents, i.DocsPerSecond, i.WholeDocsPerSec, i.DrainedDocsPerSec, i.OSBDocsPerSecond = 0, 0, 0, 0, 0
	i.TotalIndexed, i.Count, i.IndexBytes = 0, 0, 0
	r.Rejections.IndexingPressure = 1
	if i.BulkSize > 0 {
		r.Rejections.IndexingPressure += i.Corpus / i.BulkSize
	}
	for n := range r.Tasks {
		r.Tasks[n].Throughput, r.Tasks[n].ErrorRate = 0, 1
	}
}
