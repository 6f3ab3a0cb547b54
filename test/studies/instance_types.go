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
	Left: "Three topologies with 75 and 40 jobs are published, one run each: no interval. Of CPU a range is published: its middle stands as the mean of every node, all of it under user, " +
		"and maxCPUPercent judges that. No iowait is published, and it stands as 0. The study says which types refused requests with 12 primaries and 75 jobs, without a number: " +
		"1 stands for some.",
	adapt: func(c *v1alpha1.BenchmarkCampaign) {
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
		return record.Record{}, fmt.Errorf("the study has no result for %s on %s with %d clients", t.Variant, t.Topology, t.Clients)
	},
	checks: instanceTypesChecks,
}

// jobBulks, bulkDocuments and documentBytes describe the load of each job.
const (
	jobBulks      = 750
	bulkDocuments = 4000
	documentBytes = 1.6 * 1024 // on average
)

// shapes are the study's topologies: number of nodes and of primary shards.
var shapes = map[string]struct {
	nodes     int
	primaries int32
}{"6n12p": {6, 12}, "6n48p": {6, 48}, "12n96p": {12, 96}}

const coresOfNode = 16

// memoryGB is the RAM of each instance type, in GB.
var memoryGB = map[string]int64{"or1": 128, "im4gn": 64, "r6g": 128}

// publishedType is a row of the study's tables: one instance type on one topology with one number of jobs.
type publishedType struct {
	variant, topology    string
	clients              int32
	minutes, kdocs, mibs float64
	cpuLow, cpuHigh      float64
	rejections           bool
	documents            int64
}

func publishedTypes() ([]publishedType, error) {
	lines, err := table("3-instance-types.csv")
	if err != nil {
		return nil, err
	}
	var out []publishedType
	for _, l := range lines {
		p := publishedType{variant: l["variant"], topology: l["topology"], rejections: l["rejections"] == "yes"}
		clients, err := strconv.Atoi(l["clients"])
		if err != nil {
			return nil, err
		}
		p.clients, p.documents = int32(clients), int64(clients)*jobBulks*bulkDocuments
		for name, to := range map[string]*float64{"minutes": &p.minutes, "kdocs_per_second": &p.kdocs, "mib_per_second": &p.mibs,
			"cpu_low_percent": &p.cpuLow, "cpu_high_percent": &p.cpuHigh} {
			if *to, err = number(l[name]); err != nil {
				return nil, err
			}
		}
		out = append(out, p)
	}
	return out, nil
}

