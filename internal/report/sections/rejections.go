package sections

import (
	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict"
)

// rejectionsByCounter writes a row for each attempt with rejected requests: the counts of all counters. It ignores Warmups, and
// writes nothing if no attempt has rejected requests.
func rejectionsByCounter(d *document.Document, in view.Input) {
	var refusing []view.Attempt
	for _, a := range in.Attempts {
		if a.Record.Attempt.Phase != record.Warmup && a.Record.Rejections.Total() > 0 {
			refusing = append(refusing, a)
		}
	}
	if len(refusing) == 0 {
		return
	}
	d.Section("Refused requests")
	if d.Detail >= document.FewerRows {
		d.Para("This table is too large for the report. The columns rejections_* of results.csv contain the counts.")
		return
	}
	d.Para("The table shows the rejections of each counter, summed over all OpenSearch nodes. A field is empty if the statistics of an OpenSearch node do not have the counter.")
	titles := []string{"variant ", "topology ", "phase ", "clients", "repetition", "attempt"}
	for _, counter := range figures.Rejections() {
		titles = append(titles, counter.Title)
	}
	t := d.Table(append(titles, "verdict ")...)
	for _, a := range refusing {
		attempt := a.Record.Attempt
		row := []string{attempt.Variant, attempt.Topology, string(attempt.Phase), format.IntText(attempt.Clients), format.IntText(attempt.Repetition), format.IntText(attempt.N)}
		for _, counter := range figures.Rejections() {
			row = append(row, view.FigureText(counter, a.Record))
		}
		word := string(a.Judgement.Verdict)
		flag := ""
		if word != string(verdict.Measured) {
			flag = word
		}
		t.Flagged(flag, append(row, word)...)
	}
}
