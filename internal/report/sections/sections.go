// Package sections writes the content of a report. Each section has its own file.
package sections

import (
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/view"
)

// New returns the document of a campaign's report. The first section is the answer, the last one is the provenance.
func New(in view.Input, resultFiles int, detail document.Detail, plots bool) *document.Document {
	d := &document.Document{Detail: detail, Plots: plots}
	if in.Published != "" {
		d.Section("Not measured by Knee")
		d.Para("**%s**", in.Published)
	}
	answerSection(d, in)
	knees(d, in)
	finals(d, in)
	latencies(d, in)
	loadSections(d, in)
	clientChecks(d, in)
	perMachine(d, in)
	telemetry(d, in)
	sweeps(d, in)
	rejectionsByCounter(d, in)
	costs(d, in)
	failedAttempts(d, in)
	environments(d, in)
	durations(d, in)
	provenance(d, in, resultFiles)
	return d
}