func (p publishedType) record() record.Record {
	shape := shapes[p.topology]
	r := ingested(1000*p.kdocs, "bulk")
	in := r.Ingest
	in.Seconds, in.Documents, in.TotalIndexed, in.Count, in.Corpus = 60*p.minutes, p.documents, p.documents, p.documents, p.documents
	in.PayloadMiBs, in.BulkSize, in.Primaries, in.Replicas, in.RefreshInterval = p.mibs, bulkDocuments, shape.primaries, 1, "20s"
	if p.rejections {
		r.Rejections.AdmissionControl = 1
	}
	cpu := (p.cpuLow + p.cpuHigh) / 2
	for i := range shape.nodes {
		r.Nodes = append(r.Nodes, record.Node{
			Name: fmt.Sprintf("node-%d", i), CPU: &record.CPU{User: cpu, Idle: 100 - cpu, Cores: coresOfNode},
			CPURange:    &record.Range{Min: p.cpuLow, Max: p.cpuHigh},
			Environment: record.Environment{Cores: coresOfNode, HeapBytes: 32 << 30, MemoryBytes: memoryGB[p.variant] * 1e9},
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
		name := fmt.Sprintf("%s, %s, %d jobs", p.variant, p.topology, p.clients)
		of[name] = p
		row := map[string]string{"variant": p.variant, "topology": p.topology, "clients": strconv.Itoa(int(p.clients)), "phase": "Final"}
		cell := func(column string) float64 { return r.cell("results.csv", column, row) }
		r.figure(name+", kdoc/s", p.kdocs, cell("docs_per_second")/1000, 0)
		r.figure(name+", MiB/s", p.mibs, cell("payload_mib_per_second"), 0)
		r.figure(name+", documents", map[int32]float64{75: 225e6, 40: 120e6}[p.clients], cell("documents"), 0)
		r.figure(name+", CPU from, %", p.cpuLow, cell("cpu_busy_min_percent"), 0)
		r.figure(name+", CPU to, %", p.cpuHigh, cell("cpu_busy_max_percent"), 0)
		r.derived(name+", docs/s per node", 1000*p.kdocs/float64(shapes[p.topology].nodes), cell("docs_per_second_per_node"), 0)
		verdict := "Measured"
		if p.rejections {
			verdict = "Gated"
		}
		r.word(name+", verdict", verdict, r.text("results.csv", "verdict", row))
	}
	r.figure("MiB a bulk", 6.25, bulkDocuments*documentBytes/(1<<20), 2)
	instanceTypesComparisons(r)
	instanceTypesSameTopology(r, of)
	instanceTypesCorrections(r, of)
	return nil
}

// ofOR1 returns the comparison of or1 on a topology with a baseline on another topology.
func ofOR1(topology, baseline, baselineTopology string) v1alpha1.Comparison {
	cell := func(variant, topology string) v1alpha1.CellName {
		return v1alpha1.CellName{Variant: v1alpha1.Name(variant), Topology: v1alpha1.Name(topology)}
	}
	return v1alpha1.Comparison{Cell: cell("or1", topology), Baseline: cell(baseline, baselineTopology)}
}

// between returns the ratio of docs/s of two cells at a client count, from comparison.csv. The parameter at selects the
// row: "final" for Measured Finals, or "observed" if a gate excludes the Finals.
func (r *Result) between(c v1alpha1.Comparison, clients, at string) float64 {
	return r.cell("comparison.csv", "ratio", map[string]string{"variant": string(c.Cell.Variant), "topology": string(c.Cell.Topology),
		"baseline": string(c.Baseline.Variant), "baseline_topology": string(c.Baseline.Topology), "clients": clients, "at": at, "figure": "docs_per_second"})
}

func instanceTypesComparisons(r *Result) {
	headline := ofOR1("6n48p", "im4gn", "12n96p")
	r.derived("or1 on 6 nodes / im4gn on 12, 75 jobs", 178.0/187, r.between(headline, "75", "final"), 3)
	r.derived("or1 on 6 nodes / r6g on 12, 75 jobs", 178.0/156, r.between(ofOR1("6n48p", "r6g", "12n96p"), "75", "final"), 3)
	r.figure("or1 / r6g on 12 nodes, 75 jobs", 1.33, r.between(ofOR1("12n96p", "r6g", "12n96p"), "75", "final"), 2)
	r.figure("or1 / im4gn on 12 nodes, 40 jobs", 1, r.between(ofOR1("12n96p", "im4gn", "12n96p"), "40", "final"), 2)
	r.derived("or1 / im4gn on 6 nodes and 12 primaries, 75 jobs, gates aside", 156.0/110, r.between(ofOR1("6n12p", "im4gn", "6n12p"), "75", "observed"), 3)
	r.says("a type with rejections is marked", "110000 (gated)")
	for _, variant := range []string{"im4gn", "r6g"} {
		r.word(variant+", 6n12p, 75 jobs, refused requests", "1", r.text("results.csv", "rejections", map[string]string{
			"variant": variant, "topology": "6n12p", "clients": "75", "phase": "Final"}))
	}
}

// instanceTypesSameTopology compares or1 with r6g, the sample's baseline, on each topology and for each number of jobs.
// If r6g refused requests, a gate excludes its Final. Then the observed ratio is compared.
func instanceTypesSameTopology(r *Result, of map[string]publishedType) {
	for _, topology := range []string{"6n12p", "6n48p", "12n96p"} {
		for _, clients := range []string{"40", "75"} {
			name := fmt.Sprintf("%s, %s jobs", topology, clients)
			or1, r6g := of["or1, "+name], of["r6g, "+name]
			at := "final"
			if r6g.rejections {
				at = "observed"
			}
			r.derived("or1 / r6g, "+name+", "+at, or1.kdocs/r6g.kdocs, r.between(ofOR1(topology, "r6g", topology), clients, at), 3)
		}
	}
	or1, r6g := of["or1, 12n96p, 75 jobs"], of["r6g, 12n96p, 75 jobs"]
	r.within("CPU of or1 below r6g on 12 nodes, 75 jobs, percent", 30, 100*(1-or1.cpuHigh/r6g.cpuHigh), 100*(1-or1.cpuLow/r6g.cpuLow), 0)
	cpu := r.cell("comparison.csv", "ratio", map[string]string{"variant": "or1", "topology": "12n96p", "baseline": "r6g", "baseline_topology": "12n96p",
		"clients": "75", "at": "final", "figure": "cpu_busy_percent"})
	r.derived("CPU of or1 / r6g on 12 nodes, 75 jobs, by the middle of the ranges", (or1.cpuLow+or1.cpuHigh)/(r6g.cpuLow+r6g.cpuHigh), cpu, 3)
}

func instanceTypesCorrections(r *Result, of map[string]publishedType) {
	or1, im4gn, r6g := of["or1, 6n12p, 75 jobs"], of["im4gn, 6n12p, 75 jobs"], of["r6g, 6n12p, 75 jobs"]
	r.correct("im4gn and r6g did 110 kdoc/s with 12 primaries and 75 jobs", "both refused requests, and their CPU went to %.0f and %.0f %%: they were overloaded, so that %.2fx is or1 against types that "+
		"75 jobs were too many for. Knee gives no ratio of Gated trials; with 40 jobs it is %.2fx", im4gn.cpuHigh, r6g.cpuHigh, or1.kdocs/im4gn.kdocs,
		of["or1, 6n12p, 40 jobs"].kdocs/of["im4gn, 6n12p, 40 jobs"].kdocs)
	perBulk := float64(or1.clients) * bulkDocuments / (1000 * or1.kdocs)
	r.correct("or1 did 156 kdoc/s", "or1 was at %.0f to %.0f %% CPU, so its capacity may be higher. A bulk of one of the 75 jobs took at most %.2f s (Little's law), so the 750 bulks of a job took %.1f min",
		or1.cpuLow, or1.cpuHigh, perBulk, jobBulks*perBulk/60)
	r.correct("24 min, 156 kdoc/s, 243 MiB/s", "agree within their rounding: %.2f kdoc/s by documents over minutes, %.2f MiB/s by kdoc/s x 1.6 KiB, and %.3f KiB a document by MiB/s over kdoc/s",
		float64(or1.documents)/(60*or1.minutes)/1000, 1000*or1.kdocs*1.6/1024, or1.mibs*1024/(1000*or1.kdocs))
	few, more := of["or1, 6n48p, 75 jobs"], of["r6g, 12n96p, 75 jobs"]
	r.correct("178,000 docs/s on 6 nodes of or1 are better than 156,000 on 12 of r6g", "%.3fx as much, on half of the nodes %.2fx as much a node; or1 went to %.0f %% CPU there, r6g to %.0f %%",
		few.kdocs/more.kdocs, 2*few.kdocs/more.kdocs, few.cpuHigh, more.cpuHigh)
	r.correct("more primaries lower the throughput of or1", "on 6 nodes it rose from 12 primaries to 48: from %.0f to %.0f kdoc/s with 75 jobs and from %.0f to %.0f with 40",
		or1.kdocs, few.kdocs, of["or1, 6n12p, 40 jobs"].kdocs, of["or1, 6n48p, 40 jobs"].kdocs)
	left := func(variant string) float64 { return float64(memoryGB[variant]) - 32*1.073741824 }
	r.correct("types of 16 vCPU with 32 GiB of heap each", "im4gn has %d GB of memory and the others %d: beside the heap %.0f GB are left for the page cache, and %.0f (EnvironmentMismatch in part: "+
		"the type is what is compared)", memoryGB["im4gn"], memoryGB["or1"], left("im4gn"), left("or1"))
	r.correct("32 GiB of heap", "a JVM addresses less than 32 GiB by compressed pointers: 31 GiB hold more objects than 32")
}
