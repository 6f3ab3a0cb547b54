package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// facts are what the nodes say of themselves.
var facts = []struct {
	name string
	of   func(record.Environment) string
}{
	{"Kubernetes nodes", func(e record.Environment) string { return e.Host }},
	{"architecture", func(e record.Environment) string { return e.Arch }},
	{"CPU model", func(e record.Environment) string { return e.CPUModel }},
	{"logical processors", func(e record.Environment) string { return knownInt(int64(e.Cores)) }},
	{"memory, bytes", func(e record.Environment) string { return knownInt(e.MemoryBytes) }},
	{"kernel", func(e record.Environment) string { return e.Kernel }},
	{"transparent huge pages", func(e record.Environment) string { return e.THP }},
	{"OpenSearch", func(e record.Environment) string { return e.OpenSearch }},
	{"JVM", func(e record.Environment) string { return e.JVM }},
	{"heap, bytes", func(e record.Environment) string { return knownInt(e.HeapBytes) }},
	{"allocated processors", func(e record.Environment) string { return knownInt(int64(e.Processors)) }},
	{"memory locked", func(e record.Environment) string {
		host := e.Host
		if e == (record.Environment{Host: host}) {
			return "" // the record had room for the host alone
		}
		return strconv.FormatBool(e.Mlockall)
	}},
	{"max file descriptors", func(e record.Environment) string { return knownInt(e.MaxFiles) }},
}

// environments compares the variants' nodes as they were found, whatever the campaign declares.
func environments(b *strings.Builder, in Input, rows []attempt) {
	records := map[string][]record.Record{}
	for _, a := range rows {
		records[a.record.Trial.Variant] = append(records[a.record.Trial.Variant], a.record)
	}
	b.WriteString("\n## Environment\n\nAs the nodes and the index say themselves; what differs between variants, beside what is compared, makes the comparison suspect.\n\n")
	titles := []string{""}
	for _, v := range in.Spec.Variants {
		titles = append(titles, string(v.Name)+" ")
	}
	t := newTable(b, append(titles, "differs ")...)
	row := func(name string, of func([]record.Record) string) {
		values := []string{name}
		var known []string
		for _, v := range in.Spec.Variants {
			value := of(records[string(v.Name)])
			values = append(values, value)
			if value != "" {
				known = append(known, value)
			}
		}
		differs := ""
		if len(unique(known)) > 1 {
			differs = "yes"
		}
		t.row(append(values, differs)...)
	}
	for _, f := range facts {
		row(f.name, func(rs []record.Record) string { return distinct(rs, f.of) })
	}
	row("loader's nodes", func(rs []record.Record) string {
		return list(rs, func(r record.Record) string { return r.Loader.Host })
	})
	row("driver", func(rs []record.Record) string {
		return list(rs, func(r record.Record) string { return strings.TrimSpace(r.Driver.Name + " " + r.Driver.Version) })
	})
	for _, topology := range in.Assessment.Topologies() {
		row("index settings and mapping, "+topology, func(rs []record.Record) string {
			return list(rs, func(r record.Record) string {
				if r.Ingest == nil || r.Trial.Topology != topology {
					return ""
				}
				return r.Ingest.SettingsDigest
			})
		})
	}
}

// distinct lists what the nodes of records say, each thing once.
func distinct(rs []record.Record, of func(record.Environment) string) string {
	var values []string
	for _, r := range rs {
		for _, n := range r.Nodes {
			if n.Environment == (record.Environment{}) {
				continue // nothing is known of the node
			}
			values = append(values, of(n.Environment))
		}
	}
	return joined(values)
}

func list(rs []record.Record, of func(record.Record) string) string {
	values := make([]string, len(rs))
	for i, r := range rs {
		values[i] = of(r)
	}
	return joined(values)
}

func joined(values []string) string {
	values = slices.DeleteFunc(unique(values), func(s string) bool { return s == "" })
	return strings.Join(values, ", ")
}

