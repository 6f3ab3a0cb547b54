package report_test

import (
	"testing"

	"github.com/knee-bench/knee/internal/analysis/analysistest"
	"github.com/knee-bench/knee/internal/report"
)

// A reconcile that changes nothing pays for all of this.
func BenchmarkStudy(b *testing.B) {
	c := analysistest.StudyCampaign()
	records := finished(c, analysistest.StudyRecord).Records
	for b.Loop() {
		in := input(c, records)
		report.Pack(report.Files(in))
		report.Status(in)
	}
}
