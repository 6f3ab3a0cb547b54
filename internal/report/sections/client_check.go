package sections

import (
	"math"
	"strconv"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// clientChecks writes a section that compares loads of opensearch-benchmark with the same loads made by Knee's own loader.
func clientChecks(d *document.Document, in view.Input) {
	if !view.HasClientChecks(in) {
		return
	}
	d.Section("Is the loader the limit?")
	checks := in.Assessment.ClientChecks
	if len(checks) == 0 {
		d.Para("Not known yet: no Final repetition was measured with this check (spec.workload.clientBoundCheck). Knee does not repeat Final repetitions that it measured before you set this field. To measure these repetitions again, set a new spec.rerun.")
		return
	}
	d.Para("Knee's own loader made the load of the first Final repetition of each cell a second time: the same documents, bulk size and clients, on a new index with the same settings. " +
		"Where Knee's loader reached more docs/s than opensearch-benchmark, opensearch-benchmark was the limit and not OpenSearch. Each cell has one pair of loads. " +
		"U is the share of time in which the clients of opensearch-benchmark waited for OpenSearch. CPU is the CPU time of opensearch-benchmark, in seconds per million documents.")
	t := d.Table("cell", "clients", "opensearch-benchmark docs/s", "Knee's loader docs/s", "ratio", "U", "U of Knee's loader",
		"CPU", "CPU of Knee's loader", "rejections of Knee's loader", "limit ", "note ")
	for _, c := range checks {
		check := c.Record.ClientCheck
		row := []string{view.CellName(in, c.Variant, c.Topology), format.IntText(c.Clients), format.Fixed(format.NonZero(c.Driver), 0), format.Fixed(format.NonZero(c.Loader), 0), format.Fixed(format.NonZero(c.Ratio), 2),
			format.Fixed(format.NonZero(c.Record.Loader.UtilizationOfTime), 2), format.Fixed(format.NonZero(check.UtilizationOfTime), 2),
			format.Fixed(driverCPU(c.Record), 2), format.Fixed(format.NonZero(check.CPUPerMillion), 2), "", "not known", format.OneLine(check.Note)}
		if check.Made() {
			row[9], row[10] = strconv.FormatInt(check.Rejections, 10), "OpenSearch"
		}
		switch {
		case c.Bound:
			row[10] = "**opensearch-benchmark**"
		case c.Disturbed:
			row[10] = "not known: Knee's loader reached fewer docs/s than opensearch-benchmark, so something slowed down one of the two loads"
		}
		t.Row(row...)
	}
	d.List(clientVerdicts(in, checks))
}

// clientVerdicts returns a text for each cell whose rate was limited by the load generator. If the load generator was the limit in
// all checked cells, it adds a text about that.
func clientVerdicts(in view.Input, checks []campaign.ClientCheck) []string {
	var out []string
	for _, c := range checks {
		if c.Bound {
			out = append(out, "**ClientBound**: cell "+view.CellName(in, c.Variant, c.Topology)+", "+format.IntText(c.Clients)+" clients: opensearch-benchmark was the limit and reached "+
				format.Fixed(c.Driver, 0)+" docs/s; Knee's loader reached "+format.Fixed(c.Loader, 0)+" docs/s")
		}
	}
	if low, high, alike := in.Assessment.ClientChecksAlike(); alike {
		out = append(out, "In every checked cell, opensearch-benchmark was the limit: Knee's loader reached more docs/s, by factors of "+format.Fixed(low, 2)+" to "+format.Fixed(high, 2)+
			". All docs/s are too low, and a ratio of docs/s compares the clients as much as OpenSearch")
	}
	return out
}

// driverCPU returns the CPU seconds that the driver's processes used for a million documents. It returns NaN if they are unknown.
func driverCPU(r record.Record) float64 {
	if r.Ingest == nil {
		return math.NaN()
	}
	return format.NonZero(r.Loader.CPUCores / format.NonZero(r.Ingest.DocsPerSecond) * 1e6)
}
