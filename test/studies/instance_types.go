package studies

import (
	"fmt"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

var instanceTypes = Study{
	Number: 3, Name: "instance types for ingestion", Sample: "instance-types.yaml",
	Left: "Here are the first topology and 75 jobs, one run each: no interval, and no comparison across topologies. Of CPU a range is published: " +
		"its upper end stands as the mean of every node, all of it under user; no iowait is published, and stands as 0. Where the study tells of rejections without a number, 1 stands for some.",
	adapt: func(c *v1alpha1.BenchmarkCampaign) {
		c.Spec.Topologies = c.Spec.Topologies[:1]
		c.Spec.Comparisons = nil
		c.Spec.Sweep.Clients = []int32{75}
		c.Spec.Final.Repetitions = ptr.To[int32](1)
	},
	record: func(t record.Trial) (record.Record, error) {
		types, err := publishedTypes()
		if err != nil {
			return record.Record{}, err
		}
		for _, p := range types {
			if p.variant == t.Variant && p.topology == t.Topology && p.clients == t.Clients {
				return p.record(), nil
			}
		}
		return record.Record{}, fmt.Errorf("nothing published of %s on %s with %d clients", t.Variant, t.Topology, t.Clients)
	},
	checks: instanceTypesChecks,
}

// What each job sends.
const (
	jobBulks      = 750
	bulkDocuments = 4000
	documentBytes = 1.6 * 1024 // in the mean
)

// publishedType is a row of the study's table.
type publishedType struct {
	variant, topology             string
	clients                       int32
	minutes, kdocs, mibs          float64
	cpuLow, cpuHigh, memoryGB     float64
	rejections                    bool
	nodes, coresOfNode, documents int
}

func publishedTypes() ([]publishedType, error) {
	lines, err := table("3-instance-types.csv")
	if err != nil {
		return nil, err
	}
	var out []publishedType
	for _, l := range lines {
		p := publishedType{variant: l["variant"], topology: l["topology"], rejections: l["rejections"] == "yes", nodes: 6, coresOfNode: 16}
		clients, err := strconv.Atoi(l["clients"])
		if err != nil {
			return nil, err
		}
		p.clients, p.documents = int32(clients), clients*jobBulks*bulkDocuments
		for name, to := range map[string]*float64{"minutes": &p.minutes, "kdocs_per_second": &p.kdocs, "mib_per_second": &p.mibs,
			"cpu_low_percent": &p.cpuLow, "cpu_high_percent": &p.cpuHigh, "memory_gb": &p.memoryGB} {
			if *to, err = number(l[name]); err != nil {
				return nil, err
			}
		}
		out = append(out, p)
	}
	return out, nil
}

func (p publishedType) record() record.Record {
	r := ingested(1000*p.kdocs, "bulk")
	in := r.Ingest
	in.Seconds, in.Documents, in.TotalIndexed, in.Count, in.Corpus = 60*p.minutes, int64(p.documents), int64(p.documents), int64(p.documents), int64(p.documents)
	in.PayloadMiBs, in.BulkSize, in.Primaries, in.Replicas, in.RefreshInterval = p.mibs, bulkDocuments, 12, 1, "20s"
	if p.rejections {
		r.Rejections.AdmissionControl = 1
	}
	for i := range p.nodes {
		r.Nodes = append(r.Nodes, record.Node{
			Name: fmt.Sprintf("node-%d", i), CPU: &record.CPU{User: p.cpuHigh, Idle: 100 - p.cpuHigh, Cores: p.coresOfNode},
			Environment: record.Environment{Cores: p.coresOfNode, HeapBytes: 32 << 30, MemoryBytes: int64(p.memoryGB * 1e9)},
		})
	}
	return r
}

func instanceTypesChecks(r *Result) error {
	types, err := publishedTypes()
	if err != nil {
		return err
	}
	of := map[string]publishedType{}
	for _, p := range types {
		of[p.variant] = p
		row := map[string]string{"variant": p.variant, "phase": "Final"}
		r.figure(p.variant+", kdoc/s", p.kdocs, r.cell("results.csv", "docs_per_second", row)/1000, 0)
		r.figure(p.variant+", MiB/s", p.mibs, r.cell("results.csv", "payload_mib_per_second", row), 0)
		r.figure(p.variant+", documents", 225e6, r.cell("results.csv", "documents", row), 0)
		r.word(p.variant+", verdict", map[bool]string{false: "Measured", true: "Gated"}[p.rejections], r.text("results.csv", "verdict", row))
		r.figure(p.variant+", docs/s per node", 1000*p.kdocs/6, r.cell("results.csv", "docs_per_second_per_node", row), 0)
		r.figure(p.variant+", docs/s per vCPU", 1000*p.kdocs/96, r.cell("results.csv", "docs_per_second_per_vcpu", row), 0)
		// What the study rounds: minutes to 1, kdoc/s to 1, MiB/s to 1, the documents' size to 0.1 KiB.
		documents := float64(p.documents)
		r.within(p.variant+", kdoc/s by documents over minutes", p.kdocs, documents/(60*(p.minutes+0.5))/1000, documents/(60*(p.minutes-0.5))/1000, 0)
		r.within(p.variant+", MiB/s by kdoc/s x 1.6 KiB", p.mibs, 1000*(p.kdocs-0.5)*1.55/1024, 1000*(p.kdocs+0.5)*1.65/1024, 0)
	}
	r.figure("documents of 40 jobs", 120e6, 40*jobBulks*bulkDocuments, 0)
	r.figure("MiB a bulk", 6.25, bulkDocuments*documentBytes/(1<<20), 2)
	for _, other := range []string{"im4gn", "r6g"} {
		r.figure("or1 / "+other+", gates aside", of["or1"].kdocs/of[other].kdocs, r.observed("or1", other), 3)
	}
	r.says("a type with rejections is marked", "| **im4gn** | 75 | 110000 (gated) |")
	r.says("a CPU of 80 % is within the gate", "| **or1** | 75 | 156000 | 1 of 1 |")
	instanceTypesCorrections(r, of)
	return nil
}

// observed is the quotient of what two variants showed, whichever of them is the baseline.
func (r *Result) observed(variant, baseline string) float64 {
	medians := map[string]float64{}
	for _, c := range r.input.Assessment.Cells {
		for _, o := range c.Finals {
			medians[c.Variant] = o.DocsPerSecond()
		}
	}
	if baseline != r.input.Spec.Baseline { // comparison.csv has the variants against the campaign's baseline
		return medians[variant] / medians[baseline]
	}
	return r.compared(where{variant, "observed", "docs_per_second"}, "ratio")
}

func instanceTypesCorrections(r *Result, of map[string]publishedType) {
	or1, im4gn := of["or1"], of["im4gn"]
	r.correct("im4gn and r6g did 110 kdoc/s", "both refused requests, and their CPU went to %.0f and %.0f %%: they were overloaded, so that 1.42x is or1 against types that "+
		"75 jobs were too many for, not against what they do at their best (Knee gives no ratio of Gated trials; a run with 40 jobs is the fair one)",
		im4gn.cpuHigh, of["r6g"].cpuHigh)
	perBulk := float64(or1.clients) * bulkDocuments / (1000 * or1.kdocs)
	r.correct("or1 did 156 kdoc/s", "at %.0f to %.0f %% CPU: it may do more. Each of 75 jobs had a bulk in flight for at most %.2f s (Little's law), and 750 of them are %.1f min",
		or1.cpuLow, or1.cpuHigh, perBulk, jobBulks*perBulk/60)
	r.correct("24 min, 156 kdoc/s, 243 MiB/s", "agree within their rounding: %.2f kdoc/s by documents over minutes, %.2f MiB/s by kdoc/s x 1.6 KiB, and %.3f KiB a document by MiB/s over kdoc/s",
		float64(or1.documents)/(60*or1.minutes)/1000, 1000*or1.kdocs*1.6/1024, or1.mibs*1024/(1000*or1.kdocs))
	r.correct("34 min, 110 kdoc/s, 172 MiB/s", "agree as well: %.2f kdoc/s, %.2f MiB/s, %.3f KiB a document; the quotient or1 / im4gn is %.3f by kdoc/s, %.3f by MiB/s and %.3f by minutes",
		float64(im4gn.documents)/(60*im4gn.minutes)/1000, 1000*im4gn.kdocs*1.6/1024, im4gn.mibs*1024/(1000*im4gn.kdocs),
		or1.kdocs/im4gn.kdocs, or1.mibs/im4gn.mibs, im4gn.minutes/or1.minutes)
	r.correct("types of 16 vCPU with 32 GiB of heap each", "im4gn has %.0f GB of memory and the others %.0f: beside the heap %.0f GB are left for the page cache, and %.0f (EnvironmentMismatch in part: "+
		"the type is what is compared)", im4gn.memoryGB, or1.memoryGB, im4gn.memoryGB-32*1.073741824, or1.memoryGB-32*1.073741824)
	r.correct("32 GiB of heap", "a JVM addresses less than 32 GiB by compressed pointers: 31 GiB hold more objects than 32")
}
