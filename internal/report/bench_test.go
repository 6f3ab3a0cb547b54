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

// The page alone, of the study and of the largest campaign.
func BenchmarkHTML(b *testing.B) {
	study := finished(analysistest.StudyCampaign(), analysistest.StudyRecord)
	largest := largest()
	b.Run("study", func(b *testing.B) {
		for b.Loop() {
			report.HTML(study)
		}
	})
	b.Run("largest", func(b *testing.B) {
		for b.Loop() {
			report.HTML(largest)
		}
	})
}

// All files of the largest campaign.
func BenchmarkLargestFiles(b *testing.B) {
	in := largest()
	for b.Loop() {
		report.Pack(report.Files(in))
	}
}
