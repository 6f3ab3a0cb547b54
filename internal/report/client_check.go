package report

import (
	"math"
	"slices"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// asksClientCheck tells whether the campaign asks for client-bound checks, or has one all the same.
func asksClientCheck(in Input) bool {
	return ptr.Deref(in.Spec.Workload.ClientBoundCheck, false) || len(in.Assessment.ClientChecks) > 0
}

// clientChecks holds the loads of opensearch-benchmark against the same by Knee's own loader.
func clientChecks(d *document, in Input) {
	if !asksClientCheck(in) {
		return
	}
	d.section("Is the loader the limit?")
	checks := in.Assessment.ClientChecks
	if len(checks) == 0 {
		d.para("Not known yet: no Final that makes the check is there. Those that were measured before it was asked for are not repeated; a new spec.rerun measures again.")
		return
	}
	d.para("The first Final of each cell was repeated with Knee's own loader: the same documents, bulk size and clients, on the same index made anew. " +
		"Where that got more than opensearch-benchmark did, the clients were the limit rather than OpenSearch. It is one load against one other. " +
		"U is the share of the clients' time that is spent waiting for the server; CPU is the loader's own, in seconds for a million documents.")
	t := d.table("cell", "clients", "opensearch-benchmark docs/s", "Knee's loader docs/s", "ratio", "U", "U of Knee's loader",
		"CPU", "CPU of Knee's loader", "rejections of Knee's loader", "limit ", "note ")
	for _, c := range checks {
		check := c.Record.ClientCheck
		row := []string{cellName(in, c.Variant, c.Topology), integer(c.Clients), fixed(nonZero(c.Driver), 0), fixed(nonZero(c.Loader), 0), fixed(nonZero(c.Ratio), 2),
			fixed(nonZero(c.Record.Loader.UtilizationOfTime), 2), fixed(nonZero(check.UtilizationOfTime), 2),
			fixed(driverCPU(c.Record), 2), fixed(nonZero(check.CPUPerMillion), 2), "", "not known", line(check.Note)}
		if check.Made() {
			row[9], row[10] = strconv.FormatInt(check.Rejections, 10), "OpenSearch"
		}
		switch {
		case c.Bound:
			row[10] = "**the load generator**"
		case c.Disturbed:
			row[10] = "not known: the lean loader got less, something held back one of the two loads"
		}
		t.row(row...)
	}
	d.list(clientVerdicts(in, checks))
}

// clientVerdicts say in words what limited the cells.
func clientVerdicts(in Input, checks []analysis.ClientCheck) []string {
	var out []string
	for _, c := range checks {
		if c.Bound {
			out = append(out, "**ClientBound**: "+cellName(in, c.Variant, c.Topology)+", "+integer(c.Clients)+" clients: the load generator was the limit: opensearch-benchmark got "+
				fixed(c.Driver, 0)+" docs/s of "+fixed(c.Loader, 0))
		}
	}
	if low, high, alike := in.Assessment.ClientChecksAlike(); alike {
		out = append(out, "Every cell that was checked was limited so, by factors of "+fixed(low, 2)+" to "+fixed(high, 2)+
			": docs/s are too low everywhere, and a ratio of them compares clients as much as OpenSearch")
	}
	return out
}

// driverCPU is the CPU seconds that the driver's processes took for a million documents; NaN where it is not known.
func driverCPU(r record.Record) float64 {
	if r.Ingest == nil {
		return math.NaN()
	}
	return nonZero(r.Loader.CPUCores / nonZero(r.Ingest.DocsPerSecond) * 1e6)
}

// checkColumns are those of results.csv that only a campaign with client-bound checks has.
var checkColumns = []column{
	{"client_check_docs_per_second", "the same load by Knee's own loader: accepted documents a second within the window; empty where it was not repeated", clientCheck(func(c record.ClientCheck) string { return known(c.DocsPerSecond) })},
	{"client_check_whole_docs_per_second", "the same from the first to the last accepted document", clientCheck(func(c record.ClientCheck) string { return known(c.WholeDocsPerSec) })},
	{"client_check_window", "of that load: Whole, Steady or Corpus", clientCheck(func(c record.ClientCheck) string { return c.Window })},
	{"client_check_seconds", "length of that window", clientCheck(func(c record.ClientCheck) string { return known(c.Seconds) })},
	{"client_check_documents", "accepted within that window, by primaries", clientCheck(func(c record.ClientCheck) string { return knownInt(c.Documents) })},
	{"client_check_bulk_size", "documents a bulk request of that load", clientCheck(func(c record.ClientCheck) string { return knownInt(c.BulkSize) })},
	{"client_check_rejections", "refused requests of that load, all counters of all nodes", clientCheck(func(c record.ClientCheck) string {
		if !c.Made() {
			return ""
		}
		return strconv.FormatInt(c.Rejections, 10)
	})},
	{"client_check_client_utilization", "share of client time spent waiting for the server in that load", clientCheck(func(c record.ClientCheck) string { return known(c.UtilizationOfTime) })},
	{"client_check_loader_cpu_seconds_per_million_documents", "CPU of Knee's loader", clientCheck(func(c record.ClientCheck) string { return known(c.CPUPerMillion) })},
	{"client_check_note", "why the load was not repeated, or what makes it less than the same load", clientCheck(func(c record.ClientCheck) string { return c.Note })},
}

func clientCheck(of func(record.ClientCheck) string) func(attempt) string {
	return func(a attempt) string {
		if a.record.ClientCheck == nil {
			return ""
		}
		return of(*a.record.ClientCheck)
	}
}

// withChecks adds the columns of client-bound checks where a campaign has them.
func withChecks(in Input, columns []column) []column {
	if !asksClientCheck(in) {
		return columns
	}
	return slices.Concat(columns, checkColumns)
}
