package sections

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// loadSections writes the sections of a load that does not fill an index. They show the metrics that the campaign defines, and
// corrections of contradictory figures of the driver.
func loadSections(d *document.Document, in view.Input) {
	if view.FillsIndex(in) {
		return
	}
	metrics(d, in)
	corrections(d, in)
}

// metrics writes a row for each cell and client count, and a column for each metric.
func metrics(d *document.Document, in view.Input) {
	list := view.MetricsOf(in)
	if len(list) == 0 {
		return
	}
	d.Section("Metrics")
	d.Para("%s. These are the metrics that the campaign requests in addition to the rate. They come from the driver or from the Prometheus of the system under test.", telemetryScope(in))
	titles := []string{"cell", "clients"}
	for _, m := range list {
		titles = append(titles, strings.TrimSuffix(strings.TrimPrefix(m.Name, "metric_")+", "+m.Unit, ", "))
	}
	t := d.Table(append(titles, "not measured ")...)
	for _, c := range in.Assessment.Cells {
		for _, at := range shownAt(in, c) {
			row := []string{view.CellName(in, c.Variant, c.Topology), format.IntText(at.clients)}
			for _, m := range list {
				row = append(row, format.Significant(view.Median(m, at.records)))
			}
			t.Row(append(row, missingMetrics(at.records))...)
		}
	}
}

// shownAt returns the client counts of a cell that tables show, with their records. These are the client counts of comparedAt. If
// there are none, shownAt returns all observed points of the sweep.
func shownAt(in view.Input, c campaign.Cell) []comparedPoint {
	if out := comparedAt(in, c); len(out) > 0 {
		return out
	}
	var out []comparedPoint
	for _, p := range view.SweepPoints(in, c) {
		if records := view.SweepRecords(in, c, p.Clients); len(records) > 0 {
			out = append(out, comparedPoint{p.Clients, records})
		}
	}
	return out
}

func missingMetrics(records []*record.Record) string {
	var out []string
	for _, r := range records {
		if r.Load == nil {
			continue
		}
		for _, m := range r.Load.Metrics {
			if text := strings.TrimSuffix(m.Name+": "+m.Note, ": "); m.Value == nil && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return format.Shorten(strings.Join(out, "; "), 300)
}

// corrections writes the problems that the agent found in the driver's figures. A problem that occurs in several runs of a cell at
// a client count has one row.
func corrections(d *document.Document, in view.Input) {
	type place struct {
		cell, text string
		clients    int32
	}
	runs := map[place][]string{}
	var order []place
	for _, a := range in.Attempts {
		if a.Record.Load == nil || a.Record.Attempt.Phase == record.Warmup {
			continue
		}
		t := a.Record.Attempt.Trial
		for _, note := range a.Record.Load.Notes {
			p := place{view.CellName(in, t.Variant, t.Topology), note, t.Clients}
			if len(runs[p]) == 0 {
				order = append(order, p)
			}
			runs[p] = append(runs[p], fmt.Sprintf("%s %s", t.Phase, view.BlockName(t)))
		}
	}
	if len(order) == 0 {
		return
	}
	d.Section("Corrections")
	d.Para("In these runs, the driver's own figures contradict each other, or a figure is missing.")
	t := d.Table("cell", "clients", "runs ", "what ")
	const most = 200
	for _, p := range order[:min(len(order), most)] {
		t.Row(p.cell, format.IntText(p.clients), format.FirstItems(runs[p], 4), p.text)
	}
	if len(order) > most {
		d.Para("%d more corrections are in results.csv.", len(order)-most)
	}
}