// failed lists every attempt that was not Measured.
func failed(b *strings.Builder, rows []attempt) {
	b.WriteString("\n## What failed and why\n\n")
	rows = slices.DeleteFunc(slices.Clone(rows), func(a attempt) bool { return a.judgement.Verdict == analysis.Measured })
	if len(rows) == 0 {
		b.WriteString("Nothing: every attempt was Measured.\n")
		return
	}
	const most = 500
	t := newTable(b, "variant", "topology ", "phase ", "clients", "repetition", "attempt", "verdict ", "why ")
	for _, a := range rows[:min(len(rows), most)] {
		r := a.record.Trial
		t.row(r.Variant, r.Topology, string(r.Phase), integer(r.Clients), integer(r.Repetition), integer(r.Attempt),
			string(a.judgement.Verdict), failures(a.judgement.Failures, 400))
	}
	if len(rows) > most {
		fmt.Fprintf(b, "\n%d more are in results.csv.\n", len(rows)-most)
	}
}

// durations says how long each cell's attempts took, and what of it was load.
func durations(b *strings.Builder, in Input, rows []attempt) {
	b.WriteString("\n## What ran how long\n\n")
	t := newTable(b, "variant", "topology ", "attempts", "all", "measured load", "settling", "first start ", "last end ")
	for _, c := range in.Assessment.Cells {
		n, all, load, settle := 0, 0.0, 0.0, 0.0
		first, last := int64(math.MaxInt64), int64(0)
		for _, a := range rows {
			if a.record.Trial.Cell != c.Hash {
				continue
			}
			n++
			all += float64(a.record.FinishedAt-a.record.StartedAt) / 1000
			settle += a.record.Settle.Seconds
			if a.record.Ingest != nil {
				load += a.record.Ingest.Seconds
			}
			if a.record.StartedAt > 0 {
				first = min(first, a.record.StartedAt)
			}
			last = max(last, a.record.FinishedAt)
		}
		if n == 0 {
			t.row(c.Variant, c.Topology, "0")
			continue
		}
		if first == math.MaxInt64 {
			first = 0
		}
		t.row(c.Variant, c.Topology, strconv.Itoa(n), duration(all), duration(load), duration(settle), timestamp(first), timestamp(last))
	}
}

// provenance says where the figures come from and by what rules they were judged.
func provenance(b *strings.Builder, in Input, rows []attempt, resultFiles int) {
	b.WriteString("\n## Provenance\n\n")
	item := func(name, format string, args ...any) {
		fmt.Fprintf(b, "- %s: %s\n", name, line(fmt.Sprintf(format, args...)))
	}
	item("campaign", "%s/%s, UID %s", in.Namespace, in.Name, in.Plan.Campaign)
	item("Knee", "%s, record version %d", cmp.Or(in.Version, "version not known"), record.Version)
	item("knee rule", "the fewest clients with docs/s of at least %s %% of the peak, the highest docs/s among Measured points", figure(in.Plan.PercentOfPeak))
	item("gates", "%s", gates(in))
	item("retries", "%d", in.Plan.Retries)
	item("Final repetitions", "%d, order drawn from seed %d", in.Plan.Repetitions, in.Plan.Seed)
	if osb := in.Spec.Workload.OSB; osb != nil {
		item("load", "opensearch-benchmark, workload %s, tasks %s", osb.Workload, strings.Join(osb.IngestTasks, ", "))
	}
	item("attempts", "%d", len(rows))
	for _, c := range in.Assessment.Cells {
		item("cell", "%s on %s has identity %s", c.Variant, c.Topology, c.Hash)
	}
	files := "results.csv"
	if resultFiles > 1 {
		files = fmt.Sprintf("results.csv, results-002.csv to %s (one file would be too large for a ConfigMap)", numbered("results", resultFiles-1))
	}
	item("every attempt's figures", "%s; columns.md explains the columns", files)
	b.WriteString("- docs/s counts documents that the primaries accepted, from _stats/indexing; the driver's own figure is osb_docs_per_second\n")
}

func gates(in Input) string {
	g := in.Spec.Gates
	maxRejections := int64(0)
	if g.MaxRejections != nil {
		maxRejections = *g.MaxRejections
	}
	out := []string{fmt.Sprintf("maxRejections %d", maxRejections)}
	for _, limit := range []struct {
		name  string
		value float64
	}{
		{"maxIOWaitPercent", g.MaxIOWaitPercent.Float(math.NaN())}, {"maxStealPercent", g.MaxStealPercent.Float(math.NaN())},
		{"maxCPUPercent", g.MaxCPUPercent.Float(math.NaN())}, {"maxLoaderCPUPercent", g.MaxLoaderCPUPercent.Float(math.NaN())},
	} {
		if !math.IsNaN(limit.value) {
			out = append(out, limit.name+" "+trimmed(limit.value, 6))
		}
	}
	return strings.Join(out, ", ")
}
