package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// loads tells of loads that fill no index what no index tells: the campaign's own metrics, and where the driver's
// figures contradict each other.
func loads(d *document, in Input) {
	if fillsIndex(in) {
		return
	}
	metrics(d, in)
	corrections(d, in)
}

// metrics has a row a cell and client count, a column a metric.
func metrics(d *document, in Input) {
	names := metricNames(in)
	if len(names) == 0 {
		return
	}
	d.section("Metrics")
	d.para("%s. What the campaign asks for beside the rate: figures of the driver, or of the system under test by its Prometheus.", wherever(in))
	var columns []column2
	of := map[string]measure{}
	for _, name := range names {
		m := metricMeasure(in, name)
		of[name] = m
		columns = append(columns, column2{title: strings.TrimSuffix(name+", "+m.unit, ", "), measure: name})
	}
	titles := []string{"cell", "clients"}
	for _, c := range columns {
		titles = append(titles, c.title)
	}
	t := d.table(append(titles, "could not be had ")...)
	for _, c := range in.Assessment.Cells {
		for _, at := range shownAt(in, c) {
			row := []string{cellName(in, c.Variant, c.Topology), integer(at.clients)}
			for _, column := range columns {
				row = append(row, brief(of[column.measure].median(at.records)))
			}
			t.row(append(row, missingMetrics(at.records))...)
		}
	}
}

// shownAt is where a cell's loads are told of: as its telemetry, else, of a campaign whose points all failed a gate,
// wherever something was seen.
func shownAt(in Input, c analysis.Cell) []at {
	if out := comparedAt(in, c); len(out) > 0 {
		return out
	}
	var out []at
	for _, p := range sweepPoints(in, c) {
		if records := sweepRecords(in, c, p.clients); len(records) > 0 {
			out = append(out, at{p.clients, records})
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
	return cut(strings.Join(out, "; "), 300)
}

// corrections are what the agent found in the driver's figures, run by run, each text once a cell and client count.
func corrections(d *document, in Input) {
	type place struct {
		cell, text string
		clients    int32
	}
	runs := map[place][]string{}
	var order []place
	for _, a := range attempts(in) {
		if a.record.Load == nil || a.record.Trial.Phase == record.Warmup {
			continue
		}
		t := a.record.Trial
		for _, note := range a.record.Load.Notes {
			p := place{cellName(in, t.Variant, t.Topology), note, t.Clients}
			if len(runs[p]) == 0 {
				order = append(order, p)
			}
			runs[p] = append(runs[p], fmt.Sprintf("%s %s", t.Phase, blockName(t)))
		}
	}
	if len(order) == 0 {
		return
	}
	d.section("Corrections")
	d.para("Where the driver's own figures contradict each other, or where one is missing.")
	t := d.table("cell", "clients", "runs ", "what ")
	const most = 200
	for _, p := range order[:min(len(order), most)] {
		t.row(p.cell, integer(p.clients), listed(runs[p], 4), p.text)
	}
	if len(order) > most {
		d.para("%d more are in results.csv.", len(order)-most)
	}
}
