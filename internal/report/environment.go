package report

import (
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
	{"hypervisor", func(e record.Environment) string { return e.Hypervisor }},
	{"operating system of the node, by its kernel", func(e record.Environment) string { return e.NodeOS }},
	{"operating system of OpenSearch's image", func(e record.Environment) string { return e.ImageOS }},
	{"kernel", func(e record.Environment) string { return e.Kernel }},
	{"transparent huge pages", func(e record.Environment) string { return e.THP }},
	{"swap", func(e record.Environment) string { return e.Swap }},
	{"OpenSearch", func(e record.Environment) string { return e.OpenSearch }},
	{"JVM", func(e record.Environment) string { return e.JVM }},
	{"heap, bytes", func(e record.Environment) string { return knownInt(e.HeapBytes) }},
	{"allocated processors", func(e record.Environment) string { return knownInt(int64(e.Processors)) }},
	{"memory locked", func(e record.Environment) string {
		if e.JVM == "" && e.OpenSearch == "" {
			return "" // of the same answer of OpenSearch, which the record does not have
		}
		return strconv.FormatBool(e.Mlockall)
	}},
	{"max file descriptors", func(e record.Environment) string { return knownInt(e.MaxFiles) }},
	{"max processes", func(e record.Environment) string { return limitText(e.MaxProcesses) }},
	{"threads a core (SMT)", func(e record.Environment) string { return knownInt(int64(e.SMT)) }},
	{"disks", func(e record.Environment) string { return e.Disk }},
	{"OpenSearch image", func(e record.Environment) string { return e.Image }},
}

// limitText is empty where the limit is not known.
func limitText(n int64) string {
	if n < 0 {
		return "unlimited"
	}
	return knownInt(n)
}

// environments compares the variants' nodes as they were found, whatever the campaign declares.
func environments(d *document, in Input, rows []attempt) {
	records := map[string][]record.Record{}
	for _, a := range rows {
		records[a.record.Trial.Variant] = append(records[a.record.Trial.Variant], a.record)
	}
	d.section("Environment")
	who := "the nodes and the index say"
	switch {
	case !fillsIndex(in) && !nodesKnown(in):
		who = "the loads say"
	case !fillsIndex(in):
		who = "the nodes say"
	}
	d.para("As %s themselves; what differs between variants, beside what is compared, makes the comparison suspect.", who)
	differences(d, in)
	titles := []string{""}
	for _, v := range in.Spec.Variants {
		titles = append(titles, string(v.Name)+" ")
	}
	t := d.table(append(titles, "differs ")...)
	row := func(name string, of func([]record.Record) string) {
		values := []string{name}
		var known []string
		for _, v := range in.Spec.Variants {
			value := of(records[string(v.Name)])
			values = append(values, cut(value, 300))
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
		if !fillsIndex(in) && !nodesKnown(in) {
			break
		}
		row(f.name, func(rs []record.Record) string { return distinct(rs, f.of) })
	}
	row("loader's nodes", func(rs []record.Record) string {
		return list(rs, func(r record.Record) string { return r.Loader.Host })
	})
	row("driver", func(rs []record.Record) string {
		return list(rs, func(r record.Record) string { return strings.TrimSpace(r.Driver.Name + " " + r.Driver.Version) })
	})
	for _, topology := range in.Assessment.Topologies() {
		if !fillsIndex(in) {
			break
		}
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

// differences is a row for each thing in which the cells differ, with what that means for the comparison.
func differences(d *document, in Input) {
	if len(in.Assessment.Differences) == 0 {
		return
	}
	t := d.table("what differs", "is ", "values ")
	for _, f := range in.Assessment.Differences {
		is, flag := "declared by the campaign", ""
		switch {
		case f.Suspect():
			is, flag = "**not declared: the comparison is suspect**", string(analysis.Errored)
		case f.Note != "":
			is = f.Note
		case f.Accepted && !f.Declared:
			is, flag = "accepted by spec.acceptedDifferences", string(analysis.Gated)
		}
		var values []string
		for _, v := range f.Values {
			if len(v.Values) > 0 {
				value := cellName(in, v.Variant, v.Topology) + ": " + strings.Join(v.Values, ", ")
				if v.Undeclared && f.Suspect() {
					value = "**" + value + "**"
				}
				values = append(values, value)
			}
		}
		const most = 12
		if len(values) > most {
			values = append(values[:most], fmt.Sprintf("%d cells more", len(values)-most))
		}
		t.flagged(flag, string(f.Field), is, strings.Join(values, "; "))
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
	return strings.Join(slices.DeleteFunc(unique(values), func(s string) bool { return s == "" }), ", ")
}

// failed lists every attempt that was not Measured.
func failed(d *document, rows []attempt) {
	d.section("What failed and why")
	rows = slices.DeleteFunc(slices.Clone(rows), func(a attempt) bool { return a.judgement.Verdict == analysis.Measured })
	if len(rows) == 0 {
		d.para("Nothing: every attempt was Measured.")
		return
	}
	const most = 500
	t := d.table("variant", "topology ", "phase ", "clients", "repetition", "attempt", "verdict ", "why ")
	for _, a := range rows[:min(len(rows), most)] {
		r := a.record.Trial
		t.flagged(string(a.judgement.Verdict), r.Variant, r.Topology, string(r.Phase), integer(r.Clients), blockName(r), integer(r.Attempt),
			string(a.judgement.Verdict), failures(a.judgement.Notes(), 400))
	}
	if len(rows) > most {
		d.para("%d more are in results.csv.", len(rows)-most)
	}
}

// durations says how long each cell's attempts took, and what of it was load.
func durations(d *document, in Input, rows []attempt) {
	d.section("What ran how long")
	t := d.table("variant", "topology ", "attempts", "all", "measured load", "settling", "first start, UTC ", "last end, UTC ")
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
			load += loadSeconds(a.record)
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
		t.row(c.Variant, c.Topology, strconv.Itoa(n), duration(all), duration(load), duration(settle), clock(first), clock(last))
	}
}
